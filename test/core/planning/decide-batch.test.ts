import { describe, expect, it } from 'vitest';
import { asChannelId, asUserId } from '../../../src/core/ids.ts';
import { decideBatch, decideResize } from '../../../src/core/planning/decide-batch.ts';
import type { Rule } from '../../../src/core/policy/policy.ts';
import { aPlan, aPolicy, approvalTerms, aRule } from '../../support/builders.ts';
import { aBatch } from '../batch/a-batch.ts';

const approval = approvalTerms({ expiresMs: 60_000 });
const policy = (...rules: readonly Rule[]) =>
  aPolicy({ approvers: { sre: { users: [asUserId('U0BOB')] } }, channels: { [asChannelId('C0SHOP')]: { rules } } });
const narrow = aRule({ id: 'narrow', batch: { maxPods: 50, maxParallelism: 2 } });
const wide = aRule({ id: 'wide', batch: { maxPods: 100, maxParallelism: 10 }, approval });

const decideOf = (rules: readonly Rule[], pods: number, parallelism: number, plans = [aPlan()]) =>
  decideBatch(plans, policy(...rules), { pods, parallelism });

describe('the decision on a batch', () => {
  it('is the policy’s on its plan, its number of pods and its width', () => {
    expect(decideOf([narrow], 50, 2)).toEqual({ kind: 'allow', rule: 'narrow' });
    expect(decideOf([narrow], 51, 2)).toMatchObject({ kind: 'deny', code: 'batch_too_large', rule: 'narrow' });
    expect(decideOf([aRule()], 2, 1)).toMatchObject({ kind: 'deny', code: 'batch_not_allowed' });
    expect(decideOf([narrow], 50, 3)).toEqual({
      kind: 'deny',
      code: 'parallelism_not_allowed',
      rule: 'narrow',
      subject: '3 pods; this rule allows 2 in parallel',
    });
  });

  it('goes to the next rule when the first is not wide enough', () => {
    expect(decideOf([narrow, wide], 50, 3)).toMatchObject({ kind: 'needs-approval', rule: 'wide' });
    expect(decideOf([narrow, wide], 60, 1)).toMatchObject({ kind: 'needs-approval', rule: 'wide' });
  });

  it('on one pod is that on the pod alone', () => {
    expect(decideOf([aRule()], 1, 10)).toEqual({ kind: 'allow', rule: 'look' });
  });

  it('is the strictest word on any of its plans', () => {
    const plans = [aPlan(), aPlan({ podName: 'web-2', profile: 'sysadmin' })];
    expect(decideOf([narrow], 2, 1, plans)).toMatchObject({ kind: 'deny', code: 'profile_not_allowed' });
    const general = { ...wide, id: 'g', profiles: ['general'] } as Rule;
    const asks = { ...wide, profiles: ['restricted'] } as Rule;
    const both = [aPlan(), aPlan({ profile: 'general' })];
    expect(decideOf([narrow, asks, general], 2, 1, both)).toEqual({ kind: 'allow', rule: 'narrow' });
    expect(decideOf([asks, general], 2, 1, both)).toMatchObject({
      kind: 'deny',
      code: 'batch_needs_two_approvals',
      subject: 'wide, g',
    });
    expect(decideOf([asks, { ...general, approval: undefined } as never], 2, 1, both)).toMatchObject({
      kind: 'needs-approval',
      rule: 'wide',
    });
  });

  it('judges equal plans of ten thousand pods once', () => {
    const plans = Array.from({ length: 10_000 }, (_, index) => aPlan({ podName: `web-${index}`, podUid: `u${index}` }));
    let judged = 0;
    const counting = Object.defineProperty(aRule({ id: 'counting' }), 'namespaces', {
      get: () => {
        judged += 1;
        return ['other'];
      },
    });
    const many = policy(counting, { ...narrow, batch: { maxPods: 10_000, maxParallelism: 2 } });
    judged = 0;
    expect(decideBatch(plans, many, { pods: 10_000, parallelism: 1 }).kind).toBe('allow');
    expect(judged).toBeGreaterThan(0);
    expect(judged).toBeLessThan(50);
  });

  it('without any plan is no', () => {
    expect(decideBatch([], policy(narrow), { pods: 2, parallelism: 1 })).toMatchObject({
      kind: 'deny',
      code: 'no_pod_matches',
    });
  });
});

describe('a new size of a running batch', () => {
  const batch = aBatch({ size: 20, batch: { replicas: 5, parallelism: 2 } });

  it('may always be smaller', () => {
    expect(decideResize(batch, { replicas: 1, parallelism: 1 }, policy())).toEqual({ kind: 'allow' });
  });

  it('may grow as far as a rule allows without asking, never past its limits', () => {
    expect(decideResize(batch, { replicas: 20 }, policy(narrow))).toEqual({ kind: 'allow' });
    expect(decideResize(batch, { parallelism: 3 }, policy(narrow))).toMatchObject({ code: 'parallelism_not_allowed' });
    expect(
      decideResize(batch, { replicas: 20 }, policy({ ...narrow, batch: { maxPods: 10, maxParallelism: 2 } })),
    ).toMatchObject({ code: 'batch_too_large' });
  });

  it('beyond what was approved needs a new batch', () => {
    expect(decideResize(batch, { replicas: 6 }, policy(wide))).toMatchObject({
      kind: 'deny',
      code: 'resize_needs_approval',
      subject: '5 pods, 2 in parallel, were approved',
    });
    const shrunk = { ...batch, replicas: 2, queueEnd: 2, parallelism: 1 };
    expect(decideResize(shrunk, { replicas: 5, parallelism: 2 }, policy(wide))).toEqual({ kind: 'allow' });
  });
});
