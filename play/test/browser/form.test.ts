import { expect, it } from 'vitest';
import { become, messagesOf, type } from './support/play-page.ts';
import { describePlay } from './support/real-play.ts';

describePlay('the form', (browser, play) => {
  const slack = () => play.stage.bed.slack;

  it('opens at once, finds a pod as one types, says what would happen, and runs it', async () => {
    const page = await browser.page(play.url);
    await become(page, 'Jonas');
    await type(page, '/kdebug');
    const form = page.getByRole('dialog');
    await form.getByText('Pick a pod').waitFor();
    const pod = form.getByRole('combobox', { name: /^Pod/ });
    await pod.click();
    await pod.pressSequentially('neato 5x9');
    const found = form.getByRole('listbox', { name: 'Results' }).getByRole('option');
    await expect.poll(() => found.allInnerTexts()).toEqual([expect.stringContaining('neato-5x9k3')]);
    await page.keyboard.press('Enter');
    await form.getByText('Runs at once').waitFor();
    await form.getByText('autodiagnose on shop/neato-5x9k3').waitFor();
    await form.getByRole('button', { name: 'Debug', exact: true }).click();
    await form.waitFor({ state: 'detached' });
    await messagesOf(page).getByRole('article').filter({ hasText: 'neato-5x9k3' }).last().waitFor();
  });

  it('takes what is typed though nothing lists it, says that it needs a reason and an approval, and keeps what was typed', async () => {
    const page = await browser.page(play.url);
    await become(page, 'Roy');
    await type(page, '/kdebug');
    const form = page.getByRole('dialog');
    await form.getByText('Pick a pod').waitFor();
    const pod = form.getByRole('combobox', { name: /^Pod/ });
    await pod.click();
    await pod.pressSequentially('no-such-pod-1');
    await form.getByRole('option', { name: 'Use “no-such-pod-1”' }).click();
    await form.getByText('Would be refused').waitFor();
    await pod.click();
    await pod.pressSequentially('pod-1234');
    await form.getByRole('option', { name: /^pod-1234/ }).click();
    await form.getByText('Runs at once').waitFor();
    await form.getByLabel(/^Image/).selectOption('debugger');
    await form.getByRole('textbox', { name: /^Command/ }).fill('id');
    await form.getByLabel(/^Profile/).selectOption('sysadmin');
    await form.getByText('Write a reason').waitFor();
    await form.getByRole('textbox', { name: /^Reason/ }).fill('it hangs');
    await form.getByLabel(/^Profile/).selectOption('sysadmin');
    expect(await form.getByRole('textbox', { name: /^Command/ }).inputValue()).toBe('id');
    await form.getByRole('button', { name: 'Debug', exact: true }).click();
    await form.waitFor({ state: 'detached' });
    await slack().until(() =>
      slack()
        .messages('C0SHOP')
        .some(({ text }) => text.includes('pod-1234')),
    );
  });

  it('opened by a message shows the pod that it names, chosen already', async () => {
    const { ts } = slack().deliver.say({ user: 'U0ROY', channel: 'C0SHOP', text: 'Pod shop/pod-1234 is restarting' });
    const page = await browser.page(play.url);
    await become(page, 'Jonas');
    await slack().deliver.shortcut({ user: 'U0JONAS', channel: 'C0SHOP', ts, callbackId: 'debug-pod' });
    const form = page.getByRole('dialog');
    await form.getByText('Runs at once').waitFor();
    expect(await form.getByRole('combobox', { name: /^Pod/ }).inputValue()).toBe('pod-1234');
    expect(await form.getByRole('combobox', { name: /^Namespace/ }).inputValue()).toBe('shop');
  });
});
