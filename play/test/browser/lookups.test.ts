import { expect, it } from 'vitest';
import { MAIN_JOB } from '../../app/examples.ts';
import { messagesOf, type } from './support/play-page.ts';
import { describePlay } from './support/real-play.ts';

describePlay('looking things up', (browser, play) => {
  it('list links to a run, logs finds a line of it, show says how it was decided', async () => {
    const page = await browser.page(play.url);
    const messages = messagesOf(page);
    const answer = (words: string) =>
      messages.getByRole('article', { name: /only visible to you/ }).filter({ hasText: words });

    await type(page, MAIN_JOB);
    await messages
      .getByRole('button', { name: /repl(y|ies)/ })
      .first()
      .waitFor();

    await type(page, '/kdebug list --mine');
    const list = answer('Latest of your runs in this channel');
    await list.waitFor();
    await list.getByRole('link', { name: /pod-1234/ }).waitFor();
    const codes = await list.locator('code').allTextContents();
    const id = codes.find((word) => /^[a-z2-7]{10}$/.test(word));
    expect(id).toMatch(/^[a-z2-7]{10}$/);

    await type(page, `/kdebug logs ${id} --grep=memory`);
    await answer('“memory”').waitFor();

    await type(page, `/kdebug show ${id}`);
    const shown = answer(`Run ${id}`);
    await shown.getByText('Allowed').first().waitFor();
    await shown.getByRole('link', { name: 'Thread' }).last().waitFor();
  });
});
