import { expect, it } from 'vitest';
import { Launches } from '../../../src/adapters/kubernetes/launch.ts';

const at = { ms: 10_400 };
const launches = () => new Launches({ earliest: () => at.ms });

it('a container cannot have started before it was asked for', () => {
  const known = launches();
  known.note('a');
  expect(known.earliestStart('a', 10_000)).toBe(10_400);
  expect(known.earliestStart('a', 11_000)).toBe(11_000);
  expect(known.earliestStart('b', 10_000)).toBe(10_000);
});

it('only the first asking counts, and none that came after the start', () => {
  const known = launches();
  known.note('a');
  at.ms = 30_000;
  known.note('a');
  known.note('late');
  expect(known.earliestStart('a', 10_000)).toBe(10_400);
  expect(known.earliestStart('late', 10_000)).toBe(10_000);
});
