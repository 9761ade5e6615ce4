import type { Plan } from '../../core/container/plan.ts';
import { KdebugError } from '../../core/errors.ts';
import { alertSourceOf, type ChannelId, userOfAlerts } from '../../core/ids.ts';
import { reasonOfUnattended } from '../../core/planning/unattended.ts';
import type { Decision, Policy } from '../../core/policy/policy.ts';
import type { RunRequest } from '../../core/request/command.ts';
import type { Origin, Refusal } from '../../core/request/origin.ts';
import { isUnattended } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import { sleep } from '../../lib/clock.ts';
import { defined, own } from '../../lib/object.ts';
import { newRun } from '../context/accept.ts';
import type { FlowDeps } from '../context/deps.ts';
import { readRunByKey } from '../context/find-run.ts';
import type { HeldRun } from '../context/held-run.ts';
import { refusal } from '../context/refusals.ts';

/** Why the alert that started this run is only shown, by what was known when it came. */
export function problemOfAlert({ alert }: Run): Refusal | undefined {
  // In the thread of its node's card nothing else matters.
  if (alert?.joined?.to === 'node') return refusal('alert_of_dead_node', alert.joined.name);
  return alert?.problem && refusal(alert.problem.code, alert.problem.subject);
}

/** The problem that the policy has with a run only because nobody asked for it. Its other rules are checked as for every run. */
export function problemOfUnattended(
  run: Run,
  planned: { readonly plan: Plan; readonly decision: Decision },
  { alerts = {} }: Policy,
): Refusal | undefined {
  if (!isUnattended(run)) return undefined;
  const code = reasonOfUnattended(planned, own(alerts, alertSourceOf(run.origin.requesterId) ?? ''));
  return code && refusal(code, undefined, planned.decision.rule);
}

/** Of a card that only shows its alert: nothing is ever launched for it. */
export const NO_REQUEST: RunRequest = {
  target: { kind: 'all' },
  env: [],
  profile: 'auto',
  command: [],
  argumentsOnly: false,
  dryRun: false,
  batch: { canary: false },
};

/** A run of a source of alerts, which has no person and no message of its own. */
export function runOfSource<Fields extends Partial<Run>>(
  { source, channelId, dedupeKey, threadOf, request, ...extra }: SourceRun & Fields,
  deps: Pick<FlowDeps, 'clock' | 'ids' | 'policies'>,
) {
  const origin: Origin = {
    source: 'webhook',
    dedupeKey,
    teamId: '',
    channelId,
    requesterId: userOfAlerts(source),
    receivedAtMs: deps.clock.now(),
    ...defined({ threadOf }),
  };
  return {
    ...newRun(origin, request, deps),
    // Copied from a card, the command of no request would be one for every pod.
    ...defined({ commandLine: request === NO_REQUEST ? '' : undefined }),
    ...extra,
  };
}

export interface SourceRun {
  /** The policy's name of the source. */
  readonly source: string;
  readonly channelId: ChannelId;
  readonly dedupeKey: string;
  readonly threadOf?: string;
  readonly request: RunRequest;
}

/** Slack takes one post a second in a channel, and fifty alerts may come at once. */
const CARD_WITHIN_MS = 90_000;
const LOOK_EVERY_MS = 500;

/** True if the run must wait for the message of the card in whose thread it answers. */
export const awaitsCard = ({ origin }: Run): boolean => origin.threadOf !== undefined && origin.threadTs === undefined;

/**
 * Finds the thread of the card. One look; the stage is entered again. Without a card in time, or if Slack took none, the run stands alone in the
 * channel. @throws as `HeldRun.apply`, and KdebugError store_unreachable
 */
export async function joinCard(held: HeldRun, { store, clock }: Pick<FlowDeps, 'store' | 'clock'>): Promise<void> {
  const { threadOf = '', receivedAtMs } = held.run.origin;
  const card = await readRunByKey(threadOf, { store });
  const { anchor, anchorGone } = card?.delivery ?? {};
  const isTooLate = clock.now() - receivedAtMs > CARD_WITHIN_MS;
  // A card may itself be in a thread, and Slack has no threads within threads.
  const threadTs = anchor && (card?.origin.threadTs ?? anchor.ts);
  if (anchor || anchorGone || isTooLate) await held.apply({ kind: 'threaded', threadTs: threadTs ?? '' });
  else if (held.isOver) throw new KdebugError('lease_lost');
  else await sleep(clock, LOOK_EVERY_MS);
}
