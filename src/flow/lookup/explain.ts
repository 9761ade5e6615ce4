import { identityFor, isRefusedUnmapped, subjectFor } from '../../core/planning/identity.ts';
import { targetLogOf } from '../../core/planning/target-log.ts';
import { channelPolicy } from '../../core/policy/policy.ts';
import type { RunRequest } from '../../core/request/command.ts';
import type { Origin } from '../../core/request/origin.ts';
import { canIMessage, whoAmIMessage } from '../../core/say/answers/explain-messages.ts';
import { reasonMessage, refusalAnswer } from '../../core/say/answers/private-messages.ts';
import type { Message } from '../../core/say/message/message.ts';
import type { FlowDeps } from '../context/deps.ts';
import { isInGroup } from '../planning/approvers.ts';
import { isSharedChannel, withInvitation } from '../planning/channel-check.ts';
import { type Preview, withPreview } from '../planning/plan-pod.ts';
import { ANSWER_WITHIN_MS } from '../ports/slack.ts';
import { planOrRefusal } from '../run/plan.ts';

/**
 * Says whether a command would be allowed now, and by which rule. Starts and stores nothing. After two seconds it reports that the cluster
 * did not answer, and the work stops at its next step.
 */
export async function canI(origin: Origin, request: RunRequest, deps: FlowDeps): Promise<Message> {
  return withPreview(deps.clock, ANSWER_WITHIN_MS, (preview) => answer(origin, request, { deps, preview }), tooLate);
}

const tooLate = (): Message => reasonMessage('cluster_unreachable', 'no answer in time');

interface Explaining {
  readonly deps: FlowDeps;
  readonly preview: Preview;
}

async function answer(origin: Origin, request: RunRequest, { deps, preview }: Explaining): Promise<Message> {
  const planned = await planOrRefusal({ origin, request }, deps, preview);
  if ('refusal' in planned) return refusalAnswer(planned.refusal);
  if (preview.isOver()) return tooLate();
  const policy = deps.policies.current();
  const targetLog = targetLogOf(policy, origin, planned.plan, { isShared: await isSharedChannel(origin, deps) });
  return withInvitation(canIMessage(planned.plan, planned.decision, policy.output.redact, targetLog), origin, deps);
}

export async function whoAmI(origin: Origin, deps: FlowDeps): Promise<Message> {
  const { identity, approvers, channels } = deps.policies.current();
  const groups: string[] = [];
  for (const name of Object.keys(approvers)) {
    const known = await isInGroup(name, origin.requesterId, deps);
    if (known !== false) groups.push(known === true ? name : `${name} (not known: kdebug is not in its channel)`);
  }
  return whoAmIMessage({
    userId: origin.requesterId,
    teamId: origin.teamId,
    channelId: origin.channelId,
    identity: identityFor(identity, origin),
    isRefused: isRefusedUnmapped(identity, origin.requesterId),
    mappedTo: subjectFor(identity, origin.requesterId)?.user,
    approverGroups: groups,
    rules: channelPolicy({ channels }, origin.channelId)?.rules,
  });
}
