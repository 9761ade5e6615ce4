import { LONGEST_LINE_BYTES } from './record.ts';

const MESSAGE = ',"message":"audit","audit":';
/** Stands in no other line of the log: quotes within texts are escaped. */
const MARK = '"audit":{"v":1,';
const FORM =
  /^\{"level":"info","time":"([^"]+)","message":"audit","audit":(\{"v":1,"chain":"[^"]+","seq":\d+,"at":"([^"]+)",.*\})\}$/s;

/** A record as a line of kdebug's own log. */
export const toLogLine = (record: string, at: string): string => `{"level":"info","time":"${at}"${MESSAGE}${record}}`;

/** The record in a line of the own log; undefined for a line about something else, `broken` when it was one. */
export function fromLogLine(line: Buffer): Buffer | 'broken' | undefined {
  if (!line.includes(MARK)) return undefined;
  if (line.length > LONGEST_LINE_BYTES) return 'broken';
  const [, time, record, at] = FORM.exec(line.toString('latin1')) ?? [];
  return record !== undefined && time === at ? Buffer.from(record, 'latin1') : 'broken';
}
