import type { RunRequest } from '../../core/command/command.ts';
import { asChannelId, asUserId } from '../../core/ids.ts';
import type { Limits, Policy } from '../../core/policy/policy.ts';
import { resolveCluster } from '../../core/policy/resolve.ts';
import type { Origin, Run } from '../../core/run/run.ts';
import { defined } from '../../lib/defined.ts';
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
