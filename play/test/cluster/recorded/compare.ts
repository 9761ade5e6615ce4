import { isObject, type Json } from './json.ts';

/** One field that is not the same on both sides. */
export interface Difference {
  /** `scenario / step / key.key[0]`. */
  readonly path: string;
  /** Undefined: not there. */
  readonly recorded: Json | undefined;
  readonly local: Json | undefined;
}

/** All fields in which two values differ; lists are compared place by place. */
export function differencesOf(
  path: string,
  recorded: Json | undefined,
  local: Json | undefined,
): readonly Difference[] {
  if (Array.isArray(recorded) && Array.isArray(local)) {
    const length = Math.max(recorded.length, local.length);
    return Array.from({ length }, (_, i) => differencesOf(`${path}[${i}]`, recorded[i], local[i])).flat();
  }
  if (isObject(recorded) && isObject(local)) {
    const keys = [...new Set([...Object.keys(recorded), ...Object.keys(local)])];
    return keys.flatMap((key) => differencesOf(`${path}.${key}`, recorded[key], local[key]));
  }
  return recorded === local ? [] : [{ path, recorded, local }];
}

export function told({ path, recorded, local }: Difference): string {
  const value = (each: Json | undefined) => (each === undefined ? '(nothing)' : JSON.stringify(each));
  return `${path}\n  recorded  ${value(recorded)}\n  local     ${value(local)}`;
}
