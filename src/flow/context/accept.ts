import { shownCommandLine } from '../../core/command/shown-command.ts';
import type { ReasonCode } from '../../core/errors.ts';
import { canonicalJson } from '../../core/hash.ts';
import { asChannelId, asUserId, type RunId, type UserId } from '../../core/ids.ts';
import { resolveCluster } from '../../core/planning/resolve.ts';
import type { Limits, Policy } from '../../core/policy/policy.ts';
import type { Command, RunRequest } from '../../core/request/command.ts';
import type { Origin } from '../../core/request/origin.ts';
import type { Run } from '../../core/run/run.ts';
import { limitedMessage } from '../../core/say/answers/private-messages.ts';
import type { Message } from '../../core/say/message/message.ts';
import { defined } from '../../lib/object.ts';
import type { Actor, Answer } from '../ports/slack.ts';
import type { CreateResult, Quota } from '../ports/store.ts';
import type { FlowDeps } from './deps.ts';
import { HeldRun } from './held-run.ts';
import { answerReason, answerWith, type BoundedRefusals, NOTHING } from './refusals.ts';

export interface Starter {
  /** The reason why this person can start no run now; undefined: they can. */
  refusalFor(requesterId: UserId): ReasonCode | undefined;
  start(held: HeldRun): void;
}

export type RequestExtras = Partial<Pick<Run, 'commandLine' | 'job' | 'rerunOf' | 'offersEqual'>>;

/** Answers a request whose `dedupeKey` is known; `earlierId` is the run of the first one. */
export type IfRepeated = (earlierId: RunId) => Promise<Answer> | Answer;

/** The only entry for requests: checks the limits, writes the run to the store, and starts it. */
export type AcceptRequest = (
  origin: Origin,
  request: RunRequest,
  extras?: RequestExtras,
  ifRepeated?: IfRepeated,
) => Promise<Answer>;

/** A person who still edits a refused message after this many refusals sends a new one. */
const MAX_REFUSED_EDITS = 10;

interface EditedRequest {
  readonly origin: Origin;
  readonly request: RunRequest;
  readonly extras: RequestExtras;
}

const ifRepeatedBy =
  (edited: EditedRequest, { store }: Pick<FlowDeps, 'store'>, accept: AcceptRequest, edits = 1): IfRepeated =>
  async (earlierId) => {
    const { origin, request, extras } = edited;
    if (origin.source === 'button') return answerReason('already_asked', `run ${earlierId}`);
    if (!origin.isEdit) return NOTHING;
    const earlier = await store.read(earlierId);
    // A refused run has started nothing. The key has its id, so that each refusal is followed by one request.
    if (earlier?.state === 'denied' && edits <= MAX_REFUSED_EDITS) {
      const next = { ...origin, dedupeKey: `${edited.origin.dedupeKey}:${earlierId}` };
      return accept(next, request, extras, ifRepeatedBy(edited, { store }, accept, edits + 1));
    }
    // Slack has brought the same edit to another replica before.
    if (earlier?.origin.isEdit && wordsOf(earlier) === wordsOf({ request, ...extras })) return NOTHING;
    return answerReason('edit_of_taken', `run ${earlierId}`);
  };

const wordsOf = ({ request, job }: Pick<Run, 'request' | 'job'>): string => canonicalJson([request, job]);

export const createAcceptRequest = (deps: FlowDeps, starter: Starter, refusals: BoundedRefusals): AcceptRequest => {
  const accept: AcceptRequest = async (origin, request, extras = {}, ifRepeated) => {
    const refused = starter.refusalFor(origin.requesterId);
    if (refused) return answerReason(refused);
    const policy = deps.policies.current();
    const run: Run = { ...newRun(origin, request, deps), ...extras };
    const quotas = quotasOf(run, policy);
    const created = await createRun(run, quotas, { deps, starter });
    if (created.kind === 'limited') {
      const { code } = created;
      const facts = { kind: 'deny', code, command: run.commandLine };
      await refusals.recordOnRun(run, { userId: origin.requesterId, code, step: 'decision', facts });
      const max = quotas.find(({ code }) => code === created.code)?.max ?? created.count;
      return answerWith(limitedMessage(created.code, { ...created, max }));
    }
    if (created.kind === 'duplicate') {
      const answer = ifRepeated ?? ifRepeatedBy({ origin, request, extras }, deps, accept);
      return answer(created.runId);
    }
    return NOTHING;
  };
  return accept;
};

/** Of a request that nobody has looked at yet. */
export const newRun = (origin: Origin, request: RunRequest, { ids, policies }: Pick<FlowDeps, 'ids' | 'policies'>) => ({
  schema: 1 as const,
  id: ids.runId(),
  state: 'received' as const,
  origin,
  request,
  commandLine: shownCommandLine(request, policies.current().output.redact),
  delivery: {},
});

/** Writes a run to the store within these quotas, and starts it here if its key is new there. @throws KdebugError store_unreachable */
export async function createRun(
  run: Run,
  quotas: readonly Quota[],
  { deps, starter }: { readonly deps: FlowDeps; readonly starter: Starter },
): Promise<CreateResult> {
  const created = await deps.store.create(run, deps.owner, quotas);
  if (created.kind === 'created') starter.start(new HeldRun({ run, fence: created.fence }, deps));
  return created;
}

/** The sender of a request, and the place. Every delivery of a request has the same `dedupeKey`. */
export interface Requester extends Actor {
  readonly threadTs?: string;
  readonly dedupeKey: string;
  readonly receivedAtMs: number;
}

export const originOf = (
  { teamId, userId, channelId, threadTs, dedupeKey, receivedAtMs }: Requester,
  source: Origin['source'],
): Origin => ({
  source,
  dedupeKey,
  teamId,
  channelId: asChannelId(channelId),
  requesterId: asUserId(userId),
  receivedAtMs,
  ...defined({ threadTs }),
});

/** A quota with this bound counts and never refuses. */
const NO_BOUND = 1_000_000_000;

/**
 * The quotas that a request counts towards. A batch counts as one run; the policy bounds its width elsewhere. A person is a Slack account,
 * in all channels: a team may share one Kubernetes user, but not one quota.
 */
export function quotasOf(run: Pick<Run, 'origin' | 'request'>, policy: Policy): readonly Quota[] {
  return [
    {
      key: personOf(run),
      code: 'limit_per_person',
      per: 'window',
      windowMs: 60_000,
      max: policy.limits.runsPerUserPerMinute,
    },
    ...atATime(run, policy.limits, policy),
  ];
}

/** For an accepted run that the store has lost: it counts, and is never refused. */
export function quotasOfKnown(run: Pick<Run, 'origin' | 'request'>, policy: Policy): readonly Quota[] {
  return atATime(run, policy.limits, policy).map((quota) => ({ ...quota, max: NO_BOUND }));
}

function atATime({ origin, request }: Pick<Run, 'origin' | 'request'>, limits: Limits, policy: Policy): Quota[] {
  const resolved = resolveCluster(request.cluster, policy);
  const person = personOf({ origin });
  return [
    { key: `channel:${origin.channelId}`, code: 'limit_per_channel', per: 'open', max: limits.runsPerChannel },
    ...(resolved.kind === 'ok'
      ? [
          {
            key: `cluster:${resolved.cluster}`,
            code: 'limit_per_cluster',
            per: 'open',
            max: limits.runsPerCluster,
          } as const,
        ]
      : []),
    { key: person, code: 'limit_runs_per_person', per: 'open', max: limits.runsPerUser },
    { key: person, code: 'limit_pending_per_person', per: 'pending', max: limits.pendingApprovalsPerUser },
  ];
}

const personOf = ({ origin }: Pick<Run, 'origin'>): string => `person:${origin.requesterId}`;

/** These start no run, or not at once, so the store does not count them, but they cost work. */
type Lookup =
  | Command['kind']
  | 'talk'
  | 'details'
  | 'change-batch'
  | 'copy-command'
  | 'show-outliers'
  | 'plan-again'
  | 'list-all'
  | 'home';
const COSTLY: ReadonlySet<Lookup> = new Set([
  'change-batch',
  'can-i',
  'describe',
  'whoami',
  'export',
  'apply',
  'talk',
  'details',
  'rerun',
  'plan-again',
  'list-all',
  'stop',
  'logs',
  'home',
]);
const MINUTE_MS = 60_000;
/** From this many people on, forgets those without a look-up in the last minute. */
const MANY = 1_000;

/**
 * Bounds each person's use of what starts no run, or not at once, but costs work: the kinds in `COSTLY`, all counted together. A
 * question is a run, also where it is answered without a container, so the store counts it. Counts in memory, not in the store, because
 * it protects this process.
 */
export class LookupLimiter {
  readonly #deps: Pick<FlowDeps, 'clock' | 'policies'>;
  readonly #times: number;
  readonly #byPerson = new Map<string, readonly number[]>();

  /** `times`: how many look-ups cost as much as one run. */
  constructor(deps: Pick<FlowDeps, 'clock' | 'policies'>, times = 1) {
    this.#deps = deps;
    this.#times = times;
  }

  /** Counts one look-up, up to the policy's `runsPerUserPerMinute` times `times`. Beyond that, counts nothing and says when to try again. */
  refusal(userId: string, kind: Lookup): Message | undefined {
    if (!COSTLY.has(kind)) return undefined;
    const { clock } = this.#deps;
    const nowMs = clock.elapsed();
    const max = this.#times * this.#deps.policies.current().limits.runsPerUserPerMinute;
    const recent = (this.#byPerson.get(userId) ?? []).filter((atMs) => atMs > nowMs - MINUTE_MS);
    const blocking = recent[recent.length - max];
    if (blocking !== undefined) {
      const retryAtMs = clock.now() + blocking + MINUTE_MS - nowMs;
      return limitedMessage('limit_per_person', { count: recent.length, max, retryAtMs });
    }
    if (this.#byPerson.size >= MANY) this.#forget(nowMs - MINUTE_MS);
    this.#byPerson.set(userId, [...recent, nowMs]);
    return undefined;
  }

  #forget(beforeMs: number): void {
    for (const [userId, times] of this.#byPerson) if ((times.at(-1) ?? 0) <= beforeMs) this.#byPerson.delete(userId);
  }
}
