import { printCommand } from '../../core/command/print.ts';
import { shownCommandLine } from '../../core/command/shown-command.ts';
import type { Plan } from '../../core/container/plan.ts';
import { canonicalJson } from '../../core/hash.ts';
import type { Run } from '../../core/run/run.ts';
import { withDefault } from '../../lib/clock.ts';
import type { FlowDeps } from '../context/deps.ts';
import { isForRequesterAlone } from '../planning/channel-check.ts';

/** For this long, a result is worth more than a second container, which stays in the pod for its life. */
const FRESH_MS = 120_000;
/** The newest runs of the channel to look through: each offer is one of them. */
const SEARCHED_RUNS = 30;
/** The longest time that a request waits for the search. */
const SEARCH_WITHIN_MS = 1_000;

/**
 * Finds an equal run of this channel that finished in the last two minutes: same pod uid, same plan but for requester
 * and reason. Undefined: there is none, or the requester may not see it, or the search fails; then the request runs.
 */
export async function equalRun(run: Run, plan: Plan, deps: FlowDeps): Promise<Run | undefined> {
  if (run.offersEqual !== true || run.request.target.kind !== 'pod' || run.request.dryRun) return undefined;
  return withDefault(deps.clock, SEARCH_WITHIN_MS, find(run, plan, deps), () => undefined);
}

async function find({ origin }: Run, plan: Plan, deps: FlowDeps): Promise<Run | undefined> {
  const recent = await deps.store.recent(origin.channelId, SEARCHED_RUNS);
  // By the wall clock: another replica may have recorded the end.
  const nowMs = deps.clock.now();
  const wanted = sameness(plan);
  const equal = recent.find((one) => isFresh(one, nowMs) && one.plan !== undefined && sameness(one.plan) === wanted);
  if (!equal) return undefined;
  if (equal.origin.requesterId === origin.requesterId) return equal;
  // An offer would confirm a guessed secret, and only its author may repeat a run with one.
  if (hasSecret(equal, deps.policies.current().output.redact)) return undefined;
  return (await isForRequesterAlone(equal, deps)) ? undefined : equal;
}

/** Only a run that came to its own end is an answer: a person who repeats a failed start wants a start. */
const isAnswer = ({ state, outcome, batch }: Run): boolean =>
  state === 'finished' && batch === undefined && (outcome?.kind === 'succeeded' || outcome?.kind === 'failed');

/** kdebug shows the typed command without a part of it. */
export const hasSecret = ({ request, job }: Pick<Run, 'request' | 'job'>, redact: readonly string[]): boolean =>
  (job?.requests ?? [request]).some(
    (one) => shownCommandLine(one, redact) !== printCommand({ kind: 'run', request: one }),
  );

/** A typed secret is for its author alone, to see and to use. */
export const hasSecretOfAnother = (
  run: Pick<Run, 'origin' | 'request' | 'job'>,
  userId: string,
  redact: readonly string[],
): boolean => run.origin.requesterId !== userId && hasSecret(run, redact);

/** A grant is there because a person wants to repeat this very command. */
const isFresh = (run: Run, nowMs: number): boolean =>
  isAnswer(run) && !run.grant && run.grantedBy === undefined && Math.abs(nowMs - (run.finishedAtMs ?? 0)) <= FRESH_MS;

/** The plan without its requester and their reason. */
function sameness({ requesterId: _who, teamId: _team, reason: _why, observed: _seen, ...plan }: Plan): string {
  return canonicalJson(plan);
}
