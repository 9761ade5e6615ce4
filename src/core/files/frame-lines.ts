import { REPORT_BEGIN } from '../report-marks.ts';
import type { FileProblem } from './run-file.ts';

/** The lines of a frame (docs/diagnostic-images.md, "Files"). */

export type FrameEncoding = 'base64' | 'gzip+base64';

/** The announcement in a begin line. */
export interface FrameHeader {
  /** The name as announced: at most 200 characters, no spaces, or empty. */
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly encoding: FrameEncoding;
  /** It cannot become a file: its begin line is lost or malformed. */
  readonly problem?: Extract<FileProblem, 'incomplete'>;
}

export type FrameLine =
  | { readonly kind: 'begin'; readonly header: FrameHeader }
  /** A begin line that cannot be read. */
  | { readonly kind: 'bad-begin'; readonly name: string | undefined }
  | { readonly kind: 'end'; readonly name: string; readonly lines: number }
  | { readonly kind: 'bad-end' }
  | { readonly kind: 'report' }
  /** Base64 with a number: a frame's, if one is open. `isLong`: or if none is, because no text looks like this. */
  | { readonly kind: 'numbered'; readonly number: number; readonly base64: string; readonly isLong: boolean }
  /** A frame's, but of no use: its begin line is lost, or a lost piece of the log garbled it. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'text' };

/** Images write at most 8,000 characters a line; a longer line than this is no frame's. */
export const MAX_LINE_BYTES = 8_192;
const MAX_MARK_LENGTH = 512;
const BEGIN_START = '-----BEGIN KDEBUG FILE ';
const END_START = '-----END KDEBUG FILE ';
const BEGIN =
  /^-----BEGIN KDEBUG FILE name=(\S{1,200}) bytes=(\d{1,15}) sha256=([0-9a-f]{64}) encoding=(base64|gzip\+base64)-----$/;
const NAMED = / name=(\S{1,200}) /;
const END = /^-----END KDEBUG FILE name=(\S{1,200}) lines=(\d{1,6})-----$/;
const NUMBERED = /^(\d{6}) ([A-Za-z0-9+/]+={0,2})$/;
const CUT_LINE = /^\d{6} [A-Za-z0-9+/=]*$/;
const MIN_LOST_LENGTH = 256;
const LOST = /^\d{6} [A-Za-z0-9+/]{256}/;
/** A rotation may cut a line, so that a log begins in the middle of one. */
const HALF = /^[A-Za-z0-9+/]{256,}={0,2}$/;

const TEXT: FrameLine = { kind: 'text' };

const DASH = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;

/** False is certain: a line of this length that begins with this byte is text. */
export const mayBeFrames = (first: number, length: number): boolean =>
  first === DASH || (first >= ZERO && first <= NINE) || length >= MIN_LOST_LENGTH;

/** Parses a whole line: at most `MAX_LINE_BYTES`, as latin1, without its newline. */
export function readFrameLine(line: string): FrameLine {
  if (!line.startsWith('-')) return numbered(line);
  if (line === REPORT_BEGIN) return { kind: 'report' };
  if (line.length > MAX_MARK_LENGTH) return TEXT;
  if (line.startsWith(BEGIN_START)) return begin(line);
  return line.startsWith(END_START) ? end(line) : TEXT;
}

/** The same for a longer line, of which this is the beginning. */
export const readLongLine = (beginning: string): FrameLine => (LOST.test(beginning) ? { kind: 'lost' } : TEXT);

/** A log may be cut within a line of a frame. */
export const mayBeCut = (line: string): boolean => CUT_LINE.test(line);

function numbered(line: string): FrameLine {
  const [, number, base64 = ''] = NUMBERED.exec(line) ?? [];
  if (HALF.test(line)) return { kind: 'lost' };
  if (number === undefined || base64.length % 4 !== 0) return readLongLine(line);
  return { kind: 'numbered', number: Number(number), base64, isLong: base64.length >= MIN_LOST_LENGTH };
}

function begin(line: string): FrameLine {
  const [, name = '', bytes, sha256 = '', encoding] = BEGIN.exec(line) ?? [];
  if (encoding !== 'base64' && encoding !== 'gzip+base64') return { kind: 'bad-begin', name: NAMED.exec(line)?.[1] };
  return { kind: 'begin', header: { name, bytes: Number(bytes), sha256, encoding } };
}

function end(line: string): FrameLine {
  const [, name, lines] = END.exec(line) ?? [];
  return name === undefined ? { kind: 'bad-end' } : { kind: 'end', name, lines: Number(lines) };
}
