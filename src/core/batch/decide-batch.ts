import { own } from '../../lib/own-property.ts';
import type { Plan } from '../container/plan.ts';
import { canonicalJson } from '../hash.ts';
import { decide } from '../policy/decide.ts';
import type { Decision, Policy, Rule } from '../policy/policy.ts';
import type { Batch, BatchHead } from './batch.ts';
import { plansOf } from './new-batch.ts';

/** How large a batch is: pods that will be worked on at most, and how many at the same time. */
export interface BatchSize {
  readonly pods: number;
  readonly parallelism: number;
}

/**
 * What the policy says of a whole batch: the strictest word on any of its plans. One plan that is denied denies the batch, so
 * that nobody approves half of what was asked. Different plans that would need approvals under different rules are denied too:
 * a card has one list of approvers. Plans that differ only in their pod are judged once.
 */
export function decideBatch(plans: Iterable<Plan>, policy: Policy, size: BatchSize): Decision {
  const decisions = [...differentPlans(plans)].map((plan) => decideOne(plan, policy, size));
  const denied = decisions.find(({ kind }) => kind === 'deny');
  if (denied) return denied;
  const asking = decisions.filter((decision) => decision.kind === 'needs-approval');
  const [first] = asking;
  if (!first) return decisions[0] ?? { kind: 'deny', code: 'no_pod_matches', subject: '' };
  const rules = [...new Set(asking.map(({ rule }) => rule))];
  return rules.length === 1
    ? first
    : { kind: 'deny', code: 'batch_needs_two_approvals', rule: first.rule, subject: rules.join(', ') };
}

/** What the policy says now of a batch as it was planned. */
export const decideSnapshot = (batch: Batch, policy: Policy): Decision =>
  decideBatch(firstOfEachVariant(batch), policy, { pods: batch.approvedPods, parallelism: batch.approvedParallelism });

function differentPlans(plans: Iterable<Plan>): Iterable<Plan> {
  const different = new Map<string, Plan>();
  for (const plan of plans) {
    const { podName: _name, podUid: _uid, nodeName: _node, observed: _seen, blindSpots: _blind, ...judged } = plan;
    const key = canonicalJson(judged);
    if (!different.has(key)) different.set(key, plan);
  }
  return different.values();
}

/** `decide`, for which a rule that is not wide enough is no rule. When that alone is in the way, it is what is said. */
function decideOne(plan: Plan, policy: Policy, { pods, parallelism }: BatchSize): Decision {
  const decision = decide(plan, policy, pods);
  if (pods <= 1 || decision.kind === 'deny') return decision;
  const isWide = ({ batch }: Rule): boolean => batch === undefined || batch.maxParallelism >= parallelism;
  const wide = decide(plan, withRules(policy, plan.channelId, isWide), pods);
  if (wide.kind !== 'deny') return wide;
  const narrow = own(policy.channels, plan.channelId)?.rules.find(({ id }) => id === decision.rule);
  const most = narrow?.batch?.maxParallelism ?? 0;
  const subject = `${parallelism} pods; this rule allows ${most} in parallel`;
  return { kind: 'deny', code: 'parallelism_not_allowed', rule: decision.rule, subject };
}

function withRules(policy: Policy, channelId: string, keep: (rule: Rule) => boolean): Policy {
  const channel = own(policy.channels, channelId);
  if (!channel) return policy;
  return {
    ...policy,
    channels: { ...policy.channels, [channelId]: { ...channel, rules: channel.rules.filter(keep) } },
  };
}

export type ResizeResult = { readonly kind: 'allow' } | Extract<Decision, { kind: 'deny' }>;

/**
 * Whether a running batch may become that large. Growing is decided anew, by the policy in force; beyond what an approver said
 * yes to it needs a new batch. Making it smaller is always allowed.
 */
export function decideResize(
  batch: Batch,
  { parallelism = batch.parallelism, replicas = batch.replicas ?? batch.eligible }: Partial<ResizeAsked>,
  policy: Policy,
): ResizeResult {
  const size = { pods: Math.min(replicas, batch.eligible), parallelism };
  const grows = size.pods > workedOn(batch) || parallelism > batch.parallelism;
  if (!grows) return { kind: 'allow' };
  const decision = decideBatch(firstOfEachVariant(batch), policy, size);
  if (decision.kind === 'deny') return decision;
  const isApproved = size.pods <= batch.approvedPods && parallelism <= batch.approvedParallelism;
  if (decision.kind === 'allow' || isApproved) return { kind: 'allow' };
  const subject = `${batch.approvedPods} pods, ${batch.approvedParallelism} in parallel, were approved`;
  return { kind: 'deny', code: 'resize_needs_approval', rule: decision.rule, subject };
}

interface ResizeAsked {
  readonly parallelism: number;
  readonly replicas: number;
}

/** How large a batch is as it stands. */
export const sizeOf = (head: BatchHead): BatchSize => ({ pods: workedOn(head), parallelism: head.parallelism });

const workedOn = ({ replicas, eligible }: BatchHead): number => Math.min(replicas ?? eligible, eligible);

/** Of the pods with equal plans the first one's, so that all plans are known by few. */
export function* firstOfEachVariant(batch: Batch): Generator<Plan> {
  const seen = new Set<number>();
  for (const { index, variant } of batch.pods) {
    if (variant === undefined || seen.has(variant)) continue;
    seen.add(variant);
    yield* plansOf(batch, index);
  }
}
