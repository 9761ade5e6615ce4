import { formatBytes, formatCount, printDuration } from '../../../lib/duration.ts';
import { defined } from '../../../lib/object.ts';
import { shorten } from '../../../lib/text.ts';
import { LineSelector, type SelectedLines } from '../../lookup/select-lines.ts';
import type { LogFilter } from '../../request/command.ts';
import type { Run, RunLog } from '../../run/run.ts';
import { COMMAND } from '../../shown-names.ts';
import { heading, message, note, paragraph, preformatted } from '../message/line.ts';
import { code, type Message, person } from '../message/message.ts';
import { linksPart, type Sight } from './run-for-one.ts';

/** Fits into an answer beside its other parts; more goes into a file. */
const SHOWN = { tail: 40, maxBytes: 2_500 };
/** Shown of what is in a file. */
const SHOWN_OF_FILE = 10;
/** For a file. */
const MAX_SELECTED_BYTES = 1024 * 1024;
const MAX_GREP_LENGTH = 60;

/** The lines that were read for one reader, and the reason why there are no more. */
export interface LogReading {
  readonly selected: SelectedLines;
  /** The container still writes. */
  readonly isRunning: boolean;
  /** Only stored lines, which have no times. */
  readonly isStored?: true;
  /** A sentence for each doubt. */
  readonly doubts: readonly string[];
}

export interface ShownReading extends Sight {
  readonly filter: LogFilter;
  readonly reading: LogReading;
  /** The destination of the selected lines as a file; absent: they fit into the answer. */
  readonly file?: 'thread' | 'direct';
}

/** Without a flag, selects as much as an answer shows. */
export const selectionOf = ({ tail, sinceMs, grep }: LogFilter) => {
  const isPlain = tail === undefined && sinceMs === undefined && grep === undefined;
  return isPlain ? SHOWN : { tail: tail ?? Number.MAX_SAFE_INTEGER, maxBytes: MAX_SELECTED_BYTES };
};

/** Lines that are too many for an answer go into a file. */
export const isLong = ({ text: lines, lines: count }: SelectedLines): boolean =>
  count > SHOWN.tail || Buffer.byteLength(lines) > SHOWN.maxBytes;

/** The answer to `logs` with lines read for it: how many there are, the lines, and what may be missing. */
export function logAnswer(run: Run, { filter, reading, links, file }: ShownReading): Message {
  const { selected, isRunning, isStored, doubts } = reading;
  const title = logTitle(selected, isStored ? defined({ grep: filter.grep }) : filter, isRunning);
  const shown = file === undefined ? selected.text : lastLines(selected.text);
  return message({ summary: `Log of run ${run.id}: ${title}`, tone: isRunning ? 'progress' : 'neutral' }, [
    heading(title),
    paragraph`${file && fileWords(selected, file)}`,
    preformatted(shown),
    doubts.map((words) => paragraph`${words}`),
    linksPart(run, { links }),
    note`Run ${run.id} · ${code(`${COMMAND} show ${run.id}`)} shows the run itself`,
  ]);
}

/** `3 of 1,204 lines contain “error”, so far`. */
function logTitle({ lines, matching, total }: SelectedLines, { grep, sinceMs }: LogFilter, isRunning: boolean): string {
  const when = sinceMs === undefined ? '' : ` of the last ${printDuration(sinceMs)}`;
  const soFar = isRunning ? ' so far' : '';
  if (total === 0) return `No output${sinceMs === undefined ? '' : ` in the last ${printDuration(sinceMs)}`}${soFar}`;
  const all = `${formatCount(total, 'line')}${when}`;
  if (grep === undefined) return `${lines === total ? `All ${all}` : `The last ${number(lines)} of ${all}`}${soFar}`;
  const wanted = `“${shorten(grep, MAX_GREP_LENGTH)}”`;
  if (matching === 0) return `None of ${all} contains ${wanted}${soFar}`;
  const last = lines < matching ? `; the last ${number(lines)}` : '';
  return `${number(matching)} of ${all} ${matching === 1 ? 'contains' : 'contain'} ${wanted}${soFar}${last}`;
}

const number = (count: number): string => count.toLocaleString('en-US');

const fileWords = ({ lines, text: all }: SelectedLines, file: 'thread' | 'direct'): string =>
  `${formatCount(lines, 'line')} (${formatBytes(Buffer.byteLength(all))}) are in a file ${file === 'thread' ? 'in this thread' : 'in your direct messages'}. The last of them:`;

function lastLines(all: string): string {
  const selector = new LineSelector({ tail: SHOWN_OF_FILE, maxBytes: SHOWN.maxBytes });
  selector.push(Buffer.from(all));
  return selector.end().text;
}

/** The stored first and last lines, where the log cannot be read again. `--since` has no meaning for them. */
export function storedReading({ head, tail, omittedLines }: RunLog, filter: LogFilter, why: string): LogReading {
  const selector = new LineSelector({ ...selectionOf(filter), ...defined({ grep: filter.grep }) });
  selector.push(Buffer.from(tail === '' ? `${head}\n` : `${head}\n${tail}\n`));
  const left = omittedLines === 0 ? '' : ` ${formatCount(omittedLines, 'line')} between them could not be searched.`;
  const since = filter.sinceMs === undefined ? '' : ' They have no times, so --since was left out.';
  return {
    selected: selector.end(),
    isRunning: false,
    isStored: true,
    doubts: [`${why} These are the first and last lines, as stored with the result.${left}${since}`],
  };
}

/** While a long log is read. */
export const readingMessage = ({ id }: Run): Message =>
  message({ summary: `Reading the log of run ${id}`, tone: 'progress' }, [
    paragraph`Reading the log: it is long. The lines follow in a moment.`,
  ]);

/** Carries the file. */
export function linesFileMessage({ id }: Run, { lines }: SelectedLines, readerId: string): Message {
  const words = `${formatCount(lines, 'line')} of the log of run ${id}`;
  return message({ summary: words, tone: 'neutral' }, [paragraph`${words}, for ${person(readerId)}.`]);
}
