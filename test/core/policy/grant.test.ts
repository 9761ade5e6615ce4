import { describe, expect, it, test } from 'vitest';
import { covers, isActive } from '../../../src/core/policy/grant.ts';
import { aGrant, aPlan, START_MS } from '../../support/builders.ts';

const use = { runId: 'bbbbbbbbbb', userId: 'U0ROY', atMs: START_MS };

describe('isActive', () => {
  it('holds until its time is over, its runs are used, or somebody ends it', () => {
    expect(isActive(aGrant(), START_MS)).toBe(true);
    expect(isActive(aGrant({ expiresAtMs: START_MS }), START_MS)).toBe(false);
    expect(isActive(aGrant({ expiresAtMs: START_MS + 1 }), START_MS)).toBe(true);
    expect(isActive(aGrant({ maxRuns: 1 }), START_MS)).toBe(true);
    expect(isActive(aGrant({ maxRuns: 1, uses: [use] }), START_MS)).toBe(false);
    expect(isActive(aGrant({ endedBy: 'U0BOB' }), START_MS)).toBe(false);
  });
});

describe('covers', () => {
  it('the same of the same class, and anything that only observes', () => {
    expect(covers(aGrant(), aPlan(), 'attach', START_MS)).toBe(true);
    const elevated = aGrant({ class: 'elevated', profile: 'sysadmin' });
    expect(covers(elevated, aPlan({ class: 'elevated', profile: 'sysadmin' }), 'attach', START_MS)).toBe(true);
    expect(covers(elevated, aPlan({ class: 'intrusive', profile: 'sysadmin' }), 'attach', START_MS)).toBe(true);
    expect(covers(elevated, aPlan({ class: 'observe', profile: 'sysadmin' }), 'attach', START_MS)).toBe(true);
  });

  test.each([
    ['another rule', aPlan(), 'other'],
    ['another channel', aPlan({ channelId: 'C0OPS' }), 'attach'],
    ['another cluster', aPlan({ cluster: 'staging' }), 'attach'],
    ['another namespace', aPlan({ namespace: 'vault' }), 'attach'],
    ['a worse class', aPlan({ class: 'intrusive' }), 'attach'],
    ['another profile', aPlan({ profile: 'general' }), 'attach'],
  ] as const)('not %s', (_, plan, rule) => {
    expect(covers(aGrant(), plan, rule, START_MS)).toBe(false);
  });

  it('nothing once it is over', () => {
    expect(covers(aGrant({ endedBy: 'U0BOB' }), aPlan(), 'attach', START_MS)).toBe(false);
  });
});
