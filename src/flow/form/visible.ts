import type { Pod } from '../../core/container/pod.ts';
import { asChannelId, asUserId } from '../../core/ids.ts';
import { identityFor, isRefusedUnmapped, subjectFor } from '../../core/policy/identity.ts';
import type { ResolvedNamespace } from '../../core/policy/resolve.ts';
import { defined } from '../../lib/object.ts';
import type { FlowDeps } from '../deps.ts';
import type { Actor } from '../ports/slack.ts';
import { channelProblem } from '../reply/slack-connect.ts';

type Where = Pick<ResolvedNamespace, 'cluster' | 'namespace'>;

/**
 * Whether to name the pods of a namespace to this person: not in a channel that another company reads, and only if the
 * cluster lets them debug any pod of it, where kdebug knows who they are there. Records nothing: this is asked with every
 * character that somebody types, and launches nothing. @throws when it cannot know
 */
export async function isVisible(actor: Actor, { cluster, namespace }: Where, deps: FlowDeps): Promise<boolean> {
  const { identity } = deps.policies.current();
  const requesterId = asUserId(actor.userId);
  const channelId = asChannelId(actor.channelId);
  if (await channelProblem({ channelId, requesterId }, deps, { posts: false })) return false;
  if (isRefusedUnmapped(identity, requesterId)) return false;
  const actingAs = identityFor(identity, { teamId: actor.teamId, channelId, requesterId });
  const subject = subjectFor(identity, requesterId);
  if (!actingAs && !subject) return true;
  const access = await deps.clusters.get(cluster).access({ namespace, ...defined({ actingAs, subject }) });
  return access.kind === 'allowed';
}

/** All pods of a namespace, from its shared watch. */
export const podsOf = ({ cluster, namespace }: Where, { clusters }: FlowDeps): Promise<readonly Pod[]> =>
  clusters.get(cluster).pods(namespace, []);
