import type { Json, JsonObject } from './pod.ts';

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** JSON text to a value. @throws SyntaxError */
export const parseJson = (text: string): Json => JSON.parse(text);

/** Equal whatever the order of keys. */
export function isSameJson(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([x], [y]) => (x < y ? -1 : 1))) : inner,
  );
}

/** A value as Go prints a map; the API server quotes rejected patches so. */
export function asGoMap(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(asGoMap).join(' ')}]`;
  if (!isObject(value)) return String(value);
  const keys = Object.keys(value).sort();
  return `map[${keys.map((key) => `${key}:${asGoMap(value[key])}`).join(' ')}]`;
}
