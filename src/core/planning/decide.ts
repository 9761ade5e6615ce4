import { printDuration } from '../../lib/duration.ts';
import { own } from '../../lib/object.ts';
import { classText } from '../container/class-facts.ts';
import { type FileKind, isSecretKind } from '../container/file-kinds.ts';
import { worseClass } from '../container/image-class.ts';
import type { Plan } from '../container/plan.ts';
import type { Workload } from '../container/pod.ts';
import type { ReasonCode } from '../errors.ts';
import { alertSourceOf } from '../ids.ts';
import {
  type Approval,
  type ApproverGroup,
  channelPolicy,
  type Decision,
  denied,
  type ImageAlias,
  type OnceMoreKind,
  type Policy,
  type Rule,
} from '../policy/policy.ts';
import { isSameReference, matchesNamespace, mayUseCommand, ownImage, problemOfSettings } from './resolve.ts';

/**
 * Decides on a plan. Denies by default: only a rule of the plan's own channel can allow it. The first matching rule
 * without an approval wins, else the first with one. A denial names the nearest rule and its first obstacle. Reads only
 * `policy`, so deciding again right before a launch also catches a changed alias.
 *
 * @param pods how many pods a batch holds; absent (or 1) for a single run.
 */
export function decide(plan: Plan, policy: Policy, pods = 1): Decision {
  const rules = channelPolicy(policy, plan.channelId)?.rules;
  if (!rules) return denied('channel_unknown', plan.channelId);
  const question: Question = { plan, policy, pods, alias: aliasOf(plan, policy) };
  const results: readonly RuleResult[] = rules.map((rule) => ({ rule, obstacle: firstObstacle(question, rule) }));

  const matching = results.filter(({ obstacle }) => !obstacle).map(({ rule }) => rule);
  const winner = matching.find(({ approval }) => !approval) ?? matching[0];
  if (!winner) return nearestDenial(question, results);
  return winner.approval ? withApproval(question, winner.id, winner.approval) : { kind: 'allow', rule: winner.id };
}

/**
 * The image of a pod's own container needs no alias: people approve it by its digest. Nor does that of another revision: it has run in
 * this workload, and people approve it by the name that the card shows.
 */
const aliasOf = (plan: Plan, { images }: Policy): ImageAlias | undefined =>
  plan.onceMore ? ownImage(plan.image) : own(images, plan.imageAlias);

interface Question {
  readonly plan: Plan;
  readonly policy: Policy;
  readonly pods: number;
  /** Undefined: the alias is no longer in the catalogue. */
  readonly alias: ImageAlias | undefined;
}

interface Check {
  readonly code: ReasonCode;
  readonly passes: (question: Question, rule: Rule) => boolean;
  readonly subject: (question: Question, rule: Rule) => string;
}

/** A rule must pass all of them. The rule that passes most, in this order, is the nearest. */
const CHECKS: readonly Check[] = [
  {
    code: 'cluster_not_allowed',
    passes: ({ plan }, rule) => rule.clusters.includes(plan.cluster),
    subject: ({ plan }) => plan.cluster,
  },
  {
    code: 'namespace_not_allowed',
    passes: ({ plan }, rule) => rule.namespaces.some((pattern) => matchesNamespace(pattern, plan.namespace)),
    subject: ({ plan }) => plan.namespace,
  },
  {
    code: 'image_not_allowed',
    passes: ({ plan, alias }) => alias !== undefined && isSameReference(plan.image, alias.reference),
    subject: ({ plan }) => plan.image,
  },
  {
    code: 'profile_not_allowed',
    // A second run has the power of its original, and no profile.
    passes: ({ plan }, rule) => plan.onceMore !== undefined || rule.profiles.includes(plan.profile),
    subject: ({ plan }) => plan.profile,
  },
  {
    code: 'class_not_allowed',
    // The class of the image may have risen in the catalogue since the plan.
    passes: ({ plan, alias }, rule) => !!alias && rule.classes.includes(worseClass(plan.class, alias.class)),
    subject: ({ plan, alias }) => `${plan.imageAlias} (${classWords(plan, alias)})`,
  },
  {
    code: 'tracer_not_allowed',
    passes: ({ plan, alias }, rule) => rule.traces === true || !mayTrace(plan, alias),
    subject: ({ plan }) => plan.imageAlias,
  },
  {
    code: 'batch_not_allowed',
    passes: ({ pods }, rule) => pods === 1 || rule.batch !== undefined,
    subject: ({ pods }) => `${pods} pods`,
  },
  {
    code: 'batch_too_large',
    passes: ({ pods }, rule) => pods === 1 || pods <= (rule.batch?.maxPods ?? 0),
    subject: ({ pods }, rule) => `${pods} pods; this rule allows ${rule.batch?.maxPods ?? 0} at once`,
  },
  {
    code: 'setting_not_allowed',
    passes: ({ plan, alias }) => alias === undefined || problemOfSettings(alias, plan) === undefined,
    subject: ({ plan, alias }) => (alias && problemOfSettings(alias, plan)) ?? plan.imageAlias,
  },
  {
    code: 'command_not_allowed',
    passes: ({ plan, alias }) => alias !== undefined && mayUseCommand(alias, plan),
    subject: ({ plan }) => plan.imageAlias,
  },
  {
    code: 'secret_files_not_in_batch',
    passes: ({ pods, ...question }) => pods === 1 || secretKindsOf(question).length === 0,
    subject: (question) => filesSubject(question),
  },
  {
    code: 'secret_files_need_approval',
    passes: (question, rule) =>
      rule.approval !== undefined || rule.secretFiles === 'allowed' || secretKindsOf(question).length === 0,
    subject: (question) => filesSubject(question),
  },
  {
    code: 'once_more_workload_not_allowed',
    passes: ({ plan }, rule) => plan.onceMore === undefined || mayRunTwice(plan.workload, rule),
    subject: ({ plan }) => `${plan.workload?.kind}/${plan.workload?.name}`,
  },
  {
    code: 'once_more_needs_approval',
    passes: ({ plan }, rule) => plan.onceMore === undefined || rule.approval !== undefined,
    subject: ({ plan }) => `${plan.namespace}/${plan.podName}`,
  },
  {
    code: 'timeout_too_long',
    passes: ({ plan, policy }) => plan.timeoutMs <= policy.limits.maxTimeoutMs,
    subject: ({ plan, policy }) =>
      `${printDuration(plan.timeoutMs)}; the policy allows ${printDuration(policy.limits.maxTimeoutMs)}`,
  },
];

/** The alias may have been called a tracer, or no longer one, since the plan: then it counts as one. */
const mayTrace = ({ classReasons }: Plan, alias: ImageAlias | undefined): boolean =>
  alias?.traces === true || classReasons.some(({ fact }) => fact === 'tracer');

const RUN_ONCE: Readonly<Partial<Record<Workload['kind'], OnceMoreKind>>> = {
  job: 'jobs',
  statefulset: 'statefulSets',
};

/** Some workloads count on one run of their program at a time. */
export function mayRunTwice(workload: Workload | undefined, rule: Rule): boolean {
  const kind = workload && RUN_ONCE[workload.kind];
  return kind === undefined || rule.onceMore?.includes(kind) === true;
}

/** The alias may have been given further kinds since the plan. */
const secretKindsOf = ({ plan, alias }: Pick<Question, 'plan' | 'alias'>): readonly FileKind[] =>
  [...new Set([...(plan.files ?? []), ...(alias?.files ?? [])])].filter(isSecretKind);

const filesSubject = (question: Question): string =>
  `${question.plan.imageAlias} (files: ${secretKindsOf(question).join(', ')})`;

/** `elevated: the pod uses the node's network`, or the class alone. */
function classWords({ class: planned, classReasons }: Plan, alias: ImageAlias | undefined): string {
  const judged = worseClass(planned, alias?.class ?? planned);
  return judged === planned ? classText(judged, classReasons) : judged;
}

interface RuleResult {
  readonly rule: Rule;
  /** Undefined: the rule matches. */
  readonly obstacle: Obstacle | undefined;
}

interface Obstacle {
  readonly check: Check;
  readonly passed: number;
}

function firstObstacle(question: Question, rule: Rule): Obstacle | undefined {
  const passed = CHECKS.findIndex((check) => !check.passes(question, rule));
  const check = CHECKS[passed];
  return check && { check, passed };
}

/** The denial by the rule that passed most checks; of equals, the earliest. */
function nearestDenial(question: Question, results: readonly RuleResult[]): Decision {
  const [first, ...others] = results.flatMap(({ rule, obstacle }) => (obstacle ? [{ rule, ...obstacle }] : []));
  if (!first) return denied('channel_has_no_rules', question.plan.channelId);
  const { rule, check } = others.reduce((best, other) => (other.passed > best.passed ? other : best), first);
  return { kind: 'deny', code: check.code, rule: rule.id, subject: check.subject(question, rule) };
}

/**
 * Denies when no approver exists, or when a reason is required and missing; then no card is posted. Of an alert, its own words on the card are
 * the reason, and no grant is for it: that is for a person who repeats a command.
 */
function withApproval({ plan, policy }: Question, rule: string, approval: Approval): Decision {
  const groups = approval.from.map((name) => own(policy.approvers, name));
  if (!groups.some((group) => group && namesAnybody(group))) {
    return { kind: 'deny', code: 'no_approver', rule, subject: approval.from.join(', ') };
  }
  if (alertSourceOf(plan.requesterId) !== undefined)
    return { kind: 'needs-approval', rule, approval: { ...approval, grants: 'denied' } };
  if (approval.reason === 'required' && !plan.reason?.trim()) {
    return { kind: 'deny', code: 'reason_required', rule, subject: '--reason' };
  }
  return { kind: 'needs-approval', rule, approval };
}

const namesAnybody = ({ usergroup, users, channel }: ApproverGroup): boolean =>
  usergroup !== undefined || users.length > 0 || channel !== undefined;
