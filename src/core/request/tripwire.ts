import { parseDuration, printDuration } from '../../lib/duration.ts';
import type { EnvVar } from '../container/ephemeral-container.ts';
import type { RunRequest } from './command.ts';

/** By convention, the alias of the image that waits beside a container until something happens (docs/blackbox.md). */
export const WAITING_IMAGE = 'blackbox';
/** It waits no longer. */
export const MAX_WAIT_MS = 12 * 3_600_000;

/** The conditions that `watch` waits for, and the dump that it takes then. */
export interface Tripwire {
  /** The conditions in the words of the image: `memory>92%,threads>500`. */
  readonly when: string;
  readonly forMs: number;
  readonly dump?: Dump;
  readonly shots?: number;
}

export const DUMPS = ['stacks', 'summary'] as const;
export type Dump = (typeof DUMPS)[number];

/** The image knows one unit in a time. */
const oneUnit = (ms: number): string =>
  ms % 3_600_000 === 0 ? `${ms / 3_600_000}h` : ms % 60_000 === 0 ? `${ms / 60_000}m` : `${ms / 1_000}s`;

/** The settings of the image. */
export const tripwireEnv = ({ when, forMs, dump, shots }: Tripwire): readonly EnvVar[] => [
  { name: 'BLACKBOX_WHEN', value: when },
  { name: 'BLACKBOX_FOR', value: oneUnit(forMs) },
  ...(dump === undefined ? [] : [{ name: 'BLACKBOX_THEN', value: dump }]),
  ...(shots === undefined ? [] : [{ name: 'BLACKBOX_SHOTS', value: String(shots) }]),
];

/** The conditions of a request, also of one that was typed with its settings. Undefined: it has none, or no duration for them. */
export function tripwireOf({ image, env }: RunRequest): Pick<Tripwire, 'when' | 'forMs'> | undefined {
  const setting = (wanted: string) => env.find(({ name }) => name === wanted)?.value;
  const when = setting('BLACKBOX_WHEN');
  const forMs = parseDuration(setting('BLACKBOX_FOR') ?? '');
  return image === WAITING_IMAGE && when && forMs !== undefined ? { when, forMs } : undefined;
}

/** `Armed for 6h: memory>92%`. */
export const armedWords = ({ when, forMs }: Pick<Tripwire, 'when' | 'forMs'>): string =>
  `Armed for ${printDuration(forMs)}: ${when.replaceAll(',', ' or ')}`;
