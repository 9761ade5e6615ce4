import type { RunRequest } from '../core/command/command.ts';
import { asRunId } from '../core/ids.ts';
import { identityFor, isRefusedUnmapped, subjectFor } from '../core/policy/identity.ts';
import { own } from '../core/policy/own.ts';
import { canIMessage, whoAmIMessage } from '../core/report/explain-messages.ts';
import type { Message } from '../core/report/message.ts';
import { reasonMessage, refusalAnswer } from '../core/report/private-messages.ts';
import type { Origin, Run } from '../core/run/run.ts';
import type { FlowDeps } from './deps.ts';
import { pause } from './latest.ts';
import type { Glance } from './planning.ts';
import { planOrRefusal } from './request.ts';
import { withInvitation } from './slack-connect.ts';

/** Slack waits three seconds for an answer that needs the cluster. */
const PATIENCE_MS = 2_000;

/**
 * Whether a command would be allowed now, and by which rule. Starts nothing, keeps nothing. After two seconds the answer is that
 * there is none, and the work behind it stops at its next step.
 */
export async function canI(origin: Origin, request: RunRequest, deps: FlowDeps): Promise<Message> {
  const { clock } = deps;
  const untilMs = clock.now() + PATIENCE_MS;
  const glance = { isOver: () => clock.now() >= untilMs };
  return Promise.race([answer(origin, request, { deps, glance }), pause(clock, PATIENCE_MS).then(tooLate)]);
}

const tooLate = (): Message => reasonMessage('cluster_unreachable', 'no answer in time');

interface Looking {
  readonly deps: FlowDeps;
  readonly glance: Glance;
}

async function answer(origin: Origin, request: RunRequest, { deps, glance }: Looking): Promise<Message> {
  const run: Run = { schema: 1, id: asRunId(''), state: 'received', origin, request, commandLine: '', delivery: {} };
  const made = await planOrRefusal(run, deps, glance);
  if ('refusal' in made) return refusalAnswer(made.refusal);
  if (glance.isOver()) return tooLate();
  return withInvitation(canIMessage(made.plan, made.decision), origin, deps);
}

/** Who somebody is to kdebug and to the cluster, and what the channel's rules say. */
export async function whoAmI(origin: Origin, deps: FlowDeps): Promise<Message> {
  const { identity, approvers, channels } = deps.policies.current();
  const groups: string[] = [];
  for (const [name, group] of Object.entries(approvers)) {
    const listed = group.users.some((userId) => userId === origin.requesterId);
    const member =
      listed ||
      (group.usergroup !== undefined && (await deps.directory.members(group.usergroup)).has(origin.requesterId));
    if (member) groups.push(name);
  }
  return whoAmIMessage({
    userId: origin.requesterId,
    teamId: origin.teamId,
    identity: identityFor(identity, origin),
    isRefused: isRefusedUnmapped(identity, origin.requesterId),
    mappedTo: subjectFor(identity, origin.requesterId)?.user,
    approverGroups: groups,
    rules: own(channels, origin.channelId)?.rules,
  });
}
