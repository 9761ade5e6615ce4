import type { Container, PodSpec } from '../objects/pod.ts';

interface Violation {
  readonly title: string;
  readonly details: readonly string[];
}

/** One rule of the Pod Security Standards over a pod; `containers` are all of them, in the order of the pod. */
export type Check = (spec: PodSpec, containers: readonly Container[]) => Violation | undefined;

export const quoted = (values: readonly string[]): string => values.map((value) => `"${value}"`).join(', ');

export const plural = (word: string, count: number): string => (count > 1 ? `${word}s` : word);

export const sortedSet = (values: readonly string[]): readonly string[] => [...new Set(values)].sort();

/** `container "a"`, `containers "a", "b"`. */
export const named = (containers: readonly Container[]): string =>
  `${plural('container', containers.length)} ${quoted(containers.map(({ name }) => name))}`;

export function violation(title: string, bad: readonly Container[], rule: string): Violation | undefined {
  return bad.length === 0 ? undefined : { title, details: [`${named(bad)} ${rule}`] };
}
