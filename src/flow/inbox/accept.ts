import type { Command, RunRequest } from '../../core/command/command.ts';
import { asChannelId, asUserId } from '../../core/ids.ts';
import type { Limits, Policy } from '../../core/policy/policy.ts';
import { resolveCluster } from '../../core/policy/resolve.ts';
import type { Message } from '../../core/report/message.ts';
import { limitedMessage } from '../../core/report/private-messages.ts';
import type { Origin, Run } from '../../core/run/run.ts';
import { defined } from '../../lib/defined.ts';
import type { FlowDeps } from '../deps.ts';
import type { Actor, Answer } from '../ports/slack.ts';
import type { Quota } from '../ports/store.ts';

/** What a run may have from its birth besides its request. */
export type RequestExtras = Partial<Pick<Run, 'commandLine' | 'job' | 'rerunOf'>>;

/** The one way in for a request: kept in the store, within the limits, and started. */
export type AcceptRequest = (origin: Origin, request: RunRequest, extra?: RequestExtras) => Promise<Answer>;

/** Who asked where, and what makes it the same request however often it is delivered. */
export interface Asked extends Actor {
  readonly threadTs?: string;
  readonly dedupeKey: string;
  readonly receivedAtMs: number;
}

/** Where a request comes from that was not typed: from a form, a shortcut, a button. */
export const originOf = (
  { teamId, userId, channelId, threadTs, dedupeKey, receivedAtMs }: Asked,
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

/** More than there can be: such a quota counts and refuses nothing. */
const NO_BOUND = 1_000_000_000;

/**
 * What a request counts towards. A batch is one run here: its width has bounds of its own. A person is a Slack account, in all
 * channels: several accounts that are mapped to one Kubernetes user may be a team's, and must not share one bound.
 */
export function quotasOf(run: Pick<Run, 'origin' | 'request'>, policy: Policy): readonly Quota[] {
  return [
    { key: personOf(run), code: 'limit_per_person', per: 'minute', max: policy.limits.runsPerUserPerMinute },
    ...atATime(run, policy.limits, policy),
  ];
}

/** The same for a run that was let in before, and that a store has lost: it counts, and is not refused. */
export function quotasOfKnown(run: Pick<Run, 'origin' | 'request'>, policy: Policy): readonly Quota[] {
  return atATime(run, policy.limits, policy).map((quota) => ({ ...quota, max: NO_BOUND }));
}

function atATime({ origin, request }: Pick<Run, 'origin' | 'request'>, limits: Limits, policy: Policy): Quota[] {
  const place = resolveCluster(request.cluster, policy);
  const person = personOf({ origin });
  return [
    { key: `channel:${origin.channelId}`, code: 'limit_per_channel', per: 'open', max: limits.runsPerChannel },
    ...(place.kind === 'ok'
      ? [
          {
            key: `cluster:${place.cluster}`,
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

/** They start no run, so no store counts them, but they cost work. */
type Look = Command['kind'] | 'talk';

const COSTLY: ReadonlySet<Look> = new Set(['can-i', 'whoami', 'export', 'apply', 'talk']);

const MINUTE_MS = 60_000;

/** Persons that are remembered before those who have not asked for a minute are forgotten. */
const MANY = 1_000;

/**
 * How often a person asks for what starts no run but costs work: `can-i`, `whoami`, `export`, `apply`, and talk for which a pod is
 * looked up. Counted here and not in the store, because it is this process' time that is spent.
 */
export class LookLimiter {
  readonly #deps: Pick<FlowDeps, 'clock' | 'policies'>;
  readonly #byPerson = new Map<string, readonly number[]>();

  constructor(deps: Pick<FlowDeps, 'clock' | 'policies'>) {
    this.#deps = deps;
  }

  /** Counts one look, by the policy's `runsPerUserPerMinute`; when the last minute is full, counts nothing and says when it is not. */
  refusal(userId: string, kind: Look): Message | undefined {
    if (!COSTLY.has(kind)) return undefined;
    const nowMs = this.#deps.clock.now();
    const { runsPerUserPerMinute: most } = this.#deps.policies.current().limits;
    const recent = (this.#byPerson.get(userId) ?? []).filter((atMs) => atMs > nowMs - MINUTE_MS);
    const blocking = recent[recent.length - most];
    if (blocking !== undefined) {
      const retryAtMs = blocking + MINUTE_MS;
      return limitedMessage('limit_per_person', { count: recent.length, max: most, retryAtMs });
    }
    if (this.#byPerson.size >= MANY) this.#forget(nowMs - MINUTE_MS);
    this.#byPerson.set(userId, [...recent, nowMs]);
    return undefined;
  }

  #forget(beforeMs: number): void {
    for (const [userId, times] of this.#byPerson) if ((times.at(-1) ?? 0) <= beforeMs) this.#byPerson.delete(userId);
  }
}
