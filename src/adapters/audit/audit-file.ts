import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import {
  extendChain,
  formatLink,
  HEAD_BYTES,
  type Head,
  headSlot,
  type Link,
  readHead,
} from '../../core/audit/chain.ts';
import type { AuditEvent } from '../../core/audit/record.ts';
import { KdebugError } from '../../core/errors.ts';
import type { Log } from '../../flow/ports/machine.ts';
import type { Clock } from '../../lib/clock.ts';
import type { RecordWriter } from './append-queue.ts';
import { acquireLock, type Lock } from './lock-file.ts';
import { type Recovered, recoverLog, TORN_END } from './recover.ts';

export interface AuditFileOptions {
  readonly path: string;
  readonly key: Uint8Array;
  readonly chain: string;
  readonly log: Log;
  readonly clock: Clock;
}

interface Parts {
  readonly handle: FileHandle;
  readonly head: HeadFile;
  readonly found: Recovered;
}

/**
 * The time between two heads that also go to the program's log, where somebody who owns the file cannot change them.
 */
const HEAD_NOTE_MS = 60_000;

/**
 * A log file with its head and lock beside it (`FILE.head`, `FILE.lock`), all mode 0600. One writer at a time. It stops
 * writing for good once anything else has changed, replaced, rotated or removed the file.
 */
export class AuditFile implements RecordWriter {
  readonly opening: AuditEvent['facts'];
  readonly #options: AuditFileOptions;
  readonly #handle: FileHandle;
  readonly #head: HeadFile;
  #lock: Lock | undefined;
  #link: Link;
  /** Ends of the last record and of the file. A torn line of a dead writer may lie between them. */
  #bytes: number;
  #size: number;
  #last: Link;
  #notedMs = Number.NEGATIVE_INFINITY;
  #broken: Error | undefined;

  private constructor(options: AuditFileOptions, { handle, head, found }: Parts) {
    this.#options = options;
    this.#handle = handle;
    this.#head = head;
    this.#link = { chain: options.chain, seq: -1, mac: found.last?.mac ?? '' };
    this.#last = found.last ?? this.#link;
    this.#bytes = found.bytes;
    this.#size = found.size;
    this.opening = {
      destination: 'file',
      torn: found.torn?.hash,
      tornBytes: found.torn?.bytes,
      beyondHead: found.beyondHead || undefined,
    };
  }

  /** @throws KdebugError audit_unavailable: another writer has it, or it differs from what its last writer left */
  static async open(options: AuditFileOptions): Promise<AuditFile> {
    const { path, key, chain, clock } = options;
    let file: AuditFile | undefined;
    const onLost = (): void => void file?.fail('another process holds the lock of the audit log');
    const lock = await acquireLock(`${path}.lock`, { owner: chain, clock, onLost });
    if ('heldBy' in lock) {
      throw new KdebugError('audit_unavailable', { detail: `${path} is being written by ${lock.heldBy}` });
    }
    const opened: { close(): Promise<void> }[] = [];
    try {
      const handle = await open(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600);
      opened.push(handle);
      await handle.chmod(0o600);
      const head = await HeadFile.open(`${path}.head`, key);
      opened.push(head);
      file = new AuditFile(options, { handle, head, found: await recoverLog(handle, await head.read(), key) });
      file.#lock = lock;
      return file;
    } catch (error) {
      await Promise.allSettled([...opened.map((each) => each.close()), lock.release()]);
      throw error;
    }
  }

  async write(events: readonly AuditEvent[]): Promise<void> {
    if (this.#broken) throw this.#broken;
    await this.#checkUntouched();
    const { lines, link } = extendChain(this.#options.key, this.#link, events);
    const data = Buffer.from(`${this.#size > this.#bytes ? TORN_END : ''}${lines.join('\n')}\n`);
    await this.#head.write({ last: this.#last, bytes: this.#bytes, upTo: this.#size + data.length });
    await this.#append(data);
    this.#link = link;
    this.#last = link;
    this.#size += data.length;
    this.#bytes = this.#size;
  }

  async sync(): Promise<void> {
    // A failed flush may have lost any page, and a second flush would not report it.
    await this.#handle.datasync().catch((error: unknown) => {
      throw this.fail('the audit log could not be flushed to its disk', error);
    });
    await this.#head.write({ last: this.#last, bytes: this.#bytes, upTo: this.#size });
    if (this.#options.clock.elapsed() - this.#notedMs >= HEAD_NOTE_MS) this.#noteHead();
  }

  async close(): Promise<void> {
    this.#noteHead();
    await Promise.allSettled([this.#handle.close(), this.#head.close()]);
    await this.#lock?.release();
  }

  /** Stops all writing. */
  fail(what: string, cause?: unknown): Error {
    this.#broken ??= new Error(what, { cause });
    return this.#broken;
  }

  async #append(data: Buffer): Promise<void> {
    try {
      for (let at = 0; at < data.length; ) at += (await this.#handle.write(data, at)).bytesWritten;
    } catch (error) {
      // The records were not accepted, so remove them.
      await this.#handle.truncate(this.#size).catch((cause: unknown) => {
        throw this.fail('the audit log ends in part of a record that could not be removed', cause);
      });
      throw error;
    }
  }

  async #checkUntouched(): Promise<void> {
    const [there, ours] = await Promise.all([stat(this.#options.path).catch(() => undefined), this.#handle.stat()]);
    const same = there?.ino === ours.ino && there.dev === ours.dev;
    if (!same) throw this.fail('the audit log was removed or replaced while it was being written');
    if (ours.size !== this.#size) throw this.fail('the audit log was changed while it was being written');
  }

  #noteHead(): void {
    this.#notedMs = this.#options.clock.elapsed();
    this.#options.log.info('audit head', { head: formatLink(this.#last) });
  }
}

/** The head beside the log (`core/audit/chain.ts`). The log's lock guarantees one writer. */
export class HeadFile {
  readonly #handle: FileHandle;
  readonly #key: Uint8Array;
  #generation = 0;

  private constructor(handle: FileHandle, key: Uint8Array) {
    this.#handle = handle;
    this.#key = key;
  }

  static async open(path: string, key: Uint8Array): Promise<HeadFile> {
    const handle = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    await handle.chmod(0o600);
    return new HeadFile(handle, key);
  }

  /** `absent`: never written. `invalid`: changed, or written with another key. */
  async read(): Promise<Head | 'absent' | 'invalid'> {
    const { bytesRead, buffer } = await this.#handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const head = readHead(this.#key, buffer.subarray(0, bytesRead));
    this.#generation = head?.generation ?? 0;
    if (head !== undefined) return head;
    return bytesRead === 0 ? 'absent' : 'invalid';
  }

  /** If it fails, the previous head stays. */
  async write(head: Omit<Head, 'generation'>): Promise<void> {
    const generation = this.#generation + 1;
    const { position, text } = headSlot(this.#key, { generation, ...head });
    const { bytesWritten } = await this.#handle.write(text, position);
    if (bytesWritten !== Buffer.byteLength(text)) throw new Error('only part of the head was written');
    this.#generation = generation;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
