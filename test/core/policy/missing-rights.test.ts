import { expect, it } from 'vitest';
import { rulesFor } from '../../../src/core/planning/identity.ts';

it('writes each missing right as a rule that a Role takes', () => {
  expect(rulesFor(['patch pods/ephemeralcontainers', 'get pods'])).toEqual([
    '{ apiGroups: [""], resources: [pods/ephemeralcontainers], verbs: [patch] }',
    '{ apiGroups: [""], resources: [pods], verbs: [get] }',
  ]);
});
