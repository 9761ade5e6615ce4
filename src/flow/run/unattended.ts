import type { Plan } from '../../core/container/plan.ts';
import { KdebugError } from '../../core/errors.ts';
import { alertSourceOf } from '../../core/ids.ts';
import { reasonOfUnattended } from '../../core/planning/unattended.ts';
import type { Decision, Policy } from '../../core/policy/policy.ts';
import type { Refusal } from '../../core/request/origin.ts';
import { isUnattended } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import { sleep } from '../../lib/clock.ts';
import { own } from '../../lib/object.ts';
import type { FlowDeps } from '../context/deps.ts';
import { readRunByKey } from '../context/find-run.ts';
import type { HeldRun } from '../context/held-run.ts';
import { refusal } from '../context/refusals.ts';

/** Why the alert that started this run is only shown, by what was known when it came. */
export const problemOfAlert = ({ alert }: Run): Refusal | undefined =>
  alert?.problem && refusal(alert.problem.code, alert.problem.subject);

/** What the policy says of every run it says of this one too; this is what it says beyond that of one that nobody asked for. */
export function problemOfUnattended(
  run: Run,
  planned: { readonly plan: Plan; readonly decision: Decision },
  { alerts = {} }: Policy,
): Refusal | undefined {
  if (!isUnattended(run)) return undefined;
  const code = reasonOfUnattended(planned, own(alerts, alertSourceOf(run.origin.requesterId) ?? ''));
  return code && refusal(code, undefined, planned.decision.rule);
}

/** Slack takes one post a second in a channel, and fifty alerts may come at once. */
const CARD_WITHIN_MS = 90_000;
const LOOK_EVERY_MS = 500;

/** Whether the run must wait for the message of the card in whose thread it answers. */
export const awaitsCard = ({ origin }: Run): boolean => origin.threadOf !== undefined && origin.threadTs === undefined;

/**
 * Finds the thread of the card. One look; the stage is entered again. Without a card in time, or if Slack took none, the run stands alone in the
 * channel. @throws as `HeldRun.apply`, and KdebugError store_unreachable
 */
export async function joinCard(held: HeldRun, { store, clock }: Pick<FlowDeps, 'store' | 'clock'>): Promise<void> {
  const { threadOf = '', receivedAtMs } = held.run.origin;
  const { anchor, anchorGone } = (await readRunByKey(threadOf, { store }))?.delivery ?? {};
  const isTooLate = clock.now() - receivedAtMs > CARD_WITHIN_MS;
  if (anchor || anchorGone || isTooLate) await held.apply({ kind: 'threaded', threadTs: anchor?.ts ?? '' });
  else if (held.isOver) throw new KdebugError('lease_lost');
  else await sleep(clock, LOOK_EVERY_MS);
}
