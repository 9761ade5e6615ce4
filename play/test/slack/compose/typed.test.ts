import { describe, expect, it } from 'vitest';
import { readTyped } from '../../../slack/index.ts';
import { defaultTeam } from '../../../slack/state/team.ts';

const BOT = 'U0KDEBUG';
const read = (text: string, inThread = false) =>
  readTyped(text, defaultTeam(BOT), { botUserId: BOT, commands: ['/kdebug'], inThread });

describe('what Slack makes of a text', () => {
  it.each([
    ['/kdebug', ''],
    ['/kdebug   pod-1234  --image=debian ', 'pod-1234  --image=debian'],
    ['/kdebug apply\napiVersion: v1\nkind: X', 'apply\napiVersion: v1\nkind: X'],
    ['/kdebug x -- echo "a<b" && y', 'x -- echo "a&lt;b" &amp;&amp; y'],
    ['/kdebug can-i @bob in #ops', 'can-i <@U0BOB|bob> in <#C0OPS|ops>'],
    ['/kdebug x --image=web@sha256:abc', 'x --image=web@sha256:abc'],
  ])('a command: %j', (text, words) => {
    expect(read(text)).toEqual({ kind: 'command', name: '/kdebug', words });
  });

  it.each([
    ['@kdebug pod-1234', '<@U0KDEBUG> pod-1234'],
    ['please, @Kdebug list', 'please, <@U0KDEBUG> list'],
  ])('a mention, wherever it stands: %j', (text, said) => {
    expect(read(text, true)).toEqual({ kind: 'mention', text: said });
  });

  it('no mention that somebody spells out', () => {
    expect(read('<@U0KDEBUG> list')).toEqual({ kind: 'words', text: '&lt;@U0KDEBUG&gt; list' });
    expect(read('mail@kdebug')).toMatchObject({ kind: 'words' });
  });

  it('an invitation, to the person or app that is named', () => {
    expect(read('/invite @KDebug ')).toEqual({ kind: 'invite', invited: BOT });
    expect(read('/invite @kdebug', true)).toMatchObject({
      kind: 'refused',
      why: expect.stringContaining('in threads'),
    });
    expect(read('/invite @kdebug @bob')).toMatchObject({ kind: 'refused' });
  });

  it.each(['/kdebugger x', '/', '/etc/passwd'])('no command that the app has not: %s', (text) => {
    expect(read(text)).toMatchObject({ kind: 'refused', why: expect.stringContaining('not a valid command') });
  });
});
