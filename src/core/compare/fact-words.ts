import { formatDuration } from '../../lib/duration.ts';
import { FACT_GROUPS, type FactGroup, isHash, type PodFact } from './facts.ts';

const MINUTE_MS = 60_000;

/** One thing in the sick pod and in each sibling; undefined where a pod lacks it. */
export interface Question {
  readonly group: FactGroup;
  readonly name: string;
  readonly sick: PodFact['value'] | undefined;
  readonly others: readonly (PodFact['value'] | undefined)[];
}

export function rangeOf(values: Question['others']): readonly [number, number] {
  const numbers = values.map((value) => Number(value ?? 0));
  return [Math.min(...numbers), Math.max(...numbers)];
}

/** The fact of the sick pod, in words that need no other: `environment variable DB_HOST has another value`. */
export function sickWords({ group, name, sick, others }: Question): string {
  const what = thing(group, name);
  const { how } = FACT_GROUPS[group];
  if (how === 'number') return `${what}: ${amount(group, Number(sick ?? 0))}`;
  if (how === 'presence') return sick === undefined ? `only the siblings: ${others[0]}` : `${sick}`;
  if (sick === undefined) return `${what} is missing`;
  if (others.includes(undefined)) return isHash(sick) ? `${what} is only here` : `${what}: ${sick}`;
  return isHash(sick) ? `${what} has another content` : `${what}: ${sick}`;
}

/** The siblings' fact instead; empty if it is obvious. */
export function othersWords(question: Question): string {
  const { group, sick, others } = question;
  const [value] = others;
  const { how } = FACT_GROUPS[group];
  if (how === 'number') return `others: ${rangeWords(question)}`;
  if (how === 'presence') return '';
  if (isHash(value ?? sick)) return '';
  return value === undefined ? 'not in the others' : `others: ${value}`;
}

/**
 * The facts that are equal in all pods, or within their range: `34 environment variables`, `latency of DNS lookup`.
 * Needs at least one name.
 */
export function equalWords(group: FactGroup, names: readonly string[]): string {
  const { how, isSet, isNamed, one, many } = FACT_GROUPS[group];
  if (isNamed) return names.map((name) => thing(group, name)).join(', ');
  return how === 'number' || !isSet ? many : `${names.length} ${names.length === 1 ? one : many}`;
}

function rangeWords({ group, sick, others }: Question): string {
  const [least, most] = rangeOf(others);
  if (least === most) return amount(group, most);
  return Number(sick ?? 0) > most ? `at most ${amount(group, most)}` : `at least ${amount(group, least)}`;
}

function thing(group: FactGroup, name: string): string {
  return [FACT_GROUPS[group].one, name].filter((word) => word !== '').join(' ');
}

function amount(group: FactGroup, value: number): string {
  const { unit } = FACT_GROUPS[group];
  if (unit === 'min') return value === 0 ? 'under a minute' : formatDuration(value * MINUTE_MS);
  const digits = value.toLocaleString('en-US');
  return unit === undefined ? digits : unit === '%' ? `${digits}%` : `${digits} ${unit}`;
}
