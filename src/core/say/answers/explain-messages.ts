import { formatDuration } from '../../../lib/duration.ts';
import { visible } from '../../../lib/invisible.ts';
import { quoteWord } from '../../command/print.ts';
import { classText } from '../../container/class-facts.ts';
import type { EnvVar } from '../../container/ephemeral-container.ts';
import { isPinned } from '../../container/names.ts';
import type { Plan } from '../../container/plan.ts';
import { REASONS } from '../../errors.ts';
import type { KubernetesIdentity } from '../../planning/identity.ts';
import { TARGET_LOG_WORDS } from '../../planning/target-log.ts';
import type { Decision, Rule, TargetLogRight } from '../../policy/policy.ts';
import { redactEnv, redactWords } from '../../redact/redact-text.ts';
import type { Rehearsal, Run } from '../../run/run.ts';
import { fact, facts, heading, line, list, message, note, paragraph, preformatted, rows } from '../message/line.ts';
import { code, type Fact, type Message, person, type Span, strong } from '../message/message.ts';
import { onceMoreFacts } from '../parts/once-more-parts.ts';

/** A decision in one sentence, with the rule that made it. */
export function decisionSpans(decision: Decision): readonly Span[] {
  const rule = decision.rule === undefined ? [] : line` (rule ${code(decision.rule)})`;
  switch (decision.kind) {
    case 'allow':
      return line`${strong('Allowed')}${rule}`;
    case 'needs-approval': {
      const { count, from } = decision.approval;
      return line`${strong('Needs approval')} by any ${count} of ${from.join(', ')}${rule}`;
    }
    case 'deny':
      return line`${strong('Denied')}: ${REASONS[decision.code].title}: ${decision.subject}${rule}`;
  }
}

/** The plan, field by field. `redact`: the policy's patterns. */
export function planFields(plan: Plan, redact: readonly string[]): readonly Fact[] {
  const pod = code(`${plan.namespace}/${plan.podName}`);
  const pinned = isPinned(plan.image) ? 'pinned' : 'not pinned';
  return rows(
    fact('Pod', line`${pod} uid ${plan.podUid} on ${plan.nodeName || 'no node'}`),
    !plan.onceMore && fact('Target', plan.targetContainerName ?? 'none'),
    fact('Image', line`${code(plan.image)} (${plan.imageAlias}, ${pinned} by digest)`),
    fact('Class', classText(plan.class, plan.classReasons)),
    ...(plan.onceMore ? onceMoreFacts(plan.onceMore) : ownFields(plan, redact)),
    fact('Time limits', `start ${formatDuration(plan.startDeadlineMs)}, run ${formatDuration(plan.timeoutMs)}`),
    plan.blindSpots.map((spot) => fact('Cannot see', spot)),
    plan.observed?.obstacles?.map((obstacle) => fact('Will not work', obstacle)),
    fact('Earlier debug containers', plan.observed?.earlierContainers ?? 0),
  );
}

/** The fields that a second run takes from its original. */
function ownFields(plan: Plan, redact: readonly string[]): readonly Fact[] {
  const context = plan.securityContext ? JSON.stringify(plan.securityContext) : 'the image’s default';
  return rows(
    fact('Command', code(plan.command.length === 0 ? '(default)' : redactWords(plan.command, redact).join(' '))),
    fact('Files it may bring back', plan.files?.join(', ')),
    plan.env.length > 0 && fact('Variables', code(redactEnv(plan.env, redact).map(variableText).join(' '))),
    fact('Profile', `${plan.profile}: ${context}`),
  );
}

const variableText = ({ name, value }: EnvVar): string => `${visible(name)}=${visible(quoteWord(value))}`;

/** The private answer to `--dry-run`: plan, decision, patch and the cluster's response. */
export function rehearsalMessage(run: Run, rehearsal: Rehearsal, redact: readonly string[]): Message {
  const { plan, decision } = run;
  const title = `Dry run: the cluster would ${rehearsal.accepted ? 'accept' : 'refuse'} this`;
  return message({ tone: rehearsal.accepted ? 'success' : 'failure' }, [
    heading(title),
    decision && paragraph`${decisionSpans(decision)}`,
    plan && facts(planFields(plan, redact)),
    paragraph`${rehearsal.cluster}`,
    preformatted(rehearsal.patch),
    note`Nothing was started. Plan ${run.planHash?.slice(0, 12) ?? '–'} · run ${run.id}`,
  ]);
}

const CAN_I = { allow: 'Allowed', 'needs-approval': 'Needs approval', deny: 'Denied' } as const;

/**
 * The answer to `can-i`: the decision on a plan made now. A requester without the rights in the cluster gets a refusal
 * instead. `targetLog`: what a diagnosis may read of the pod's own log there.
 */
export function canIMessage(
  plan: Plan,
  decision: Decision,
  redact: readonly string[],
  targetLog?: TargetLogRight,
): Message {
  const summary = `${CAN_I[decision.kind]}: ${plan.imageAlias} on ${plan.namespace}/${plan.podName}`;
  return message({ summary, tone: decision.kind === 'deny' ? 'failure' : 'success' }, [
    paragraph`${decisionSpans(decision)}`,
    decision.kind === 'deny' && paragraph`${REASONS[decision.code].hint}`,
    facts(planFields(plan, redact), fact('Shown of its own log', targetLog && TARGET_LOG_WORDS[targetLog])),
    note`Nothing was started.`,
  ]);
}

/** The identity of a person in kdebug and in the cluster, and the rules of their channel. */
export interface WhoAmI {
  readonly userId: string;
  readonly teamId: string;
  readonly channelId: string;
  readonly identity: KubernetesIdentity | undefined;
  /** The policy refuses people whom it does not map, and does not map this one. */
  readonly isRefused: boolean;
  readonly mappedTo: string | undefined;
  readonly approverGroups: readonly string[];
  readonly rules: readonly Rule[] | undefined;
}

export function whoAmIMessage(who: WhoAmI): Message {
  const { identity } = who;
  const checked = who.mappedTo !== undefined && `, after checking the rights of ${who.mappedTo}`;
  const cluster = who.isRefused
    ? `nobody: ${REASONS.identity_unmapped.title}. ${REASONS.identity_unmapped.hint}`
    : identity
      ? line`${code(identity.user)} in ${identity.groups.join(', ') || 'no group'}`
      : line`kdebug acts with its own account${checked}`;
  const [user, channel] = [code(who.userId), code(who.channelId)];
  return message({ summary: 'Who you are to kdebug, and what this channel may do', tone: 'neutral' }, [
    facts(
      fact('Slack', line`${person(who.userId)}, ${user} in workspace ${who.teamId}, channel ${channel}`),
      fact('Kubernetes', cluster),
      fact('Approver in', who.approverGroups.join(', ') || 'no group'),
    ),
    paragraph`${strong('Rules of this channel')}`,
    list(
      who.rules?.map(ruleSpans) ?? [
        `This channel is not in the policy: nothing is allowed here. ${REASONS.channel_unknown.hint}`,
      ],
    ),
  ]);
}

function ruleSpans(rule: Rule): readonly Span[] {
  const { id, clusters, namespaces, classes, profiles, traces, approval } = rule;
  const words = `${classes.join(', ')}${traces === true ? ', with images that seize their target,' : ''} in ${namespaces.join(', ')} on ${clusters.join(', ')}, profiles ${profiles.join(', ')}`;
  return line`${code(id)}: ${words}${approval && `, with the approval of any ${approval.count} of ${approval.from.join(', ')}`}`;
}
