import type { Run } from '../../core/run/run.ts';

/** A frozen copy of its own: neither who gave it nor who reads it can change what is stored. */
export const frozenCopy = (run: Run): Run => deepFreeze(structuredClone(run));

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const item of Object.values(value)) deepFreeze(item);
  return Object.freeze(value);
}
