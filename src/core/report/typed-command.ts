import type { Run } from '../run/run.ts';

/** A line of 16,000 characters may have been typed; the card or the record has the whole. */
const LONGEST_COMMAND = 300;

/** What was typed, as far as a line of a message has room: the first line, cut after 300 characters. */
export function typedCommand({ commandLine }: Pick<Run, 'commandLine'>): string {
  const line = commandLine.split('\n', 1)[0] ?? '';
  return `/kdebug ${line.length > LONGEST_COMMAND ? `${line.slice(0, LONGEST_COMMAND)}…` : line}`;
}
