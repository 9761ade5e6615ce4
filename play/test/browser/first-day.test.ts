import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { MAIN_JOB } from '../../app/examples.ts';
import { PRIVATE, WITHOUT_BOT } from '../../app/team.ts';
import { become, threadOf } from './support/play-page.ts';
import { describePlay } from './support/real-play.ts';

const railOf = (page: Page): Locator => page.getByRole('navigation', { name: 'Workspace' });
const messagesIn = (page: Page, place: string): Locator => page.getByRole('region', { name: `Messages in ${place}` });
const directOf = (page: Page): Locator => railOf(page).getByRole('button', { name: /^kdebug/ });

async function send(page: Page, place: string, words: string): Promise<void> {
  await page.getByRole('combobox', { name: `Message ${place}` }).fill(words);
  await page.keyboard.press('Enter');
}

const PRIVILEGED = '/kdebug neato-5x9k3 --image=debugger --profile=sysadmin --reason="hang" -- gdb -p 1 -batch -ex bt';

describePlay('a first day in a workspace', (browser, play) => {
  const slack = () => play.stage.bed.slack;
  const launches = () => slack().requests('chat.postMessage').length;

  it('tells who types in a channel without the bot to invite it, starts nothing, and works once it is invited', async () => {
    const page = await browser.page(play.url);
    await page.getByRole('button', { name: /A channel without kdebug/ }).click();
    await page.locator('.place-note').getByText('kdebug is not in this channel').waitFor();
    const before = launches();
    await page.keyboard.press('Enter');
    const messages = messagesIn(page, '#payments');
    const answer = messages.getByRole('article', { name: /only visible to you/ });
    await answer.getByText('/invite @kdebug').first().waitFor();
    expect(launches()).toBe(before);
    expect(slack().notified('U0JONAS')).toEqual([]);

    await send(page, '#payments', '/invite @kdebug');
    await messages.getByText('was added to #payments by Jonas.').waitFor();
    await page.locator('.place-note').waitFor({ state: 'detached' });
    // kdebug may believe for two more seconds that it is out: people try again.
    const isHeard = async () => {
      await send(page, '#payments', MAIN_JOB);
      return slack()
        .messages(WITHOUT_BOT)
        .some(({ botId, text }) => botId !== undefined && text.includes('pod-1234'));
    };
    await expect.poll(isHeard, { interval: 1_500 }).toBe(true);
    const card = messages.getByRole('article').filter({ hasText: 'pod-1234', hasNotText: 'Only visible' }).last();
    await card.getByRole('button', { name: /repl(y|ies)/ }).waitFor();
  });

  it('brings the card to an approver outside the channel, who decides there; the requester is told of the end by name', async () => {
    const page = await browser.page(play.url);
    await page.getByRole('button', { name: /More than anyone may have alone/ }).click();
    await page.getByRole('button', { name: 'You are Thurston' }).waitFor();
    await page.keyboard.press('Enter');
    await slack().until(() => slack().notified('U0CAROL')[0]);
    expect(
      slack()
        .notified('U0BOB')
        .map(({ why }) => why),
    ).toEqual(['group']);
    await page.getByRole('button', { name: /Switch person/ }).click();
    await page.getByRole('menuitemradio', { name: /Carol.*1 new notification(?!s)/ }).click();
    await directOf(page).filter({ hasText: '1 notification' }).waitFor();
    await page.getByRole('button', { name: 'Notifications 1 new' }).click();
    await page
      .getByRole('region', { name: 'Notifications' })
      .getByRole('button', { name: /Direct message/ })
      .click();

    const copy = messagesIn(page, 'kdebug').getByRole('article').filter({ hasText: 'neato-5x9k3' }).last();
    await copy.getByText('gdb -p 1 -batch -ex bt').first().waitFor();
    await copy.getByRole('link').first().click();
    const card = messagesIn(page, '#shop-oncall').getByRole('article').filter({ hasText: 'neato-5x9k3' }).last();
    await card.getByRole('button', { name: /^Approve (?!for )/ }).waitFor();
    await page.getByText('Carol is not in #shop-oncall').waitFor();
    await directOf(page).click();
    await copy.getByRole('button', { name: /^Approve (?!for )/ }).click();
    await copy.getByText('@Carol').first().waitFor();
    await copy.getByRole('button', { name: /^Approve (?!for )/ }).waitFor({ state: 'detached' });

    await slack().until(() =>
      slack()
        .notified('U0THURSTON')
        .some(({ why, threadTs }) => why === 'mention' && threadTs !== undefined),
    );
    await railOf(page).getByRole('button', { name: 'ops' }).click();
    await become(page, 'Thurston');
    await page.getByRole('button', { name: /^Notifications/ }).click();
    await page
      .getByRole('region', { name: 'Notifications' })
      .getByRole('button', { name: /in a thread.*You were named/ })
      .first()
      .click();
    await page.locator('.list-item-sought').getByText('@Thurston').first().waitFor();
  });

  it('brings the card of a private channel to every approver, and its link shows them nothing', async () => {
    const page = await browser.page(play.url);
    await become(page, 'Jonas');
    const before = ['U0BOB', 'U0ALICE', 'U0CAROL'].map((user) => slack().notified(user).length);
    await railOf(page).getByRole('button', { name: 'vault-incident' }).click();
    await send(page, '#vault-incident', PRIVILEGED);
    await slack().until(() =>
      ['U0BOB', 'U0ALICE', 'U0CAROL'].every((user, index) => slack().notified(user).length > (before[index] ?? 0)),
    );
    expect(slack().notified('U0ALICE').at(-1)?.why).toBe('direct');
    await become(page, 'Alice');
    await directOf(page).click();
    const copy = messagesIn(page, 'kdebug').getByRole('article').filter({ hasText: 'neato-5x9k3' }).last();
    await copy.getByRole('link').first().click();
    await page.getByRole('alert').getByText('in a private channel that you are not in').waitFor();
    await copy.getByRole('button', { name: /^Approve (?!for )/ }).click();
    await copy.getByText('@Alice').first().waitFor();
    await slack().until(() => slack().thread(PRIVATE, slack().messages(PRIVATE).at(-1)?.ts ?? '')[0]);
  });

  it('refuses somebody privately in the thread where they asked', async () => {
    const page = await browser.page(play.url);
    const root = slack().deliver.say({ user: 'U0BOB', channel: 'C0SHOP', text: 'who looks at this one?' });
    slack().deliver.say({ user: 'U0ROY', channel: 'C0SHOP', threadTs: root.ts, text: 'I do' });
    await become(page, 'Guest');
    const question = messagesIn(page, '#shop-oncall')
      .getByRole('article')
      .filter({ hasText: 'who looks at this one?' });
    await question.getByRole('button', { name: /repl(y|ies)/ }).click();
    await page.getByRole('combobox', { name: 'Reply…' }).fill('@kdebug pod-1234');
    await page.keyboard.press('Enter');
    await threadOf(page)
      .getByRole('article', { name: /only visible to you/ })
      .waitFor();
    expect(await messagesIn(page, '#shop-oncall').getByText('Only visible to you').count()).toBe(0);
  });
});
