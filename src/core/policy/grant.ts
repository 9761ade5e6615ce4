import type { Plan } from '../container/plan.ts';
import { IMAGE_CLASSES, type ImageClass } from './policy.ts';

/**
 * A time-boxed grant: an approver's "and allow the same for 30 minutes". It lives in the run that it was given with, and lets
 * requests of the same channel, rule, cluster and namespace through, of class `observe` or the approved one.
 */
export interface Grant {
  readonly byUserId: string;
  readonly rule: string;
  readonly channelId: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly class: ImageClass;
  readonly profile: string;
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

/** Whether one approver may let more through: not where the word of several is asked for. */
export const mayGrant = ({ count }: { readonly count: number }): boolean => count === 1;

/** Whether the grant can still let anything through. */
export const isActive = (grant: Grant, nowMs: number): boolean =>
  grant.endedBy === undefined && nowMs < grant.expiresAtMs && grant.uses.length < grant.maxRuns;

/** Whether it lets this plan through, which the rule `rule` would hold back for an approval. */
export function covers(grant: Grant, plan: Plan, rule: string, nowMs: number): boolean {
  return (
    isActive(grant, nowMs) &&
    grant.rule === rule &&
    grant.channelId === plan.channelId &&
    grant.cluster === plan.cluster &&
    grant.namespace === plan.namespace &&
    isNoWorse(plan, grant)
  );
}

/** Of class `observe`, or no worse than what was approved with the very same profile. */
const isNoWorse = (plan: Plan, grant: Grant): boolean =>
  plan.profile === grant.profile &&
  (plan.class === 'observe' || IMAGE_CLASSES.indexOf(plan.class) <= IMAGE_CLASSES.indexOf(grant.class));
