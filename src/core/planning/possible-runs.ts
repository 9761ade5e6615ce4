import { defined } from '../../lib/object.ts';
import type { Plan } from '../container/plan.ts';
import type { Pod } from '../container/pod.ts';
import { PROFILES, type Profile } from '../container/profiles.ts';
import type { ReasonCode } from '../errors.ts';
import {
  type Approval,
  channelPolicy,
  type Decision,
  type Denial,
  type ImageAlias,
  type Policy,
  type Rule,
} from '../policy/policy.ts';
import type { RunRequest } from '../request/command.ts';
import { problemOfPod } from '../request/target.ts';
import { mayRunTwice } from './decide.ts';
import { type Aim, type PlanInputs, planRequest, roomFor } from './plan-request.ts';
import { matchesNamespace, mayBeUsed } from './resolve.ts';

/** The profiles for which one rule decides alike. */
export interface PossibleRun {
  readonly rule: string;
  /** Absent: allowed at once. */
  readonly approval?: Approval;
  readonly profiles: readonly Profile[];
}

/** The runs that a channel may start with one image in one pod. */
export interface PossibleImage {
  readonly alias: string;
  /**
   * The runs meant: with the image's default command, with a command of one's own, or with either, where that makes no
   * difference.
   */
  readonly command: 'default' | 'own' | 'any';
  /** Empty: nothing is possible. */
  readonly runs: readonly PossibleRun[];
  /** The obstacle, where nothing is possible. */
  readonly denial?: Denial;
}

export interface PossibleRuns {
  readonly kind: 'possible';
  readonly images: readonly PossibleImage[];
  /** Images of the catalogue that were left out. */
  readonly more: number;
}

/** More would fill the screen of a phone, and each costs ten decisions. */
const MAX_IMAGES = 12;

type Inputs = Omit<PlanInputs, 'request' | 'aim'> & { readonly cluster: string };

/**
 * The runs that this channel may start in this pod now, by image and profile: the decisions of `planRequest`, as for a
 * request with a reason. A denial: no debug container can be added to the pod, whatever the policy says. Pure.
 */
export function possibleRuns(pod: Pod, inputs: Inputs): PossibleRuns | Denial {
  const { policy, origin } = inputs;
  const problem = problemOfPod(pod, roomFor(origin.requesterId, policy.limits));
  if (problem) return { kind: 'deny', ...problem };
  const aliases = Object.values(policy.images);
  return {
    kind: 'possible',
    images: aliases.slice(0, MAX_IMAGES).flatMap((alias) => possibleWith(alias, pod, inputs)),
    more: Math.max(0, aliases.length - MAX_IMAGES),
  };
}

function possibleWith(alias: ImageAlias, pod: Pod, inputs: Inputs): readonly PossibleImage[] {
  const byDefault = withCommand([], { alias, pod, inputs });
  if (alias.command !== 'allowed') return [{ command: 'any', ...byDefault }];
  const own = withCommand(['sh'], { alias, pod, inputs });
  if (JSON.stringify(byDefault.runs) === JSON.stringify(own.runs)) return [{ command: 'any', ...own }];
  return [
    { command: 'default', ...byDefault },
    { command: 'own', ...own },
  ];
}

interface Question {
  readonly alias: ImageAlias;
  readonly pod: Pod;
  readonly inputs: Inputs;
}

function withCommand(command: readonly string[], question: Question): Omit<PossibleImage, 'command'> {
  const { alias } = question.alias;
  const runs: PossibleRun[] = [];
  const denials: Denial[] = [];
  for (const profile of PROFILES) {
    const decision = decisionOn({ profile, command }, question);
    if (decision.kind === 'deny') {
      denials.push(decision);
      continue;
    }
    const same = runs.findIndex(({ rule }) => rule === decision.rule);
    const profiles = [...(runs[same]?.profiles ?? []), profile];
    const approval = decision.kind === 'needs-approval' ? { approval: decision.approval } : undefined;
    runs.splice(same < 0 ? runs.length : same, 1, { rule: decision.rule, ...approval, profiles });
  }
  if (runs.length > 0) return { alias, runs };
  // A profile that no rule names says less than the obstacle to one that a rule does name.
  const denial = denials.find(({ code }) => !OF_PROFILE.has(code)) ?? denials[0];
  return { alias, runs, ...defined({ denial }) };
}

/** The place in which an image would run. */
type Reach = Pick<Aim, 'cluster' | 'namespace' | 'alias'>;

/**
 * True if some rule of the channel could allow the image in some pod of the namespace, with or without an approval,
 * whatever that pod is. Pure.
 */
export const hasRuleFor = (
  { cluster, namespace, alias }: Reach,
  channelId: string,
  policy: Pick<Policy, 'channels'>,
): boolean =>
  rulesThere({ cluster, namespace }, channelId, policy).some(
    (rule) => rule.profiles.length > 0 && mayBeUsed(alias, rule),
  );

/** The same of a second run of a pod's own program. Pure. */
export const hasRuleForOnceMore = (
  { workload, ...where }: Pick<Plan, 'cluster' | 'namespace' | 'workload'>,
  channelId: string,
  policy: Pick<Policy, 'channels'>,
): boolean =>
  rulesThere(where, channelId, policy).some(
    (rule) => rule.approval !== undefined && rule.classes.includes('elevated') && mayRunTwice(workload, rule),
  );

const rulesThere = (
  { cluster, namespace }: Pick<Aim, 'cluster' | 'namespace'>,
  channelId: string,
  policy: Pick<Policy, 'channels'>,
): readonly Rule[] =>
  (channelPolicy(policy, channelId)?.rules ?? []).filter(
    (rule) =>
      rule.clusters.includes(cluster) && rule.namespaces.some((pattern) => matchesNamespace(pattern, namespace)),
  );

/** Why no rule could (`hasRuleFor`): the right to seize is missing, or the class. Pure. */
export const reasonWithoutRule = (reach: Reach, channelId: string, policy: Pick<Policy, 'channels'>): ReasonCode =>
  hasRuleFor({ ...reach, alias: { ...reach.alias, traces: false } }, channelId, policy)
    ? 'tracer_not_allowed'
    : 'class_not_allowed';

const OF_PROFILE: ReadonlySet<string> = new Set(['profile_not_allowed', 'profile_refused_here']);

function decisionOn(
  words: Pick<RunRequest, 'profile' | 'command'>,
  { alias, pod, inputs: { cluster, ...inputs } }: Question,
): Decision {
  const { name, namespace } = pod.metadata;
  const request: RunRequest = {
    ...words,
    target: { kind: 'pod', name },
    env: [],
    argumentsOnly: false,
    dryRun: false,
    batch: { canary: false },
    // The answer is about what is possible; the decision on the request itself asks for the reason.
    reason: 'describe',
  };
  const planned = planRequest(pod, { ...inputs, request, aim: { kind: 'aim', cluster, namespace, alias } });
  return planned.kind === 'deny' ? planned : planned.decision;
}
