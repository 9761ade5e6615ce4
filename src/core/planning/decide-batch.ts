import type { Batch, BatchHead } from '../batch/batch.ts';
import { plansOf } from '../batch/new-batch.ts';
import type { Plan } from '../container/plan.ts';
import { canonicalJson } from '../hash.ts';
import { channelPolicy, type Decision, keyOfChannel, type Policy, type Rule } from '../policy/policy.ts';
import { decide } from './decide.ts';

/** The size of a batch: how many pods in all, and how many at the same time. */
export interface BatchSize {
  readonly pods: number;
  readonly parallelism: number;
}

/**
 * The policy's decision on a whole batch: the strictest of its plans' decisions. One denied plan denies the batch, so
 * that nobody approves half of a request. Plans that need approvals under different rules are denied too: a card has
 * one list of approvers. Plans that differ only in their pod are decided once.
 */
export function decideBatch(plans: Iterable<Plan>, policy: Policy, size: BatchSize): Decision {
  const decisions = [...differentPlans(plans)].map((plan) => decideOne(plan, policy, size));
  const denied = decisions.find(({ kind }) => kind === 'deny');
  if (denied) return denied;
  const needingApproval = decisions.filter((decision) => decision.kind === 'needs-approval');
  const [first] = needingApproval;
  if (!first) return decisions[0] ?? { kind: 'deny', code: 'no_pod_matches', subject: '' };
  const rules = [...new Set(needingApproval.map(({ rule }) => rule))];
  return rules.length === 1
    ? first
    : { kind: 'deny', code: 'batch_needs_two_approvals', rule: first.rule, subject: rules.join(', ') };
}

/** The current policy's decision on a batch as it was planned. */
export const decideSnapshot = (batch: Batch, policy: Policy): Decision =>
  decideBatch(
    firstOfEachVariant(batch),
    policy,
    batch.comparison ? ONE : { pods: batch.approvedPods, parallelism: batch.approvedParallelism },
  );

/**
 * A comparison is no more than what its requester may ask for anyway, pod by pod: at most three runs of an image with its
 * own command. So a rule without `batch` covers it, and an approval covers all three.
 */
const ONE: BatchSize = { pods: 1, parallelism: 1 };

function differentPlans(plans: Iterable<Plan>): Iterable<Plan> {
  const different = new Map<string, Plan>();
  for (const plan of plans) {
    const { podName: _name, podUid: _uid, nodeName: _node, observed: _seen, blindSpots: _blind, ...judged } = plan;
    const key = canonicalJson(judged);
    if (!different.has(key)) different.set(key, plan);
  }
  return different.values();
}

/** `decide`, ignoring rules whose `maxParallelism` is too small. If that is the only obstacle, the denial says so. */
function decideOne(plan: Plan, policy: Policy, { pods, parallelism }: BatchSize): Decision {
  const decision = decide(plan, policy, pods);
  if (pods <= 1 || decision.kind === 'deny') return decision;
  const isWide = ({ batch }: Rule): boolean => batch === undefined || batch.maxParallelism >= parallelism;
  const wide = decide(plan, withRules(policy, plan.channelId, isWide), pods);
  if (wide.kind !== 'deny') return wide;
  const narrow = channelPolicy(policy, plan.channelId)?.rules.find(({ id }) => id === decision.rule);
  const max = narrow?.batch?.maxParallelism ?? 0;
  const subject = `${parallelism} pods; this rule allows ${max} in parallel`;
  return { kind: 'deny', code: 'parallelism_not_allowed', rule: decision.rule, subject };
}

function withRules(policy: Policy, channelId: string, isIncluded: (rule: Rule) => boolean): Policy {
  const channel = channelPolicy(policy, channelId);
  if (!channel) return policy;
  return {
    ...policy,
    channels: {
      ...policy.channels,
      [keyOfChannel(channelId)]: { ...channel, rules: channel.rules.filter(isIncluded) },
    },
  };
}

export type ResizeResult = { readonly kind: 'allow' } | Extract<Decision, { kind: 'deny' }>;

/**
 * Decides if a running batch may grow to this size. Growing needs a new decision by the current policy, and a new batch
 * beyond what was approved. Shrinking is always allowed.
 */
export function decideResize(
  batch: Batch,
  { parallelism = batch.parallelism, replicas = batch.replicas ?? batch.eligible }: Partial<BatchResize>,
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

interface BatchResize {
  readonly parallelism: number;
  readonly replicas: number;
}

export const sizeOf = (head: BatchHead): BatchSize =>
  head.comparison ? ONE : { pods: workedOn(head), parallelism: head.parallelism };

const workedOn = ({ replicas, eligible }: BatchHead): number => Math.min(replicas ?? eligible, eligible);

/** One plan for each variant: that of its first pod. */
export function* firstOfEachVariant(batch: Batch): Generator<Plan> {
  const seen = new Set<number>();
  for (const { index, variant } of batch.pods) {
    if (variant === undefined || seen.has(variant)) continue;
    seen.add(variant);
    yield* plansOf(batch, index);
  }
}
