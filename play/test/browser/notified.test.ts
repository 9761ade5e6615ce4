import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Snapshot } from '../../page/contract.ts';
import type { Notification } from '../../slack/state/message.ts';
import type { SlackChannel } from '../../slack/state/team.ts';
import { describeInBrowser } from './support/browser.ts';
import { PageFixture } from './support/page-fixture.ts';
import { become } from './support/play-page.ts';
import { BOT, emptyWorld, fromBot, message, NOON, richText, SHOP } from './support/worlds.ts';

const DIRECT: SlackChannel = {
  id: 'D0ROY',
  name: 'U0ROY',
  kind: 'im',
  is_archived: false,
  is_ext_shared: false,
  members: ['U0ROY', BOT],
  user: 'U0ROY',
};

const ROOT = message(1, { text: 'the root' });

/** Roy in #shop-oncall, with a direct message of the bot that is empty yet. */
function world(more: Partial<Snapshot> = {}): Snapshot {
  const empty = emptyWorld({ messages: [ROOT], ...more });
  return { ...empty, team: { ...empty.team, channels: { ...empty.team.channels, D0ROY: DIRECT } } };
}

const notified = (second: number, more: Partial<Notification> = {}): Notification => ({
  user: 'U0ROY',
  channel: SHOP,
  ts: `${NOON + second}.000100`,
  why: 'mention',
  phone: `pushed at ${second}`,
  desktop: `pushed at ${second}`,
  ...more,
});

describeInBrowser('who is notified', (browser) => {
  const fixture = new PageFixture(emptyWorld());
  beforeAll(() => fixture.start());
  afterAll(async () => {
    await fixture.stop();
    expect(browser.complaints).toEqual([]);
  });

  /** Says a message and notifies of it, as the local Slack does. */
  function push(second: number, more: Partial<Notification> = {}): void {
    const { channel, ts, threadTs, phone: text } = notified(second, more);
    const thread = threadTs === undefined ? {} : { threadTs };
    fixture.tell(
      { kind: 'message', message: { ...message(second, { user: BOT, botId: 'B1' }), channel, ts, text, ...thread } },
      { kind: 'notified', notification: notified(second, more) },
    );
  }

  it('puts red numbers on channels and direct messages, and only for who was notified', async () => {
    fixture.reset(world());
    const page = await browser.page(fixture.url);
    const rail = page.getByRole('navigation', { name: 'Workspace' });
    push(10, { channel: 'C0OPS' });
    push(11, { channel: 'D0ROY', why: 'direct' });
    push(12, { channel: 'D0ROY', why: 'direct' });
    fixture.tell({ kind: 'message', message: message(13, { channel: 'C0OPS' }) });
    await rail.getByRole('button', { name: 'ops 2 unread 1 notification' }).waitFor();
    await rail.getByRole('button', { name: /kdebug.*2 notifications/ }).waitFor();
    await rail.getByRole('button', { name: 'Notifications 3 new' }).waitFor();
    await become(page, 'Bob');
    await rail.getByRole('button', { name: 'ops 1 unread', exact: true }).waitFor();
    await rail.getByRole('button', { name: 'Notifications', exact: true }).waitFor();
    await page.getByRole('button', { name: /Switch person/ }).click();
    await page.getByRole('menuitemradio', { name: /Roy.*3 new notifications/ }).click();
    await rail.getByRole('button', { name: /^ops/ }).click();
    await rail.getByRole('button', { name: 'Notifications 2 new' }).waitFor();
  });

  it('lists who, where, why and the words, newest first, and leads to the message', async () => {
    const said = [notified(20), notified(21, { why: 'group', desktop: 'to the group', phone: '' })];
    const replies = Array.from({ length: 30 }, (_, index) => message(100 + index, { threadTs: ROOT.ts }));
    fixture.reset(world({ messages: [ROOT, message(20), message(21), ...replies], notified: said }));
    const page = await browser.page(fixture.url);
    push(203, { threadTs: ROOT.ts, why: 'thread', phone: 'in the thread' });
    push(300, { channel: 'D0ROY', why: 'direct', phone: 'between us' });
    await page.getByRole('button', { name: 'Notifications 2 new' }).click();
    const list = page.getByRole('region', { name: 'Notifications' });
    await expect
      .poll(() => list.getByRole('button').allTextContents())
      .toEqual([
        expect.stringMatching(/kdebug.*with you alone.*Direct message.*between us.*new/),
        expect.stringMatching(/kdebug.*#shop-oncall, in a thread.*In a thread you follow.*in the thread.*new/),
        expect.stringMatching(
          /Bob.*#shop-oncall.*Your group was named.*Desktop.*to the group.*Phone.*can’t be displayed/,
        ),
        expect.stringMatching(/Bob.*#shop-oncall.*You were named.*pushed at 20/),
      ]);
    await list.getByRole('button', { name: /in the thread/ }).click();
    const thread = page.getByRole('complementary', { name: 'Thread' });
    const sought = thread.locator('.list-item-sought');
    await sought.getByText('in the thread').waitFor();
    expect(await page.getByRole('main', { name: '#shop-oncall' }).isVisible()).toBe(true);
    await page.getByRole('button', { name: 'Notifications 1 new' }).waitFor();
    await page.getByRole('button', { name: /kdebug.*1 notification/ }).click();
    await page.getByRole('region', { name: 'Messages in kdebug' }).getByText('between us').waitFor();
    expect(await page.locator('.list-item-sought').count()).toBe(0);
  });

  it('counts nothing as seen that a narrow window does not show', async () => {
    fixture.reset(world());
    const page = await browser.page(fixture.url, { viewport: { width: 390, height: 844 } });
    await page.getByRole('button', { name: 'Channels' }).click();
    push(10);
    await page.getByRole('button', { name: 'Channels new notifications' }).waitFor();
    await page.getByRole('button', { name: /^shop-oncall.*1 notification/ }).click();
    await page.getByRole('button', { name: 'Channels', exact: true }).waitFor();
  });

  it('says where the bot is not, and fills in what lets it in', async () => {
    fixture.reset(world());
    const page = await browser.page(fixture.url);
    await page.getByRole('button', { name: 'other', exact: true }).click();
    await page.getByText('kdebug is not in this channel').waitFor();
    await page.getByRole('button', { name: '/invite @kdebug' }).click();
    const composer = page.getByRole('combobox', { name: 'Message #other' });
    expect(await composer.inputValue()).toBe('/invite @kdebug');
    await composer.press('Enter');
    await expect.poll(() => fixture.deeds.at(-1)).toMatchObject({ kind: 'type', text: '/invite @kdebug' });
    const { team } = fixture.snapshot;
    const { C0OTHER: other } = team.channels;
    if (other === undefined) throw new Error('no #other');
    const invited = { ...other, members: [...other.members, BOT] };
    fixture.tell({ kind: 'team', team: { ...team, channels: { ...team.channels, C0OTHER: invited } } });
    await page.getByText('kdebug is not in this channel').waitFor({ state: 'detached' });
  });

  it('follows the link of a message to it, unless it is in a private channel of others', async () => {
    const linkTo = (channel: string, text: string) => ({
      type: 'link',
      url: `https://local.slack.com/archives/${channel}/p${NOON + 20}000100`,
      text,
    });
    const direct = fromBot(30, [richText(linkTo(SHOP, 'the card'), linkTo('C0SECRET', 'the secret'))], {
      channel: 'D0ROY',
    });
    const card = message(20, { text: 'here it is' });
    fixture.reset(world({ messages: [ROOT, card, direct] }));
    const page = await browser.page(fixture.url);
    await page
      .getByRole('navigation', { name: 'Workspace' })
      .getByRole('button', { name: /kdebug/ })
      .click();
    await page.getByRole('link', { name: 'the secret' }).click();
    await page.getByRole('alert').getByText('in a private channel that you are not in').waitFor();
    await page.getByRole('link', { name: 'the card' }).click();
    await page.locator('.list-item-sought').getByText('here it is').waitFor();
  });

  it('shows a private answer of a thread in that thread, and not in the channel', async () => {
    fixture.reset(world({ messages: [ROOT, message(2, { threadTs: ROOT.ts })] }));
    const page = await browser.page(fixture.url);
    const own = fromBot(5, [richText({ type: 'text', text: 'not yours to approve' })], {
      threadTs: ROOT.ts,
      visibleTo: 'U0ROY',
    });
    await page.getByRole('button', { name: /1 reply/ }).click();
    fixture.tell({ kind: 'ephemeral', message: own });
    const thread = page.getByRole('complementary', { name: 'Thread' });
    await thread.getByText('not yours to approve').waitFor();
    await thread.getByText('Only visible to you').waitFor();
    expect(await page.getByRole('main').getByText('not yours to approve').count()).toBe(0);
    await become(page, 'Bob');
    expect(await page.getByText('not yours to approve').count()).toBe(0);
  });
});
