import { defined } from '../../lib/object.ts';
import type { Plan } from '../container/plan.ts';
import { canonicalJson, sha256 } from '../hash.ts';
import type { Approval } from '../policy/policy.ts';

/**
 * A time-boxed grant: an approver's "and they may repeat it for 30 minutes". It belongs to the run it came with. By the
 * same rule, it lets the same person repeat the same request (`covers`).
 */
export interface Grant {
  readonly byUserId: string;
  readonly rule: string;
  /** `grantScope` of the approved plan. */
  readonly scope: string;
  readonly expiresAtMs: number;
  readonly maxRuns: number;
  readonly uses: readonly GrantUse[];
  readonly endedBy?: string;
}

export interface GrantUse {
  readonly runId: string;
  readonly userId: string;
  readonly atMs: number;
}

export const GRANT_MS = 30 * 60_000;
export const GRANT_RUNS = 20;

/** An approver may grant repetitions if the rule says so and one approval is enough. */
export const mayGrant = ({ count, grants }: Pick<Approval, 'count' | 'grants'>): boolean =>
  count === 1 && grants === 'allowed';

export const isActive = (grant: Grant, nowMs: number): boolean =>
  grant.endedBy === undefined && nowMs < grant.expiresAtMs && grant.uses.length < grant.maxRuns;

/** The grant then replaces the approval that `rule` needs for this plan. People decide on each second run of a program. */
export const covers = (grant: Grant, plan: Plan, rule: string, nowMs: number): boolean =>
  plan.onceMore === undefined && isActive(grant, nowMs) && grant.rule === rule && grant.scope === grantScope(plan);

/**
 * The SHA-256 of what a repetition must share with the approved plan: all but the fields that name one pod of its
 * workload, the reason, the label, and the times to wait. Without a workload the pod counts. A field added to `Plan`
 * later counts automatically.
 */
export function grantScope(plan: Plan): string {
  const { podName, podUid, nodeName: _node, observed: _observed, blindSpots: _blind, ...rest } = plan;
  const {
    reason: _reason,
    label: _label,
    profileAsked: _profile,
    startDeadlineMs: _start,
    maxLogBytes: _log,
    ...same
  } = rest;
  return sha256(
    canonicalJson({
      ...same,
      ...defined({
        podName: plan.workload === undefined ? podName : undefined,
        podUid: plan.workload === undefined ? podUid : undefined,
      }),
    }),
  );
}

/** The pods that a grant of this plan covers, in words. */
export const grantTarget = ({ workload, podName }: Pick<Plan, 'workload' | 'podName'>): string =>
  workload === undefined ? `the pod ${podName}` : `any pod of ${workload.kind}/${workload.name}`;
