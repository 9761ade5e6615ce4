import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalSlack, readTyped, startLocalSlack } from '../../slack/index.ts';
import { defaultTeam } from '../../slack/state/team.ts';
import { plainClient } from './bolt-app.ts';

const BOT = 'U0KDEBUG';
const typed = (text: string, keyboard: 'plain' | 'smart' = 'plain') =>
  readTyped(text, defaultTeam(BOT), { botUserId: BOT, commands: ['/kdebug'], inThread: false, keyboard });
const command = (text: string) => {
  const read = typed(`/kdebug ${text}`);
  return read.kind === 'command' ? read.words : read;
};

describe('what the composer makes of', () => {
  it.each([
    ['docker.io/library/busybox:1.36', '<http://docker.io/library/busybox:1.36|docker.io/library/busybox:1.36>'],
    ['--image=ghcr.io/x/y', '--image=<http://ghcr.io/x/y|ghcr.io/x/y>'],
    ['see https://a.b/c?d=1&e.', 'see <https://a.b/c?d=1&amp;e>.'],
    ['ask bob@example.com', 'ask <mailto:bob@example.com|bob@example.com>'],
    ['pod-1.yaml and 10.0.0.1', 'pod-1.yaml and 10.0.0.1'],
    ['`curl example.com`', '`curl example.com`'],
  ])('an address: %s', (text, expected) => {
    expect(command(text)).toBe(expected);
  });

  it('lists: bullets, deeper ones indented by four spaces; not in a fence', () => {
    expect(command('apply\nargs:\n- sh\n  - -c')).toBe('apply\nargs:\n• sh\n    ◦ -c');
    expect(command('apply\n```args:\n- sh```')).toBe('apply\n```args:\n- sh```');
  });

  it('dashes and quotes on a Mac or a phone; not in code', () => {
    expect(typed(`/kdebug pod --reason="it's" \`--raw "x"\``, 'smart')).toEqual({
      kind: 'command',
      name: '/kdebug',
      words: 'pod —reason=“it’s” `--raw "x"`',
    });
  });

  it('the name of a private channel: a channel to its members only', () => {
    const place = { botUserId: BOT, commands: ['/kdebug'], inThread: false };
    const said = (user: string) => readTyped('see #secret and #ops', defaultTeam(BOT), { ...place, user });
    expect(said('U0BOB')).toMatchObject({ text: 'see <#C0SECRET> and <#C0OPS>' });
    expect(said('U0ROY')).toMatchObject({ text: 'see #secret and <#C0OPS>' });
  });

  it('an invitation', () => {
    expect(typed('/invite @kdebug')).toEqual({ kind: 'invite', invited: BOT });
    expect(typed('/invite @nobody')).toMatchObject({ kind: 'refused' });
  });
});

describe('a mention, as the app hears of it', () => {
  let slack: LocalSlack;
  beforeEach(async () => {
    slack = await startLocalSlack();
  });
  afterEach(() => slack.stop());

  it('has its rich text, the client’s id and the person’s team; the message in the history has the same', async () => {
    const text = '<@U0KDEBUG> `pod-1` *now* <http://a.io|a.io>\n• one\n```x &lt; y```';
    const { parcel } = await slack.deliver.mention({ user: 'U0ROY', channel: 'C0SHOP', text });
    const event = parcel.payload.event as Record<string, unknown>;
    expect(event).toMatchObject({
      text,
      user_team: slack.teamId,
      client_msg_id: expect.stringMatching(/^[0-9a-f]{8}-/),
      blocks: [
        {
          type: 'rich_text',
          elements: [
            {
              type: 'rich_text_section',
              elements: [
                { type: 'user', user_id: 'U0KDEBUG' },
                { text: ' ' },
                { text: 'pod-1', style: { code: true } },
                { text: ' ' },
                { text: 'now', style: { bold: true } },
                { text: ' ' },
                { type: 'link', url: 'http://a.io', text: 'a.io' },
              ],
            },
            { type: 'rich_text_list', indent: 0, elements: [{ elements: [{ text: 'one' }] }] },
            { type: 'rich_text_preformatted', elements: [{ text: 'x < y' }] },
          ],
        },
      ],
    });
    const { messages } = await plainClient(slack).conversations.history({ channel: 'C0SHOP' });
    expect(messages?.[0]).toMatchObject({ client_msg_id: event.client_msg_id, blocks: event.blocks });
  });
});
