import { describe, expect, it } from 'vitest';
import { asChannelId } from '../../../src/core/ids.ts';
import { possibleRuns } from '../../../src/core/planning/possible-runs.ts';
import type { ImageAlias, Policy, Rule } from '../../../src/core/policy/policy.ts';
import { anOrigin, aPod, aPolicy, approvalTerms, aRule } from '../../support/builders.ts';

const CHANNEL = asChannelId('C0SHOP');
const image = (alias: string, parts: Partial<ImageAlias> = {}): ImageAlias => ({
  alias,
  reference: `registry.example.com/${alias}:1`,
  class: 'observe',
  command: 'fixed',
  ...parts,
});

const policyOf = (rules: readonly Rule[], images: readonly ImageAlias[]): Policy =>
  aPolicy({
    approvers: { sre: { users: [anOrigin().requesterId] } },
    channels: { [CHANNEL]: { rules } },
    images: Object.fromEntries(images.map((each) => [each.alias, each])),
  });

const possible = (policy: Policy, pod = aPod(), level: 'privileged' | 'restricted' = 'privileged') =>
  possibleRuns(pod, { origin: anOrigin(), policy, level, cluster: 'prod' });

const ATTACH = aRule({
  id: 'attach',
  classes: ['elevated'],
  profiles: ['sysadmin'],
  approval: approvalTerms({ reason: 'required' }),
});

describe('what a channel may run in a pod', () => {
  it('names the profiles of each rule, and who must approve where the rule says so', () => {
    const look = aRule({ profiles: ['restricted', 'baseline'] });
    expect(possible(policyOf([look, ATTACH], [image('autodiagnose')]))).toEqual({
      kind: 'possible',
      images: [
        {
          alias: 'autodiagnose',
          command: 'any',
          runs: [
            { rule: 'look', profiles: ['baseline', 'restricted'] },
            { rule: 'attach', profiles: ['sysadmin'], approval: approvalTerms({ reason: 'required' }) },
          ],
        },
      ],
      more: 0,
    });
  });

  it('says that a tracer needs its own right', () => {
    const tracer = image('blackbox', { class: 'intrusive', traces: true });
    const rule = aRule({ classes: ['intrusive'], profiles: ['baseline'] });
    expect(possible(policyOf([rule], [tracer]))).toMatchObject({
      images: [{ runs: [], denial: { code: 'tracer_not_allowed', rule: 'look' } }],
    });
    expect(possible(policyOf([{ ...rule, traces: true }], [tracer]))).toMatchObject({ images: [{ runs: [{}] }] });
  });

  it('tells the default command from one’s own only where that makes a difference', () => {
    const free = image('debian', { command: 'allowed' });
    const observing = possible(policyOf([aRule({ profiles: ['baseline'] })], [free]));
    expect(observing).toMatchObject({
      images: [
        { command: 'default', runs: [{ profiles: ['baseline'] }] },
        { command: 'own', runs: [], denial: { code: 'class_not_allowed' } },
      ],
    });
    const both = aRule({ profiles: ['baseline'], classes: ['observe', 'intrusive'] });
    expect(possible(policyOf([both], [free]))).toMatchObject({ images: [{ command: 'any' }] });
  });

  it('names the obstacle of an image that no rule covers', () => {
    expect(possible(policyOf([aRule()], [image('debugger', { class: 'elevated' })]))).toMatchObject({
      images: [{ alias: 'debugger', runs: [], denial: { code: 'class_not_allowed', rule: 'look' } }],
    });
  });

  it('leaves out what the namespace’s Pod Security level refuses', () => {
    const policy = policyOf([aRule({ classes: ['observe', 'elevated'] })], [image('autodiagnose')]);
    expect(possible(policy, aPod(), 'restricted')).toMatchObject({
      images: [{ runs: [{ profiles: ['restricted'] }] }],
    });
  });

  it('is a denial where no debug container can be added at all', () => {
    const policy = policyOf([aRule()], [image('autodiagnose')]);
    expect(possible(policy, aPod({ status: { phase: 'Failed' } }))).toMatchObject({ code: 'pod_finished' });
  });

  it('goes through twelve images at most', () => {
    const images = Array.from({ length: 40 }, (_, index) => image(`tool-${index}`));
    const result = possible(policyOf([aRule()], images));
    expect(result).toMatchObject({ more: 28 });
    expect(result.kind === 'possible' && result.images.length).toBe(12);
  });
});
