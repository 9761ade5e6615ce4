import { writeSync } from 'node:fs';
import { extendChain, type Link } from '../../core/audit/chain.ts';
import { toLogLine } from '../../core/audit/lines.ts';
import type { AuditEvent } from '../../core/audit/record.ts';
import type { RecordWriter } from './append-queue.ts';

export interface StdoutWriterOptions {
  readonly key: Uint8Array;
  readonly chain: string;
  /** Gets whole lines; the default writes to standard output. When it throws, none was written. */
  readonly write?: ((text: string) => void) | undefined;
}

const STDOUT = 1;
const FULL_PIPE_WAIT = new Int32Array(new SharedArrayBuffer(4));

/** Synchronous, like the log on the same pipe, and waits while it is full: no line may split another. */
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

/**
 * Writes records as lines of the program's log, at any log level. It cannot see where they go or whether they arrive.
 */
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

  async write(events: readonly AuditEvent[]): Promise<void> {
    const { lines, link } = extendChain(this.#key, this.#link, events);
    const times = events.map(({ atMs }) => new Date(atMs).toISOString());
    this.#write(lines.map((line, index) => `${toLogLine(line, times[index] ?? '')}\n`).join(''));
    this.#link = link;
  }

  async sync(): Promise<void> {}

  async close(): Promise<void> {}
}
