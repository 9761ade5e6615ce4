/** `T` without the keys that may be `undefined`: they become optional. */
export type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** A copy without the keys whose value is `undefined`, which optional properties do not accept. */
export function defined<T extends object>(value: T): Defined<T> {
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value) as (keyof T & string)[]) {
    const item = value[key];
    if (item !== undefined) result[key] = item;
  }
  return result as Defined<T>;
}

/** Any record: no array, not null. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The record's own value under a key from outside; never an inherited one (`constructor` …). */
export const own = <Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;

/** The values of each key, in their order. */
export function grouped<Key, Value>(values: readonly Value[], keyOf: (value: Value) => Key): Map<Key, Value[]> {
  const groups = new Map<Key, Value[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}

/** A deep copy that neither its author nor its readers can change. */
export const frozenCopy = <T>(value: T): T => deepFreeze(structuredClone(value));

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const item of Object.values(value)) deepFreeze(item);
  return Object.freeze(value);
}
