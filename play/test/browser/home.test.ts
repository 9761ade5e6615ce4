import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { WITHOUT_BOT } from '../../app/team.ts';
import { become, threadOf, type } from './support/play-page.ts';
import { describePlay } from './support/real-play.ts';

const railOf = (page: Page): Locator => page.getByRole('navigation', { name: 'Workspace' });
const homeOf = (page: Page): Locator => page.getByRole('region', { name: 'Home' });
const messagesIn = (page: Page, place: string): Locator => page.getByRole('region', { name: `Messages in ${place}` });

async function goHome(page: Page): Promise<void> {
  await railOf(page)
    .getByRole('button', { name: /^kdebug/ })
    .click();
  await page.getByRole('button', { name: 'Home', exact: true }).click();
}

async function send(page: Page, place: string, words: string): Promise<void> {
  await page.getByRole('combobox', { name: `Message ${place}` }).fill(words);
  await page.keyboard.press('Enter');
}

describePlay('where people begin', (browser, play) => {
  const slack = () => play.stage.bed.slack;

  it('welcomes a channel that kdebug is invited to, with what people may do there', async () => {
    const page = await browser.page(play.url);
    await become(page, 'Jonas');
    await railOf(page).getByRole('button', { name: 'payments' }).click();
    await send(page, '#payments', '/invite @kdebug');
    const messages = messagesIn(page, '#payments');
    await messages.getByText('kdebug is ready').first().waitFor();
    await messages.getByText('Use more power than a pod has itself').waitFor();
    expect(slack().ephemerals('U0JONAS')).toEqual([]);
    expect(
      slack()
        .messages(WITHOUT_BOT)
        .filter(({ botId }) => botId !== undefined),
    ).toHaveLength(1);
  });

  it('shows on the Home tab what waits for an approver and leads to the card; the requester sees their run', async () => {
    const page = await browser.page(play.url);
    await become(page, 'Thurston');
    await type(page, '/kdebug neato-5x9k3 --image=debugger --profile=sysadmin --reason="hang" -- gdb -p 1 -batch');
    await messagesIn(page, '#shop-oncall')
      .getByRole('button', { name: /^Approve (?!for )/ })
      .waitFor();
    await become(page, 'Bob');
    await goHome(page);
    await homeOf(page).getByText('Waiting for your approval').waitFor();
    await homeOf(page).getByText('What your channels may do').waitFor();
    await homeOf(page).getByRole('link', { name: 'Open' }).first().click();
    const card = messagesIn(page, '#shop-oncall').getByRole('article').filter({ hasText: 'neato-5x9k3' }).last();
    await card.getByRole('button', { name: /^Reject / }).waitFor();

    await become(page, 'Thurston');
    await goHome(page);
    await homeOf(page).getByText('Your latest runs').waitFor();
    await homeOf(page)
      .getByText(/kdebug neato-5x9k3/)
      .waitFor();
    await page.getByRole('button', { name: 'Messages', exact: true }).last().click();
    await messagesIn(page, 'kdebug').waitFor();
  });

  it('asks for the channel when somebody uses the shortcut of the workspace, and runs there', async () => {
    const page = await browser.page(play.url);
    await become(page, 'Jonas');
    await railOf(page).getByRole('button', { name: 'ops' }).click();
    await page.getByRole('button', { name: 'Shortcuts' }).click();
    await page.getByRole('menuitem', { name: /^Debug a pod/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Channel').selectOption({ label: '#shop-oncall' });
    await dialog.getByRole('button', { name: 'Next' }).click();
    await dialog.getByText('The result comes in #shop-oncall').waitFor();
    const before = slack().messages('C0SHOP').length;
    const pod = dialog.getByRole('combobox', { name: /^Pod/ });
    await pod.click();
    await pod.pressSequentially('pod-1234');
    await dialog.getByRole('option', { name: /^pod-1234/ }).click();
    await dialog.getByText('Runs at once').waitFor();
    await dialog.getByRole('button', { name: 'Debug', exact: true }).click();
    await slack().until(() => slack().messages('C0SHOP').length > before);
  });

  it('tells who writes to it directly to use a channel, where the policy opens no direct messages', async () => {
    const page = await browser.page(play.url);
    await become(page, 'Roy');
    await railOf(page)
      .getByRole('button', { name: /^kdebug/ })
      .click();
    await send(page, 'kdebug', 'pod-1234');
    await messagesIn(page, 'kdebug').getByText('Use kdebug in a channel that its policy names').waitFor();
  });

  it('tells a guest on the Home tab that kdebug is not for them', async () => {
    const page = await browser.page(play.url);
    await become(page, 'Guest');
    await goHome(page);
    await homeOf(page).getByText('person_is_guest').waitFor();
    expect(await threadOf(page).count()).toBe(0);
  });
});
