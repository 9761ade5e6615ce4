import { describe, expect, it } from 'vitest';
import { asChannelId, userOfAlerts } from '../../../src/core/ids.ts';
import type { Origin } from '../../../src/core/request/origin.ts';
import type { Run } from '../../../src/core/run/run.ts';
import { namesRequester, notifiesSomebody } from '../../../src/core/say/run/notified.ts';
import { anApproval, anOrigin, aRun, START_MS } from '../../support/builders.ts';

const ended = (afterMs: number, parts: Partial<Run> = {}): Run =>
  aRun({
    state: 'finished',
    outcome: { kind: 'succeeded' },
    endedAtMs: START_MS + afterMs,
    finishedAtMs: START_MS + afterMs,
    ...parts,
  });

const found = (rank: 1 | 2 | 3) => ({ line: 'x', findings: [{ text: 'x', next: '', rank }] });

it.each<[string, Run, boolean]>([
  ['quick and fine', ended(9_000), false],
  ['just quick enough', ended(10_000), false],
  ['longer than ten seconds', ended(10_001), true],
  ['approved by somebody', ended(1_000, { approval: anApproval() }), true],
  ['failed', ended(1_000, { outcome: { kind: 'failed', exitCode: 1, reason: 'Error' } }), true],
  ['gone', ended(1_000, { outcome: { kind: 'pod-gone' } }), true],
  ['without an outcome', (({ outcome: _, ...run }) => run)(ended(1_000)), true],
  ['fine, with something wrong found', ended(1_000, { verdict: found(2) }), true],
  ['fine, with something worth knowing', ended(1_000, { verdict: found(3) }), false],
  ['fine, with nothing found', ended(1_000, { verdict: { line: 'No problems found', findings: [] } }), false],
])('a run that was %s', (_what, run, expected) => {
  expect(namesRequester(run)).toBe(expected);
});

describe('of a quick success, Slack', () => {
  const BELOW = { threadTs: '5.0' };
  it.each<[string, Partial<Origin>, boolean, boolean]>([
    ['tells nobody where a slash command was typed in a channel', {}, false, false],
    ['tells the requester in a direct message with kdebug', { channelId: asChannelId('D0ROY') }, false, true],
    ['tells everybody in a group message', { inGroupMessage: true }, false, true],
    ['tells who wrote the mention', { source: 'mention', ...BELOW }, false, true],
    ['tells who wrote the message of the shortcut', { source: 'shortcut', ...BELOW }, false, true],
    ['tells who wrote in the thread of the card it belongs to', { source: 'button', threadOf: 'key' }, false, true],
    ['tells who follows the alert', { source: 'webhook', requesterId: userOfAlerts('shop') }, false, true],
    ['tells the one who alone may read it', {}, true, true],
  ])('%s', (_what, origin, isPrivate, expected) => {
    expect(notifiesSomebody(ended(1_000, { origin: anOrigin(origin) }), { isPrivate })).toBe(expected);
  });
});
