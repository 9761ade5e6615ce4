import type { AuditEvent } from '../../core/audit/record.ts';
import { KdebugError } from '../../core/errors.ts';
import type { Log } from '../../flow/ports/machine.ts';

interface Waiting {
  readonly happening: AuditEvent;
  readonly resolve: () => void;
  readonly reject: (error: KdebugError) => void;
}

/** More than this are refused: whoever records waits for the answer, so there are about as many as runs in motion. */
const MAX_WAITING = 10_000;
/** In one writing and one flush to the disk. */
const BATCH = 256;

/** Gives happenings to the writer in the order they came, many at a time when many wait. */
export class AppendQueue {
  readonly #writer: RecordWriter;
  readonly #log: Log;
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;
  #closed = false;
  #failing = false;

  constructor(writer: RecordWriter, log: Log) {
    this.#writer = writer;
    this.#log = log;
  }

  /** @throws KdebugError audit_unavailable */
  append(happening: AuditEvent): Promise<void> {
    if (this.#closed || this.#waiting.length >= MAX_WAITING)
      return Promise.reject(new KdebugError('audit_unavailable'));
    const written = new Promise<void>((resolve, reject) => this.#waiting.push({ happening, resolve, reject }));
    this.#running ??= this.#run();
    return written;
  }

  /** Takes nothing more; resolves when what waits was written or refused. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    // What comes in the same turn goes in the same batch.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      this.#waiting = this.#waiting.slice(BATCH);
      await this.#write(batch);
    }
    this.#running = undefined;
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    try {
      await this.#writer.write(batch.map(({ happening }) => happening));
      for (const { resolve } of batch) resolve();
      await this.#writer.sync();
      if (this.#failing) this.#log.info('the audit log can be written again');
      this.#failing = false;
    } catch (error) {
      for (const { reject } of batch) reject(new KdebugError('audit_unavailable', { cause: error }));
      if (!this.#failing) this.#log.error('the audit log cannot be written', { reason: 'audit_unavailable', error });
      this.#failing = true;
    }
  }
}

/** One place that records go to. Its methods are called one after the other, never at the same time. */
export interface RecordWriter {
  /** What the first record of a start says of this place. */
  readonly opening: AuditEvent['facts'];
  /** All of them or none; resolves when the operating system has them. Any error: none, and they may be given again. */
  write(happenings: readonly AuditEvent[]): Promise<void>;
  /** Sees that what was written survives a loss of power. Fails when that cannot be known; then nothing can be written any more. */
  sync(): Promise<void>;
  close(): Promise<void>;
}
