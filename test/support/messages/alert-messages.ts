import { type AlertCard, newNodeCard, stormCard } from '../../../src/core/alert/card.ts';
import type { Verdict } from '../../../src/core/diagnosis/facts/verdict.ts';
import { asRunId, asUserId } from '../../../src/core/ids.ts';
import type { Run } from '../../../src/core/run/run.ts';
import { resolvedMessage } from '../../../src/core/say/run/alert-messages.ts';
import { anchorMessage } from '../../../src/core/say/run/run-messages.ts';
import { refusal } from '../../../src/flow/context/refusals.ts';
import { NO_REQUEST } from '../../../src/flow/run/unattended.ts';
import { defined } from '../../../src/lib/object.ts';
import { anAlertCard, anApproval, anOrigin, aPlan, aRun, START_MS } from '../builders.ts';
import type { Example, MessageKind } from './kinds.ts';

const NOW = { nowMs: START_MS + 660_000, approvers: {} };
const CRASH = {
  line: 'web exited with code 3, 2 s ago, restarted 4 times: “fatal: cannot open /etc/app.conf”',
  findings: [
    { code: 'crash_loop', text: 'web exited with code 3', next: 'Correct what it complains of.', rank: 1 as const },
  ],
  readAtMs: START_MS,
};
const HEALTHY_SO_FAR: Verdict = {
  line: 'Healthy: ready, never restarted; no look inside yet',
  findings: [],
  fine: 'ready, never restarted',
  healthy: true,
  readAtMs: START_MS,
};
const LINKS = {
  runbook: 'https://runbooks.example.com/crash',
  dashboard: 'https://grafana.example.com/d/abc',
  silence: 'https://grafana.example.com/alerting/silence/new',
};

const run = (alert: Partial<AlertCard>, parts: Partial<Run> = {}): Run =>
  aRun({
    origin: anOrigin({ source: 'webhook', requesterId: asUserId('alert:shop') }),
    alert: anAlertCard(alert),
    plan: aPlan({ requesterId: 'alert:shop' }),
    ...parts,
  });
const answered = (alert: Partial<AlertCard>): Run =>
  run(alert, { state: 'finished', outcome: { kind: 'answered' }, verdict: CRASH, finishedAtMs: START_MS + 400 });
const denied = (code: string, message: string, alert: Partial<AlertCard> = {}): Run => {
  const refusal = { code, message, hint: 'The card before this one has the answer.' };
  const { plan: _, ...rest } = run(
    { problem: { code: 'alert_cooldown', subject: '' }, ...alert },
    { state: 'denied', refusal },
  );
  return rest;
};
const shared = (alert: AlertCard): Run => ({
  ...denied('', ''),
  ...defined({ alert, refusal: alert.problem && refusal(alert.problem.code, alert.problem.subject) }),
  ...{ request: NO_REQUEST, commandLine: '' },
});
const storm = (count: number): AlertCard =>
  Array.from({ length: count }, (_, index) => asRunId(`run${index}`)).reduce<AlertCard | undefined>(
    (known, id, index) =>
      stormCard({ source: 'shop', channel: '#shop-oncall', id, atMs: START_MS + index * 1_000 }, known),
    undefined,
  )!;
const card = (name: string, of: Run): Example => ({ name, message: anchorMessage(of, NOW) });

/** What an alert brings into a channel by itself. */
export const ALERT_MESSAGES: readonly MessageKind[] = [
  {
    file: 'cards/alerts',
    examples: [
      card('the API knows', answered({ links: LINKS })),
      card('looking inside', run({}, { state: 'running', startedAtMs: START_MS + 658_000 })),
      card(
        'looking inside, nothing wrong so far',
        run({}, { state: 'running', startedAtMs: START_MS + 658_000, verdict: HEALTHY_SO_FAR }),
      ),
      card(
        'looking inside, the API knows already',
        run({}, { state: 'running', startedAtMs: START_MS + 658_000, verdict: CRASH }),
      ),
      card('resolved', answered({ resolvedAtMs: START_MS + 600_000, firing: 0 })),
      card('fires again, for several pods', answered({ times: 3, firing: 12, skipped: 10 })),
      card('no look', denied('alert_cooldown', 'this workload was looked at for the same alert a short while ago')),
      card(
        'no pod',
        denied('alert_names_no_pod', 'the labels of this alert name no pod and no workload', { subject: '' }),
      ),
      card('one more than kdebug looks at', shared(storm(1))),
      card('many at once', shared(storm(12))),
      card(
        'a node that is out of order',
        shared(newNodeCard({ source: 'shop', node: 'node-a', how: 'no longer answers', atMs: START_MS })),
      ),
      card('asks for an approval', run({}, { state: 'pending-approval', approval: anApproval() })),
      card(
        'foreign words',
        answered({
          name: '<!channel> *bold*',
          summary: 'Look at <https://evil.example|this> & <@U0ROY> `x`',
          links: { runbook: 'https://user:pw@evil.example/', dashboard: 'https://evil.example/|><!channel>' },
        }),
      ),
      {
        name: 'the reply when it is resolved',
        message: resolvedMessage(answered({ resolvedAtMs: START_MS + 600_000 })),
      },
      {
        name: 'the reply when it is resolved, after a long cause',
        message: resolvedMessage({
          ...answered({ resolvedAtMs: START_MS + 600_000 }),
          verdict: { line: `web waits for ${'db '.repeat(50)}`, findings: [] },
        }),
      },
    ],
  },
];
