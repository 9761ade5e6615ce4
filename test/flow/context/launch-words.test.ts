import { expect, it } from 'vitest';
import { launchProblem } from '../../../src/flow/context/launch-words.ts';
import { aPod } from '../../support/builders.ts';

it('says what the cluster has against a container, and nothing where the container is in the pod', () => {
  expect(launchProblem({ kind: 'launched', pod: aPod() })).toBeUndefined();
  expect(launchProblem({ kind: 'refused', by: 'validation', message: 'exceeded quota' })).toBe('exceeded quota');
  expect(launchProblem({ kind: 'pod-gone' })).toBe('The pod is gone.');
  expect(launchProblem({ kind: 'pod-replaced' })).toBe('Another pod has that name now.');
  expect(launchProblem({ kind: 'unsupported' })).toContain('no ephemeralcontainers subresource');
});
