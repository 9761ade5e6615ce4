/** A deep copy that nobody can change: neither who gave it nor who reads it. */
export const frozenCopy = <T>(value: T): T => deepFreeze(structuredClone(value));

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const item of Object.values(value)) deepFreeze(item);
  return Object.freeze(value);
}
