import { MAX_LINE_BYTES } from './record.ts';

export interface Line {
  /** Without its newline; only the beginning if the line is longer than any record. */
  readonly bytes: Buffer;
  /** The end of the line in the file, newline included. */
  readonly end: number;
  readonly terminated: boolean;
}

const NEWLINE = 0x0a;

/** Splits at newlines only, with at most one line in memory. `start`: where the chunks begin in the file. */
export async function* linesOf(chunks: AsyncIterable<Buffer>, start = 0): AsyncGenerator<Line> {
  let begun: Buffer = Buffer.alloc(0);
  let end = start;
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      end += at + 1 - from;
      yield { bytes: joined(begun, chunk.subarray(from, at)), end, terminated: true };
      begun = Buffer.alloc(0);
      from = at + 1;
    }
    end += chunk.length - from;
    begun = joined(begun, chunk.subarray(from));
  }
  if (begun.length > 0) yield { bytes: begun, end, terminated: false };
}

function joined(begun: Buffer, more: Buffer): Buffer {
  const room = MAX_LINE_BYTES + 1 - begun.length;
  if (begun.length === 0) return more.subarray(0, room);
  return room === 0 || more.length === 0 ? begun : Buffer.concat([begun, more.subarray(0, room)]);
}

const MESSAGE = ',"message":"audit","audit":';
/** No other line of the log contains it, because quotes within texts are escaped. */
const MARK = '"audit":{"v":1,';
const FORM =
  /^\{"level":"info","time":"([^"]+)","message":"audit","audit":(\{"v":1,"chain":"[^"]+","seq":\d+,"at":"([^"]+)",.*\})\}$/s;

/** A record as a line of kdebug's own log. */
export const toLogLine = (record: string, at: string): string => `{"level":"info","time":"${at}"${MESSAGE}${record}}`;

/** The record in a line of kdebug's log; undefined for any other line, `broken` for a damaged record. */
export function fromLogLine(line: Buffer): Buffer | 'broken' | undefined {
  if (!line.includes(MARK)) return undefined;
  if (line.length > MAX_LINE_BYTES) return 'broken';
  const [, time, record, at] = FORM.exec(line.toString('latin1')) ?? [];
  return record !== undefined && time === at ? Buffer.from(record, 'latin1') : 'broken';
}
