import type { Limits, Policy } from '../core/policy/policy.ts';
import { resolveCluster } from '../core/policy/resolve-image.ts';
import type { Run } from '../core/run/run.ts';
import type { Quota } from './ports/store.ts';

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
