import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import { become, clusterOf, messagesOf, threadOf, type } from './support/play-page.ts';
import { describePlay } from './support/real-play.ts';

const POD = 'nginx-pod-1234';
const button = (card: Locator, name: string): Locator => card.getByRole('button', { name, exact: true });

describePlay('the buttons of a run in the browser', (browser, play) => {
  it('show its log, its details and its command, and run it again in its thread', async () => {
    const page = await browser.page(play.url);
    await type(page, `/kdebug ${POD} --image=debian -- sh -c "echo first line; sleep 4; echo last line"`);
    const card = messagesOf(page).getByRole('article').filter({ hasText: POD }).last();
    await button(card, 'Show log so far').waitFor();
    await button(card, 'Run again').waitFor();
    expect(await button(card, 'Show log so far').count()).toBe(0);

    await button(card, 'Show log').click();
    const log = page.getByRole('dialog', { name: /^Log of/ });
    await log.getByText('last line').first().waitFor();
    await button(log, 'Close').last().click();
    await log.waitFor({ state: 'detached' });

    await button(card, 'Details').click();
    const details = page.getByRole('dialog', { name: /^Run / });
    for (const label of ['Pod uid', 'Node', 'Rule', 'Plan']) await details.getByText(label).first().waitFor();
    expect(await details.getByRole('button', { name: 'Submit' }).count()).toBe(0);
    await button(details, 'Close').last().click();

    await card.getByRole('button', { name: /repl(y|ies)/ }).click();
    const copies = threadOf(page).getByRole('button', { name: 'Copy command' });
    // The card above the thread has the buttons of its result.
    await expect.poll(() => copies.count()).toBe(2);
    await copies.last().click();
    await threadOf(page).getByText(`/kdebug ${POD} --image=debian -- sh -c`).last().waitFor();

    await become(page, 'Ginger');
    await button(card, 'Run again').click();
    await expect.poll(() => copies.count()).toBe(4);
  });

  it('offer the result of the same run, and run it anyway on a click', async () => {
    const page = await browser.page(play.url);
    const words = `/kdebug ${POD} --image=debian -- echo the same again`;
    await type(page, words);
    const card = messagesOf(page).getByRole('article').filter({ hasText: 'the same again' }).last();
    await button(card, 'Run again').waitFor();
    const pod = clusterOf(page).getByRole('article', { name: `Pod ${POD}` });
    const before = await pod.getByRole('button', { name: /kdebug-/ }).count();
    await type(page, words);
    const offer = messagesOf(page).getByRole('article', { name: /only visible to you/ });
    await offer.getByText(/finished .* ago, so nothing was started/).waitFor();
    expect(await pod.getByRole('button', { name: /kdebug-/ }).count()).toBe(before);
    await button(offer, 'Run anyway').click();
    await expect.poll(() => pod.getByRole('button', { name: /kdebug-/ }).count()).toBe(before + 1);
  });

  it('ask for the reason that a refused request lacked', async () => {
    const page = await browser.page(play.url);
    await become(page, 'Thurston');
    await type(page, '/kdebug neato-5x9k3 --image=debugger --profile=sysadmin -- echo attached');
    const refused = messagesOf(page).getByRole('article', { name: /only visible to you/ });
    await button(refused, 'Ask for it').click();
    const form = page.getByRole('dialog', { name: 'Ask again' });
    await form.getByRole('textbox', { name: 'Your reason' }).fill('checkout hangs');
    await button(form, 'Ask').click();
    await form.waitFor({ state: 'detached' });
    const card = messagesOf(page).getByRole('article').filter({ hasText: 'checkout hangs' }).last();
    await card.getByRole('button', { name: /^Approve (?!for )/ }).waitFor();
  });
});
