/** A deep copy that neither its author nor its readers can change. */
export const frozenCopy = <T>(value: T): T => deepFreeze(structuredClone(value));

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const item of Object.values(value)) deepFreeze(item);
  return Object.freeze(value);
}
