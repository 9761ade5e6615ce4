import type { Plan } from '../container/plan.ts';
import { canonicalJson, sha256 } from '../hash.ts';
import type { Approval } from './policy.ts';

/**
 * A time-boxed grant: an approver's "and they may repeat it for 30 minutes". It lives in the run that it was given with, and lets
 * the same person's requests for the same through, by the same rule (`covers`).
 */
export interface Grant {
  readonly byUserId: string;
  readonly rule: string;
  /** `grantScope` of the plan that was approved. */
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

/** Whether an approver may grant repetitions: only where the rule says so, and where one approval is enough. */
export const mayGrant = ({ count, grants }: Pick<Approval, 'count' | 'grants'>): boolean =>
  count === 1 && grants === 'allowed';

/** Whether the grant can still let anything through. */
export const isActive = (grant: Grant, nowMs: number): boolean =>
  grant.endedBy === undefined && nowMs < grant.expiresAtMs && grant.uses.length < grant.maxRuns;

/** Whether it replaces the approval that `rule` needs for this plan. */
export const covers = (grant: Grant, plan: Plan, rule: string, nowMs: number): boolean =>
  isActive(grant, nowMs) && grant.rule === rule && grant.scope === grantScope(plan);

/**
 * The SHA-256 of all that a repetition must have in common with what was approved: every field of the plan but those that name
 * one pod of its workload, the reason, and the times to wait. A pod without a workload is named itself. A field added to plans later
 * counts from the start.
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
  return sha256(canonicalJson({ ...same, ...(plan.workload === undefined && { podName, podUid }) }));
}

/** Where a grant of this plan holds, in words. */
export const grantTarget = ({ workload, podName }: Pick<Plan, 'workload' | 'podName'>): string =>
  workload === undefined ? `the pod ${podName}` : `any pod of ${workload.kind}/${workload.name}`;
