import { expect, it } from 'vitest';
import { readTyped } from '../../../../play/slack/index.ts';
import { wordsAfterMention } from '../../../../src/adapters/slack/listeners/mention.ts';
import { parseCommand } from '../../../../src/core/command/parse.ts';

const BOT = 'U0KDEBUG';
const TEAM = {
  id: 'T0LOCAL',
  name: 'local',
  users: { [BOT]: { id: BOT, name: 'kdebug' }, U0BOB: { id: 'U0BOB', name: 'bob' } },
  channels: {},
  usergroups: {},
} as never;

it.each([
  ['<@U0KDEBUG> pod-1', 'pod-1'],
  ['hey <@U0KDEBUG|kdebug> pod-1', 'pod-1'],
  ['*<@U0KDEBUG> pod-1 --image=x*', 'pod-1 --image=x'],
  ['*<@U0KDEBUG>* pod-1', 'pod-1'],
  ['_<@U0KDEBUG> `pod-1`_ ', '`pod-1`'],
  ['<@U0KDEBUG> *pod-1*', '*pod-1*'],
  ['<@U0KDEBUG>, pod-1', 'pod-1'],
  ['<@U0KDEBUG> : pod-1', 'pod-1'],
  ['<@U0KDEBUG> :wave: pod-1', ':wave: pod-1'],
  ['*note* <@U0KDEBUG> pod-1', 'pod-1'],
  ['*a <@U0KDEBUG> pod-1', 'pod-1'],
])('of %j the words are %j', (text, words) => {
  expect(wordsAfterMention(text, BOT)).toBe(words);
});

it.each(['pod-1', '', '<@U0BOB> pod-1', '<@U0KDEBUGS> pod-1'])('%j is no mention of the bot', (text) => {
  expect(wordsAfterMention(text, BOT)).toBeUndefined();
});

/** What kdebug reads of what a person types into Slack. */
function readFrom(typed: string, keyboard: 'plain' | 'smart' = 'plain'): unknown {
  const made = readTyped(typed, TEAM, { botUserId: BOT, commands: ['/kdebug'], inThread: false, keyboard });
  const words =
    made.kind === 'command' ? made.words : made.kind === 'mention' ? wordsAfterMention(made.text, BOT) : undefined;
  const parsed = parseCommand(words ?? '');
  return parsed.kind === 'ok' ? parsed.command : parsed.error;
}

const DEBIAN = readFrom(
  '/kdebug web-1 -n shop --image=docker.io/library/debian:12 --reason="ask U0BOB" -- cat /etc/hosts',
);

it.each([
  '/kdebug `web-1 -n shop --image=docker.io/library/debian:12 --reason="ask U0BOB" -- cat /etc/hosts`',
  '@kdebug ```web-1 -n shop --image=docker.io/library/debian:12 --reason="ask U0BOB" -- cat /etc/hosts```',
  '@kdebug `web-1` -n shop --image=docker.io/library/debian:12 --reason="ask @bob " -- cat /etc/hosts',
  '@kdebug shop/web-1 --image=docker.io/library/debian:12 --reason="ask @bob " -- cat /etc/hosts',
  '/kdebug kubectl debug web-1 -it -n shop --image=docker.io/library/debian:12 --reason="ask @bob " -- cat /etc/hosts',
])('%s is read the same from every composer', (typed) => {
  expect(readFrom(typed)).toEqual(DEBIAN);
  expect(readFrom(typed, 'smart')).toEqual(DEBIAN);
});

const JOB = `kind: EphemeralJob
spec:
  template:
    spec:
      ephemeralContainers:
      - name: x
        args:
        - a
        - b`;

it.each(['/kdebug apply -n shop\n', '@kdebug apply -n shop\n'])(
  '%j: YAML outside a code block survives its bullets',
  (head) => {
    expect(readFrom(head + JOB)).toEqual({ kind: 'apply', namespace: 'shop', yaml: JOB });
    expect(readFrom(`${head}\`\`\`\n${JOB}\n\`\`\``)).toEqual({ kind: 'apply', namespace: 'shop', yaml: JOB });
  },
);
