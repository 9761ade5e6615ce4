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
import { code, type Fact, type Message, person, type Span, strong, text } from '../message/message.ts';

/** A decision in one sentence, with the rule that made it. */
export function decisionSpans(decision: Decision): readonly Span[] {
  const rule: readonly Span[] = decision.rule === undefined ? [] : [text(' (rule '), code(decision.rule), text(')')];
  switch (decision.kind) {
    case 'allow':
      return [strong('Allowed'), ...rule];
    case 'needs-approval': {
      const { count, from } = decision.approval;
      return [strong('Needs approval'), text(` by any ${count} of ${from.join(', ')}`), ...rule];
    }
    case 'deny':
      return [strong('Denied'), text(`: ${REASONS[decision.code].title}: ${decision.subject}`), ...rule];
  }
}

/** What would run, field by field. `redact`: the policy's patterns. */
export function planFields(plan: Plan, redact: readonly string[]): readonly Fact[] {
  const context = plan.securityContext ? JSON.stringify(plan.securityContext) : 'the image’s default';
  return [
    {
      label: 'Pod',
      value: [code(`${plan.namespace}/${plan.podName}`), text(` uid ${plan.podUid} on ${plan.nodeName || 'no node'}`)],
    },
    { label: 'Target', value: [text(plan.targetContainerName ?? 'none')] },
    {
      label: 'Image',
      value: [
        code(plan.image),
        text(` (${plan.imageAlias}, ${isPinned(plan.image) ? 'pinned' : 'not pinned'} by digest)`),
      ],
    },
    { label: 'Class', value: [text(classText(plan.class, plan.classReasons))] },
    {
      label: 'Command',
      value: [code(plan.command.length === 0 ? '(default)' : redactWords(plan.command, redact).join(' '))],
    },
    ...(plan.files ? [{ label: 'Files it may bring back', value: [text(plan.files.join(', '))] }] : []),
    ...(plan.env.length === 0
      ? []
      : [{ label: 'Variables', value: [code(redactEnv(plan.env, redact).map(variableText).join(' '))] }]),
    { label: 'Profile', value: [text(`${plan.profile}: ${context}`)] },
    {
      label: 'Time limits',
      value: [text(`start ${formatDuration(plan.startDeadlineMs)}, run ${formatDuration(plan.timeoutMs)}`)],
    },
    ...plan.blindSpots.map((spot) => ({ label: 'Cannot see', value: [text(spot)] })),
    ...(plan.observed?.obstacles ?? []).map((obstacle) => ({ label: 'Will not work', value: [text(obstacle)] })),
    { label: 'Earlier debug containers', value: [text(String(plan.observed?.earlierContainers ?? 0))] },
  ];
}

const variableText = ({ name, value }: EnvVar): string => `${visible(name)}=${visible(quoteWord(value))}`;

/** The private answer to `--dry-run`: plan, decision, patch and the cluster's response. */
export function rehearsalMessage(run: Run, rehearsal: Rehearsal, redact: readonly string[]): Message {
  const { plan, decision } = run;
  const summary = rehearsal.accepted
    ? 'Dry run: the cluster would accept this'
    : 'Dry run: the cluster would refuse this';
  return {
    summary,
    tone: rehearsal.accepted ? 'success' : 'failure',
    parts: [
      { kind: 'heading', text: summary },
      ...(decision ? [{ kind: 'paragraph', spans: decisionSpans(decision) } as const] : []),
      ...(plan ? [{ kind: 'facts', facts: planFields(plan, redact) } as const] : []),
      { kind: 'paragraph', spans: [text(rehearsal.cluster)] },
      { kind: 'preformatted', text: rehearsal.patch },
      { kind: 'note', spans: [text(`Nothing was started. Plan ${run.planHash?.slice(0, 12) ?? '–'} · run ${run.id}`)] },
    ],
  };
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
  const ownLog = (right: TargetLogRight): Fact => ({
    label: 'Shown of its own log',
    value: [text(TARGET_LOG_WORDS[right])],
  });
  const allowed = decision.kind !== 'deny';
  return {
    summary: `${CAN_I[decision.kind]}: ${plan.imageAlias} on ${plan.namespace}/${plan.podName}`,
    tone: allowed ? 'success' : 'failure',
    parts: [
      { kind: 'paragraph', spans: decisionSpans(decision) },
      ...(decision.kind === 'deny' ? [{ kind: 'paragraph', spans: [text(REASONS[decision.code].hint)] } as const] : []),
      { kind: 'facts', facts: [...planFields(plan, redact), ...(targetLog === undefined ? [] : [ownLog(targetLog)])] },
      { kind: 'note', spans: [text('Nothing was started.')] },
    ],
  };
}

/** Who a person is to kdebug and to the cluster, and the rules of their channel. */
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
  const cluster: readonly Span[] = who.isRefused
    ? [text(`nobody: ${REASONS.identity_unmapped.title}. ${REASONS.identity_unmapped.hint}`)]
    : identity
      ? [code(identity.user), text(` in ${identity.groups.join(', ') || 'no group'}`)]
      : [
          text('kdebug acts with its own account'),
          text(who.mappedTo === undefined ? '' : `, after checking the rights of ${who.mappedTo}`),
        ];
  const rules = who.rules?.map(ruleSpans) ?? [
    [text(`This channel is not in the policy: nothing is allowed here. ${REASONS.channel_unknown.hint}`)],
  ];
  return {
    summary: 'Who you are to kdebug, and what this channel may do',
    tone: 'neutral',
    parts: [
      {
        kind: 'facts',
        facts: [
          {
            label: 'Slack',
            value: [
              person(who.userId),
              text(', '),
              code(who.userId),
              text(` in workspace ${who.teamId}, channel `),
              code(who.channelId),
            ],
          },
          { label: 'Kubernetes', value: cluster },
          { label: 'Approver in', value: [text(who.approverGroups.join(', ') || 'no group')] },
        ],
      },
      { kind: 'paragraph', spans: [strong('Rules of this channel')] },
      { kind: 'list', items: rules },
    ],
  };
}

function ruleSpans(rule: Rule): readonly Span[] {
  const { id, clusters, namespaces, classes, profiles, approval } = rule;
  const words = `${classes.join(', ')} in ${namespaces.join(', ')} on ${clusters.join(', ')}, profiles ${profiles.join(', ')}`;
  return [
    code(id),
    text(`: ${words}${approval ? `, with the approval of any ${approval.count} of ${approval.from.join(', ')}` : ''}`),
  ];
}
