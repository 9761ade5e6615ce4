import type { FileHandle } from 'node:fs/promises';
import { type Head, type Link, openRecord } from '../../core/audit/chain.ts';
import { linesOf } from '../../core/audit/lines.ts';
import { MAX_LINE_BYTES } from '../../core/audit/record.ts';
import { ChainVerifier } from '../../core/audit/verify.ts';
import { KdebugError } from '../../core/errors.ts';
import { sha256 } from '../../core/hash.ts';

export interface Recovered {
  /** The last record; undefined in a new file. */
  readonly last: Link | undefined;
  readonly bytes: number;
  /** Size of the whole file. */
  readonly size: number;
  /** The torn line of a dead writer, as it will read with `TORN_END` appended. */
  readonly torn: { readonly hash: string; readonly bytes: number } | undefined;
  /** Records beyond the head: the machine lost the newer head but not them. */
  readonly beyondHead: number;
}

/**
 * Terminates a torn last line. Its space invalidates a complete record without a newline: the writer of that record
 * never got a confirmation.
 */
export const TORN_END = ' \n';
const TORN_MARK = Buffer.from(TORN_END.slice(0, -1));

/**
 * Finds the end of the log by reading only what follows its head. The head vouches for everything before; `npm run
 * audit` checks the whole log.
 * @throws KdebugError audit_unavailable when end and head do not match: somebody changed them
 */
export async function recoverLog(
  log: FileHandle,
  head: Head | 'absent' | 'invalid',
  key: Uint8Array,
): Promise<Recovered> {
  const { size } = await log.stat();
  if (head === 'absent' && size === 0) return { last: undefined, bytes: 0, size, torn: undefined, beyondHead: 0 };
  if (head === 'absent') throw tampered('it has records, but the head beside it is missing');
  if (head === 'invalid')
    throw tampered('the head beside it was changed, or KDEBUG_KEY is not the one it was made with');
  if (size < head.bytes) throw tampered('its end was cut off');
  if (!(await endsAt(log, head, key))) throw tampered('the record before its end is not the one that its head names');
  return { ...(await readRest(log, head, key)), size };
}

async function endsAt(log: FileHandle, { last, bytes }: Head, key: Uint8Array): Promise<boolean> {
  if (last.seq < 0) return bytes === 0;
  const start = Math.max(0, bytes - MAX_LINE_BYTES);
  const { buffer, bytesRead } = await log.read(Buffer.alloc(bytes - start), 0, bytes - start, start);
  const line = buffer.subarray(buffer.lastIndexOf('\n', bytesRead - 2) + 1, bytesRead - 1);
  const opened = openRecord(key, line);
  return opened.kind === 'genuine' && opened.record.mac === last.mac && buffer[bytesRead - 1] === 0x0a;
}

async function readRest(log: FileHandle, head: Head, key: Uint8Array): Promise<Omit<Recovered, 'size'>> {
  const from = head.last.seq < 0 ? {} : { from: head.last };
  const verifier = new ChainVerifier({ key, form: 'file', ...from });
  let bytes = head.bytes;
  let end = bytes;
  let torn: Recovered['torn'];
  for await (const line of linesOf(chunksOf(log, bytes), bytes)) {
    end = line.end;
    if (line.terminated) {
      bytes = end;
      verifier.check(line);
    } else {
      torn = { hash: sha256(Buffer.concat([line.bytes, TORN_MARK])), bytes: line.bytes.length };
    }
  }
  const { defect: wrong, heads, records } = verifier.finish();
  if (wrong && wrong.problem !== 'nothing') throw tampered(`after its head, ${wrong.text}`);
  return { last: heads[0], bytes, torn, beyondHead: end > head.upTo ? records : 0 };
}

const CHUNK_BYTES = 65_536;

async function* chunksOf(log: FileHandle, start: number): AsyncGenerator<Buffer> {
  for (let at = start; ; ) {
    const { bytesRead, buffer } = await log.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

const tampered = (detail: string): KdebugError =>
  new KdebugError('audit_unavailable', {
    detail: `${detail}; keep the log and its .head as evidence under other names, then start again`,
  });
