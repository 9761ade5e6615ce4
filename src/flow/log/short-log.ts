import type { ReadLog } from './logs.ts';

/** The dump of all threads of a program that dies at its start is far shorter. */
const MAX_BYTES = 1024 * 1024;

/**
 * A log of at most 1 MiB whole, of a longer one the end: a dump of many threads begins with the reason, more than 16 KiB
 * before its last line. Never rejects.
 */
export async function shortLog({
  log,
  end,
  spool,
}: Pick<ReadLog, 'end' | 'spool'> & { log: { bytes: number } }): Promise<string> {
  if (log.bytes > MAX_BYTES || log.bytes <= Buffer.byteLength(end)) return end;
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of spool.read()) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  } catch {
    return end;
  }
}
