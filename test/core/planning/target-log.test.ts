import { describe, expect, it } from 'vitest';
import { asChannelId } from '../../../src/core/ids.ts';
import { targetLogOf } from '../../../src/core/planning/target-log.ts';
import type { Rule } from '../../../src/core/policy/policy.ts';
import { aPolicy, aRule } from '../../support/builders.ts';

const CHANNEL = 'C0SHOP';
const SHOP = { cluster: 'prod', namespace: 'shop' };

const rightOf = (rules: readonly Partial<Rule>[], { isShared = false, subject = SHOP, channelId = CHANNEL } = {}) => {
  const all = rules.map((parts) => aRule({ clusters: ['prod'], namespaces: ['shop'], ...parts }));
  const policy = aPolicy({ channels: { [asChannelId(CHANNEL)]: { rules: all } } });
  return targetLogOf(policy, { channelId }, subject, { isShared });
};

describe('what a diagnosis may read of the log of a pod', () => {
  it('is the lines that say what is wrong, where a rule does not say', () => {
    expect(rightOf([{}])).toBe('errors');
  });

  it('is nothing in a channel of another company too, unless the rule says so', () => {
    expect(rightOf([{}], { isShared: true })).toBe('none');
    expect(rightOf([{ targetLog: 'errors' }], { isShared: true })).toBe('errors');
    expect(rightOf([{ targetLog: 'tail' }, {}], { isShared: true })).toBe('tail');
  });

  it('is the widest that a rule for this cluster and namespace gives', () => {
    expect(rightOf([{ targetLog: 'none' }, { targetLog: 'tail' }, { targetLog: 'errors' }])).toBe('tail');
    expect(rightOf([{ targetLog: 'none' }])).toBe('none');
  });

  it('is what a rule says, before the default of a rule that is silent', () => {
    expect(rightOf([{ targetLog: 'none' }, {}])).toBe('none');
    expect(rightOf([{}, { targetLog: 'tail' }])).toBe('tail');
    expect(rightOf([{ targetLog: 'none' }, {}], { isShared: true })).toBe('none');
  });

  it('is not what a rule gives that matches nothing', () => {
    expect(rightOf([{ classes: [], targetLog: 'tail' }])).toBe('none');
    expect(rightOf([{ profiles: [] }])).toBe('none');
  });

  it('is not what a rule for another cluster or namespace gives', () => {
    const elsewhere = [
      { namespaces: ['web'], targetLog: 'tail' as const },
      { clusters: ['eu'], targetLog: 'tail' as const },
    ];
    expect(rightOf([{ targetLog: 'none' }, ...elsewhere])).toBe('none');
    expect(rightOf(elsewhere)).toBe('none');
    expect(rightOf([{ namespaces: ['sh*'], targetLog: 'tail' }])).toBe('tail');
  });

  it('is nothing in a channel that the policy does not name', () => {
    expect(rightOf([{ targetLog: 'tail' }], { channelId: 'C0OTHER' })).toBe('none');
  });
});
