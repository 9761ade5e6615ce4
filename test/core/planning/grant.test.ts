import { describe, expect, it } from 'vitest';
import type { Plan } from '../../../src/core/container/plan.ts';
import { covers, type Grant, grantScope, isActive, mayGrant } from '../../../src/core/planning/grant.ts';
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

const inWeb = (parts: Partial<Plan> = {}): Plan =>
  aPlan({ workload: { kind: 'deployment', name: 'web' }, command: ['cat', '/etc/hosts'], ...parts });

describe('covers', () => {
  const grant = aGrant({ scope: grantScope(inWeb()) });

  it.each<[string, Partial<Plan>]>([
    ['the very same', {}],
    ['another pod of the workload', { podName: 'web-2', podUid: 'uid-2', nodeName: 'node-b' }],
    ['another reason', { reason: 'once more' }],
    ['the same profile asked for by its name', { profileAsked: 'restricted' }],
    ['a pod that holds a container more', { observed: { earlierContainers: 3 }, blindSpots: ['nothing'] }],
  ])('%s', (_, parts) => {
    expect(covers(grant, inWeb(parts), 'attach', START_MS)).toBe(true);
  });

  it.each<[string, Partial<Plan>]>([
    ['another person', { requesterId: 'U0EVE' }],
    ['another team', { teamId: 'T0OTHER' }],
    ['another channel', { channelId: 'C0OPS' }],
    ['another cluster', { cluster: 'staging' }],
    ['another namespace', { namespace: 'vault' }],
    ['another workload', { workload: { kind: 'deployment', name: 'web-admin' } }],
    ['another kind of workload', { workload: { kind: 'statefulset', name: 'web' } }],
    ['another target container', { targetContainerName: 'proxy' }],
    ['another image', { image: 'registry.example.com/autodiagnose:2' }],
    ['a worse class', { class: 'intrusive' }],
    ['a milder class', { class: 'observe', profile: 'baseline' }],
    ['another profile', { profile: 'general' }],
    ['another security context', { securityContext: { runAsUser: 0 } }],
    ['another command', { command: ['cat', '/etc/shadow'] }],
    ['the same words cut otherwise', { command: ['cat /etc/hosts'] }],
    ['the words as arguments only', { argumentsOnly: true }],
    ['a variable', { env: [{ name: 'LD_PRELOAD', value: '/tmp/x.so' }] }],
    ['more time', { timeoutMs: 1_800_000 }],
  ])('not %s', (_, parts) => {
    expect(covers(grant, inWeb(parts), 'attach', START_MS)).toBe(false);
  });

  it('not what another rule would hold back', () => {
    expect(covers(grant, inWeb(), 'other', START_MS)).toBe(false);
  });

  it('of a pod that stands alone that very pod', () => {
    expect(covers(aGrant(), aPlan(), 'attach', START_MS)).toBe(true);
    expect(covers(aGrant(), aPlan({ podName: 'web-2', podUid: 'uid-2' }), 'attach', START_MS)).toBe(false);
    expect(covers(aGrant(), aPlan({ podUid: 'uid-2' }), 'attach', START_MS)).toBe(false);
    expect(covers(aGrant(), inWeb({ command: [] }), 'attach', START_MS)).toBe(false);
  });

  it('nothing once it is over, nor by a grant that an older kdebug kept', () => {
    expect(covers(aGrant({ endedBy: 'U0BOB' }), aPlan(), 'attach', START_MS)).toBe(false);
    const { scope: _, ...older } = aGrant();
    expect(covers(older as Grant, aPlan(), 'attach', START_MS)).toBe(false);
  });
});

describe('mayGrant', () => {
  it('only where the rule allows it and one approval is enough', () => {
    expect(mayGrant({ count: 1, grants: 'allowed' })).toBe(true);
    expect(mayGrant({ count: 1, grants: 'denied' })).toBe(false);
    expect(mayGrant({ count: 2, grants: 'allowed' })).toBe(false);
  });
});
