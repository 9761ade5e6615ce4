import { describe, expect, test } from 'vitest';
import type { SecurityContext } from '../../../src/core/container/ephemeral-container.ts';
import { PROFILES, type Profile, securityContextOf } from '../../../src/core/container/profiles.ts';
import { effectiveClass, worseClass } from '../../../src/core/policy/effective-class.ts';
import { IMAGE_CLASSES, type ImageClass } from '../../../src/core/policy/policy.ts';
import { aPlan } from '../../support/builders.ts';

const classOf = (profile: Profile, context: SecurityContext | undefined, named: readonly Profile[]) =>
  effectiveClass(aPlan({ profile, ...(context && { securityContext: context }) }), 'observe', named);

describe('the class of a plan', () => {
  test.each<[ImageClass, ImageClass, ImageClass]>([
    ['observe', 'observe', 'observe'],
    ['observe', 'intrusive', 'intrusive'],
    ['elevated', 'intrusive', 'elevated'],
  ])('of %s and %s the worse is %s, in either order', (a, b, worse) => {
    expect([worseClass(a, b), worseClass(b, a)]).toEqual([worse, worse]);
  });

  test.each(IMAGE_CLASSES)('is never less than its alias says (%s)', (alias) => {
    const securityContext = securityContextOf('restricted');
    expect(effectiveClass(aPlan({ ...(securityContext && { securityContext }) }), alias, ['restricted'])).toBe(alias);
  });

  test.each(PROFILES)('is not raised by what the profile %s brings, when the rule names it', (profile) => {
    expect(classOf(profile, securityContextOf(profile), [profile])).toBe('observe');
  });

  test.each<[Profile, ImageClass]>([
    ['baseline', 'observe'],
    ['restricted', 'observe'],
    ['general', 'elevated'],
    ['netadmin', 'elevated'],
    ['sysadmin', 'elevated'],
  ])('of the profile %s is %s when the rule does not name it', (profile, expected) => {
    expect(classOf(profile, securityContextOf(profile), [])).toBe(expected);
  });
});

describe('more power than the named profile brings is elevated', () => {
  const restricted = securityContextOf('restricted');

  test.each<[string, Profile, SecurityContext | undefined]>([
    ['privilege', 'general', { privileged: true }],
    ['another capability', 'general', { capabilities: { add: ['SYS_PTRACE', 'NET_ADMIN'] } }],
    ['a capability where there should be none', 'baseline', { capabilities: { add: ['SYS_PTRACE'] } }],
    ['no restriction at all', 'restricted', undefined],
    ['capabilities that were not dropped', 'restricted', { ...restricted, capabilities: {} }],
    ['privilege escalation', 'restricted', { ...restricted, allowPrivilegeEscalation: true }],
    ['perhaps root', 'restricted', { ...restricted, runAsNonRoot: false }],
    ['root', 'restricted', { ...restricted, runAsUser: 0 }],
  ])('%s (%s)', (_, profile, context) => {
    expect(classOf(profile, context, [profile])).toBe('elevated');
  });

  test('a user of its own takes nothing from restricted', () => {
    expect(classOf('restricted', { ...restricted, runAsUser: 1000, runAsGroup: 0 }, ['restricted'])).toBe('observe');
  });
});
