import { printCommand } from '../../core/command/print.ts';
import { shownCommandLine } from '../../core/command/shown-command.ts';
import type { Plan } from '../../core/container/plan.ts';
import { canonicalJson } from '../../core/hash.ts';
import type { RunRequest } from '../../core/request/command.ts';
import type { Origin } from '../../core/request/origin.ts';
import type { Run } from '../../core/run/run.ts';
import { sameAgainMessage } from '../../core/say/answers/click-messages.ts';
import type { Message } from '../../core/say/message/message.ts';
import { defined } from '../../lib/object.ts';
import type { FlowDeps } from '../context/deps.ts';
import { isForRequesterAlone } from '../planning/channel-check.ts';
import { type Glance, withGlance } from '../planning/plan-pod.ts';
import { planOrRefusal } from '../run/plan.ts';
import { LOOK_MS } from './again.ts';

/** How long a result is worth more than a second container, which stays in the pod for its life. */
const FRESH_MS = 120_000;
/** The newest runs of the channel to look through. */
const LOOKED_AT = 10;

/**
 * Offers the result of an identical run of this channel that finished in the last two minutes: same pod uid, same plan but for requester and
 * reason. Undefined: there is none, or it cannot be compared in time, or the requester may not see it; then the request runs. Starts and
 * stores nothing. `mayLook` bounds how often a person has kdebug compare plans.
 */
export async function sameAgain(
  origin: Origin,
  request: RunRequest,
  { deps, mayLook }: { readonly deps: FlowDeps; readonly mayLook: () => boolean },
): Promise<Message | undefined> {
  if (request.target.kind !== 'pod' || request.dryRun) return undefined;
  const recent = await deps.store.recent(origin.channelId, LOOKED_AT);
  // Slack delivers the same command again.
  if (recent.some((run) => run.origin.dedupeKey === origin.dedupeKey)) return undefined;
  const nowMs = deps.clock.now();
  const { name } = request.target;
  const candidates = recent.filter((run) => isFresh(run, nowMs) && run.plan?.podName === name);
  if (candidates.length === 0 || !mayLook()) return undefined;
  const offer = (glance: Glance) => offerOf(candidates, { origin, request, deps, glance }).catch(() => undefined);
  return withGlance(deps.clock, LOOK_MS, offer, () => undefined);
}

/** Only what ran to its own end is an answer: whoever repeats a failed start wants a start. */
export const isAnswer = ({ state, outcome, batch }: Run): boolean =>
  state === 'finished' && batch === undefined && (outcome?.kind === 'succeeded' || outcome?.kind === 'failed');

/** Whether kdebug shows the typed command without a part of it. */
export const hasSecret = ({ request, job }: Pick<Run, 'request' | 'job'>, redact: readonly string[]): boolean =>
  (job?.requests ?? [request]).some(
    (one) => shownCommandLine(one, redact) !== printCommand({ kind: 'run', request: one }),
  );

/** A typed secret is for nobody else: not to see, and not to use. */
export const hasSecretOfAnother = (
  run: Pick<Run, 'origin' | 'request' | 'job'>,
  userId: string,
  redact: readonly string[],
): boolean => run.origin.requesterId !== userId && hasSecret(run, redact);

/** Where there is a grant, somebody wanted to repeat this very command. */
const isFresh = (run: Run, nowMs: number): boolean =>
  isAnswer(run) && !run.grant && run.grantedBy === undefined && nowMs - (run.finishedAtMs ?? 0) <= FRESH_MS;

interface OfferContext {
  readonly origin: Origin;
  readonly request: RunRequest;
  readonly deps: FlowDeps;
  readonly glance: Glance;
}

async function offerOf(
  candidates: readonly Run[],
  { origin, request, deps, glance }: OfferContext,
): Promise<Message | undefined> {
  const made = await planOrRefusal({ origin, request }, deps, glance);
  if ('refusal' in made || made.decision.kind === 'deny') return undefined;
  const wanted = sameness(made.plan);
  const same = candidates.find(({ plan }) => plan && sameness(plan) === wanted);
  if (!same) return undefined;
  const isOwn = same.origin.requesterId === origin.requesterId;
  // An offer would confirm a guessed secret, and nobody may repeat another person's run with one.
  if (!isOwn && hasSecret(same, deps.policies.current().output.redact)) return undefined;
  if (!isOwn && (await isForRequesterAlone(same, deps))) return undefined;
  const { result, anchor } = same.delivery;
  const shown = result ?? anchor;
  const url = shown && (await deps.thread.permalink(shown).catch(() => undefined));
  return sameAgainMessage(same, { nowMs: deps.clock.now(), ...defined({ url }) });
}

/** The plan without who asked and why. */
function sameness({ requesterId: _who, teamId: _team, reason: _why, observed: _seen, ...plan }: Plan): string {
  return canonicalJson(plan);
}
