import { describe, expect, it } from 'vitest';
import { obstaclesOf } from '../../../src/core/container/obstacles.ts';
import type { Plan } from '../../../src/core/container/plan.ts';
import type { PodContainer } from '../../../src/core/container/pod.ts';
import { aPlan } from '../../support/builders.ts';

const AS_TARGET = { profile: 'restricted', securityContext: { runAsUser: 7, runAsGroup: 7 }, blindSpots: [] } as const;
const BLIND = { ...AS_TARGET, blindSpots: ['its files'] };
const ROOT = {
  profile: 'baseline',
  securityContext: { runAsUser: 0, runAsGroup: 0 },
  blindSpots: ['its files'],
} as const;

const says = (alias: string, plan: Partial<Plan>, parts: Partial<PodContainer> = {}) =>
  obstaclesOf(alias, {
    plan: aPlan({ targetContainerName: 'web', ...plan }),
    target: { name: 'web', image: 'web:1', securityContext: {}, ...parts },
  }).join(' ');

describe.each(['stacks', 'profile'])('%s', (alias) => {
  it('has no obstacle as the target’s own user, nor as root, which becomes that user', () => {
    expect(says(alias, AS_TARGET)).toBe('');
    expect(says(alias, ROOT)).toBe('');
  });

  it.each<[string, Partial<Plan>, Partial<PodContainer>, string]>([
    ['as another user', BLIND, {}, "Its user is not the target's"],
    ['with a JVM that is closed to it', AS_TARGET, { disablesAttach: true }, 'DisableAttachMechanism'],
    ['with a read-only /tmp', AS_TARGET, { hasReadOnlyTmp: true }, 'a JVM cannot be attached to'],
  ])('says beforehand that it cannot work %s', (_, plan, target, words) => {
    expect(says(alias, plan, target)).toContain(words);
  });

  it('says that it needs a target', () => {
    const { targetContainerName: _, ...plan } = aPlan({ ...AS_TARGET, targetContainerName: 'web' });
    expect(obstaclesOf(alias, { plan, target: undefined }).join()).toContain('Without a target container');
  });
});

describe('capture', () => {
  it.each<[Partial<Plan>, boolean]>([
    [{ profile: 'netadmin', securityContext: { runAsUser: 0, runAsGroup: 0 } }, true],
    [ROOT, true],
    [AS_TARGET, false],
    [{ profile: 'netadmin', securityContext: { runAsUser: 65532, runAsGroup: 65532 } }, false],
    [{ profile: 'baseline', securityContext: {} }, false],
  ])('needs root outside of restricted (%#)', (plan, works) => {
    expect(says('capture', plan, { disablesAttach: true }) === '').toBe(works);
  });
});

it('other images have none', () => {
  expect(says('debian', BLIND, { disablesAttach: true, hasReadOnlyTmp: true })).toBe('');
});
