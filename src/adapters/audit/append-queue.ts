import type { AuditEvent } from '../../core/audit/record.ts';
import { KdebugError } from '../../core/errors.ts';
import type { Log } from '../../flow/ports/machine.ts';

interface Waiting {
  readonly event: AuditEvent;
  readonly resolve: () => void;
  readonly reject: (error: KdebugError) => void;
}

/**
 * More than this are refused. Callers wait for the answer, so the queue is about as long as there are runs in motion.
 */
const MAX_WAITING = 10_000;
/** Events in one write and one flush to the disk. */
const BATCH = 256;

/** Passes events to the writer in order, in batches when many wait. */
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

  /** Events that wait; not those of the write in progress. */
  get length(): number {
    return this.#waiting.length;
  }

  /** @throws KdebugError audit_unavailable */
  append(event: AuditEvent): Promise<void> {
    if (this.#closed || this.#waiting.length >= MAX_WAITING)
      return Promise.reject(new KdebugError('audit_unavailable'));
    const written = new Promise<void>((resolve, reject) => this.#waiting.push({ event, resolve, reject }));
    this.#running ??= this.#run();
    return written;
  }

  /** Refuses new events; resolves when the waiting ones are written or refused. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    // Events of the same turn go into the same batch.
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
      await this.#writer.write(batch.map(({ event }) => event));
      for (const { resolve } of batch) resolve();
      await this.#writer.sync();
      if (this.#failing) this.#log.info('audit log is writable again');
      this.#failing = false;
    } catch (error) {
      for (const { reject } of batch) reject(new KdebugError('audit_unavailable', { cause: error }));
      if (!this.#failing) this.#log.error('could not write audit log', { reason: 'audit_unavailable', error });
      this.#failing = true;
    }
  }
}

/** The destination of records. Calls to its methods never overlap. */
export interface RecordWriter {
  /** The facts about this destination that the first record of a start states. */
  readonly opening: AuditEvent['facts'];
  /**
   * All or none; resolves when the operating system has them. On any error none was written, and the caller may retry.
   */
  write(events: readonly AuditEvent[]): Promise<void>;
  /** Makes the written records survive a power loss. When it fails, nothing can be written any more. */
  sync(): Promise<void>;
  close(): Promise<void>;
}
