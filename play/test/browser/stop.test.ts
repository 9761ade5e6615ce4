import { expect, it } from 'vitest';
import { become, messagesOf, threadOf, type } from './support/play-page.ts';
import { describePlay } from './support/real-play.ts';

describePlay('a run that somebody stops in the browser', (browser, play) => {
  it('ends with the button on its card, and its thread says who stopped it', async () => {
    const page = await browser.page(play.url);
    await become(page, 'Ginger');
    await type(page, '/kdebug neato-5thn0 -n shop --image=debian -- sleep 600');
    const card = messagesOf(page).getByRole('article').filter({ hasText: 'sleep 600' }).last();
    await card.getByText('Running').first().waitFor();

    await card.getByRole('button', { name: 'Stop', exact: true }).click();
    const question = page.getByRole('alertdialog');
    expect(await question.textContent()).toContain('Its processes get a signal to end.');
    await question.getByRole('button', { name: 'Stop it' }).click();

    await card.getByText('Stopped').first().waitFor();
    expect(await card.getByRole('button', { name: 'Stop', exact: true }).count()).toBe(0);
    await card.getByRole('button', { name: /repl(y|ies)/ }).click();
    await threadOf(page).getByText('stopped it').first().waitFor();
  });
});
