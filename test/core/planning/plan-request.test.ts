import { describe, expect, it } from 'vitest';
import { asChannelId } from '../../../src/core/ids.ts';
import { aimOf, kindToLookUp, planRequest } from '../../../src/core/planning/plan-request.ts';
import { anOrigin, aPod, aPolicy, aRequest, aRule } from '../../support/builders.ts';

const policy = aPolicy();
const origin = anOrigin();

function planned(pod = aPod(), parts: Parameters<typeof aPolicy>[0] = {}, size?: Parameters<typeof planRequest>[2]) {
  const own = aPolicy(parts);
  const aim = aimOf(aRequest(), origin, own);
  if (aim.kind === 'deny') throw new Error(aim.code);
  return planRequest(pod, { request: aRequest(), origin, policy: own, aim, level: 'privileged' }, size);
}

describe('the aim of a request', () => {
  it('is a cluster, a namespace and an image, by the policy alone', () => {
    expect(aimOf(aRequest(), origin, policy)).toMatchObject({ kind: 'aim', namespace: expect.any(String) });
  });

  it.each([
    ['a namespace that no rule names', aRequest({ namespace: 'vault' }), {}, 'namespace_not_allowed'],
    ['an image outside the catalogue', aRequest({ image: 'nope' }), {}, 'image_not_allowed'],
    [
      'a person whom the policy does not map',
      aRequest(),
      { identity: { mode: 'serviceAccount', users: {}, unmapped: 'deny' } } as const,
      'identity_unmapped',
    ],
  ])('is denied for %s', (_, request, parts, code) => {
    expect(aimOf(request, origin, aPolicy(parts))).toMatchObject({ kind: 'deny', code });
  });

  it('names the word that was probably meant', () => {
    expect(
      aimOf(aRequest({ cluster: 'prdo' }), origin, aPolicy({ clusters: { prod: { inCluster: true, default: true } } })),
    ).toMatchObject({ code: 'cluster_unknown', subject: 'prdo (did you mean prod?)' });
  });
});

describe('planning one pod', () => {
  it('yields the plan and the decision on it', () => {
    expect(planned()).toMatchObject({ kind: 'planned', plan: { podName: 'web-1' }, decision: { kind: 'allow' } });
  });

  it('is denied for a pod that cannot be debugged', () => {
    expect(planned(aPod({ status: { phase: 'Succeeded' } }))).toMatchObject({ kind: 'deny', code: 'pod_finished' });
  });

  it('decides on as many pods at the same time as a batch has', () => {
    const rule = aRule({ batch: { maxPods: 50, maxParallelism: 2 } });
    const channels = { [asChannelId('C0SHOP')]: { rules: [rule] } };
    const decisionFor = (parallelism: number) => planned(aPod(), { channels }, { pods: 9, parallelism });
    expect(decisionFor(2)).toMatchObject({ decision: { kind: 'allow' } });
    expect(decisionFor(3)).toMatchObject({ decision: { kind: 'deny', code: 'parallelism_not_allowed' } });
  });
});

it('looks up no learnt user where there is no target', () => {
  expect(kindToLookUp(aPod(), aRequest({ targetContainer: { kind: 'none' } }), 'prod')).toBeUndefined();
});
