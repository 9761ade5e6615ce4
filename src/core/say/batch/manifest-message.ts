import { formatCount } from '../../../lib/duration.ts';
import { shorten } from '../../../lib/text.ts';
import { REASONS } from '../../errors.ts';
import type { RunId } from '../../ids.ts';
import type { ManifestProblem } from '../../job/ephemeral-job.ts';
import { CODE_LINE_LENGTH } from '../../line-lengths.ts';
import { COMMAND } from '../../shown-names.ts';
import { list, message, note, paragraph, preformatted, line as written } from '../message/line.ts';
import { code, type Message, type Span, strong } from '../message/message.ts';

const MAX_PROBLEMS = 10;
const MAX_MESSAGE_LENGTH = 300;

/** The problems of a pasted job, each with its line and column, the first one with a caret. */
export function manifestProblemsMessage(problems: readonly ManifestProblem[], yaml: string): Message {
  const { title, hint } = REASONS.manifest_invalid;
  const more = problems.length - MAX_PROBLEMS;
  const [first] = problems;
  const summary = `Not started: ${title} (${formatCount(problems.length, 'problem')})`;
  return message({ summary, tone: 'failure', code: 'manifest_invalid' }, [
    paragraph`${strong('Not started: ')}${title}.`,
    list([...problems.slice(0, MAX_PROBLEMS).map(problemSpans), more > 0 && `and ${more} more`]),
    first && preformatted(caretAt(first, yaml)),
    paragraph`${hint}`,
  ]);
}

const problemSpans = ({ line, column, message: what }: ManifestProblem): readonly Span[] =>
  written`${strong(`${line}:${column} `)}${shorten(what, MAX_MESSAGE_LENGTH)}`;

/** The line with a caret under the column; of a long line, the part around it. */
function caretAt({ line, column }: ManifestProblem, yaml: string): string {
  const whole = (yaml.split('\n', line)[line - 1] ?? '').replaceAll('\t', ' ');
  const from = Math.max(0, column - 1 - CODE_LINE_LENGTH / 2);
  return `${whole.slice(from, from + CODE_LINE_LENGTH)}\n${' '.repeat(column - 1 - from)}^`;
}

/** Slack shows about this much beside a field. */
const MAX_BESIDE_LENGTH = 300;

/** The problems as text beside a form's field: as many as fit, at least the first, and the number of the others. */
export function fieldProblems(problems: readonly ManifestProblem[]): string {
  const lines = problems.map(({ line, column, message }) => `${line}:${column} ${message}`);
  for (let shown = lines.length; ; shown -= 1) {
    const more = shown < lines.length ? `\nand ${lines.length - shown} more` : '';
    const text = lines.slice(0, shown).join('\n');
    if (text.length + more.length <= MAX_BESIDE_LENGTH) return text + more;
    if (shown <= 1) return `${text.slice(0, MAX_BESIDE_LENGTH - more.length - 1)}…${more}`;
  }
}

/** Confirms an applied job, with notes on the fields that kdebug interprets differently. */
export const appliedMessage = (jobName: string, notes: readonly string[]): Message =>
  message({ tone: 'neutral' }, [
    paragraph`Applied ${code(jobName)}: its card appears below your message, or in the channel.`,
    list(notes),
  ]);

/** In characters: what one code block of a message can hold (Slack: 3,000 a text). */
export const MAX_SHOWN_LENGTH = 2_900;

/** A batch as an EphemeralJob, to copy. */
export const exportMessage = (id: RunId, yaml: string): Message =>
  message({ tone: 'neutral' }, [
    paragraph`${strong(`Batch ${id} as an EphemeralJob`)}`,
    preformatted(yaml),
    note`To run it again: ${code(`${COMMAND} apply`)} opens a form; or paste it in a code block after it.`,
  ]);

export const exportedAsFileMessage = (id: RunId): Message =>
  message({ tone: 'neutral' }, [paragraph`Batch ${id} is too long to show here: it is sent as a file by DM.`]);

/** The message that carries the exported file. */
export function exportedFileMessage(id: RunId): Message {
  const summary = `Batch ${id} as an EphemeralJob`;
  return message({ summary, tone: 'neutral' }, [
    paragraph`${summary}. To run it again, paste it in a code block under ${code(`${COMMAND} apply`)}.`,
  ]);
}
