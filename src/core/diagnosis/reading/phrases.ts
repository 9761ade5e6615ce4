import { formatDuration } from '../../../lib/duration.ts';
import { inMarks } from '../../../lib/text.ts';
import type { ContainerTermination } from '../../container/pod.ts';
import { foreignLine } from '../../redact/clean-text.ts';
import { redactText } from '../../redact/redact-text.ts';

/** A duration in whole seconds: `under a second`, `3 s`, `2 min 5 s`. */
export function spanOf(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 1) return 'under a second';
  return seconds < 10 ? `${seconds} s` : formatDuration(ms);
}

/** `12 s ago`. */
export const ago = (ms: number): string => (Number.isFinite(ms) ? `${spanOf(ms)} ago` : 'at an unknown time');

/** Ids of containers, images and sandboxes: nobody can use them in Slack. A digest is known by its first letters. */
const LONG_ID = /\b(?:(sha256:[0-9a-f]{12})[0-9a-f]{52}|[0-9a-f]{64})\b/g;
const MAX_WORDS = 190;

/** Words of a cluster or a program in one clean, bounded line, without long ids and without what looks like a secret. */
export const cleanWords = (words: string, length = MAX_WORDS): string =>
  foreignLine(redactText(words.slice(0, 4_096), []).replace(LONG_ID, '$1…'), length);

/** The same in quotation marks; empty words stay empty. */
export function quoted(words: string, length = MAX_WORDS): string {
  const clean = cleanWords(words, length);
  return clean === '' ? '' : inMarks(clean);
}

/** Exit codes that say more than their number (bash(1), EXIT STATUS; signal(7)). */
const EXIT_WORDS: Readonly<Record<number, string>> = {
  126: 'its command may not be executed',
  127: 'its command was not found',
  134: 'it aborted',
  137: 'it was killed',
  139: 'it crashed with a segmentation fault',
  143: 'it was asked to end',
};

/** `exited with code 127 (its command was not found)`. */
export function exitWords({ exitCode }: Pick<ContainerTermination, 'exitCode'>): string {
  const words = EXIT_WORDS[exitCode];
  return `exited with code ${exitCode}${words === undefined ? '' : ` (${words})`}`;
}

/** Of a program that a signal ended: ` (it aborted)`. Other codes are the program's own. */
export function signalWords({ exitCode }: Pick<ContainerTermination, 'exitCode'>): string {
  const words = exitCode > 128 ? EXIT_WORDS[exitCode] : undefined;
  return words === undefined ? '' : ` (${words})`;
}

/** `a`, `a and b`, `a, b and c`. */
export const listed = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
