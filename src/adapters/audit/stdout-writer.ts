import { writeSync } from 'node:fs';
import { extendChain, type Link } from '../../core/audit/chain.ts';
import { toLogLine } from '../../core/audit/lines.ts';
import type { AuditEvent } from '../../core/audit/record.ts';
import type { RecordWriter } from './append-queue.ts';

export interface StdoutWriterOptions {
  readonly key: Uint8Array;
  readonly chain: string;
  /** Takes whole lines; the default writes to standard output. Throws when it cannot, and then none was written. */
  readonly write?: ((text: string) => void) | undefined;
}

const STDOUT = 1;
const FULL_PIPE_WAIT = new Int32Array(new SharedArrayBuffer(4));

/** At once, like the lines of the log beside it: a line that was begun must be ended before any other, so a full pipe is waited for. */
function writeToStdout(text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(STDOUT, rest));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
      Atomics.wait(FULL_PIPE_WAIT, 0, 0, 10);
    }
  }
}

/** Records as lines of the own log, whatever its level. Where they go from there, and whether they arrive, nobody here can see. */
export class StdoutWriter implements RecordWriter {
  readonly opening: AuditEvent['facts'] = { destination: 'stdout' };
  readonly #key: Uint8Array;
  readonly #write: (text: string) => void;
  #link: Link;

  constructor({ key, chain, write = writeToStdout }: StdoutWriterOptions) {
    this.#key = key;
    this.#link = { chain, seq: -1, mac: '' };
    this.#write = write;
  }

  async write(happenings: readonly AuditEvent[]): Promise<void> {
    const { lines, link } = extendChain(this.#key, this.#link, happenings);
    const times = happenings.map(({ atMs }) => new Date(atMs).toISOString());
    this.#write(lines.map((line, index) => `${toLogLine(line, times[index] ?? '')}\n`).join(''));
    this.#link = link;
  }

  async sync(): Promise<void> {}

  async close(): Promise<void> {}
}
