import { KdebugError } from '../../core/errors.ts';
import { sha256Stream } from '../../core/hash.ts';
import type { Spool } from '../../flow/ports/machine.ts';

/** The part of node's FileHandle that a spool needs. */
export interface SpoolFile {
  write(data: Uint8Array, offset: number, length: number, position: number): Promise<{ readonly bytesWritten: number }>;
  read(into: Buffer, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>;
  close(): Promise<void>;
}

/** Limits the bytes of all spools together. */
export interface Budget {
  /** Reserves the bytes; false when there is no room. */
  reserve(bytes: number): boolean;
  giveBack(bytes: number): void;
}

/** Least bytes of a write to the file, and most of a piece of `read`. */
const BLOCK_BYTES = 64 * 1024;
const FIRST_BYTES = 1_024;

/**
 * Gathers small writes into blocks and opens its file with the first full one. One writer, which leaves a chunk
 * unchanged until its promise settles; any number of readers after `finish`. Memory: one block, plus the writes that
 * the caller does not await. After an error it refuses writes; what reached the file stays readable, and `bytes` counts
 * only that.
 */
export class FileSpool implements Spool {
  readonly #openFile: () => Promise<SpoolFile>;
  readonly #budget: Budget;
  #block = Buffer.alloc(0);
  #blockUsed = 0;
  #file: SpoolFile | undefined;
  #inFile = 0;
  readonly #hash = sha256Stream();
  #sha256: string | undefined;
  #reserved = 0;
  #writing: Promise<void> | undefined;
  #failure: KdebugError | undefined;
  #state: 'open' | 'finished' | 'removed' = 'open';

  readonly #onEnd: (failure?: KdebugError) => void;
  #hasEnded = false;

  /** `onEnd` is called once at most: with the first failure, or without one when the file is whole. Not for a spool that needed no file. */
  constructor(openFile: () => Promise<SpoolFile>, budget: Budget, onEnd: (failure?: KdebugError) => void = () => {}) {
    this.#openFile = openFile;
    this.#budget = budget;
    this.#onEnd = onEnd;
  }

  get bytes(): number {
    return this.#failure ? this.#inFile : this.#reserved;
  }

  /** @throws KdebugError spool_full, spool_failed */
  write(chunk: Uint8Array): Promise<void> | void {
    if (this.#state !== 'open') return Promise.reject(this.#misuse('write to', this.#state));
    if (this.#failure) return Promise.reject(this.#failure);
    if (!this.#budget.reserve(chunk.length)) {
      const full = new KdebugError('spool_full', { detail: 'the limit of all spools is reached' });
      this.#end(full);
      return Promise.reject(full);
    }
    this.#reserved += chunk.length;
    if (this.#blockUsed + chunk.length < BLOCK_BYTES) return this.#gather(chunk);
    const gathered = this.#nextBlock();
    return this.#append([gathered, chunk]);
  }

  /** Rejects when the last block could not be written; does not repeat the error of an earlier write. */
  async finish(): Promise<string> {
    if (this.#sha256 !== undefined) return this.#sha256;
    if (this.#state === 'open') this.#state = 'finished';
    await this.#writing?.catch(() => undefined);
    if (this.#file && !this.#failure) await this.#append([this.#nextBlock()]);
    if (!this.#file) this.#hash.update(this.#block.subarray(0, this.#blockUsed));
    this.#sha256 ??= this.#hash.hex();
    if (this.#file) this.#end();
    return this.#sha256;
  }

  async *read(): AsyncGenerator<Uint8Array> {
    if (this.#state !== 'finished') throw this.#misuse('read', this.#state);
    if (!this.#file) {
      if (this.bytes > 0) yield this.#block.subarray(0, this.#blockUsed);
      return;
    }
    for (let position = 0; position < this.#inFile; ) {
      const piece = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, this.#inFile - position));
      const { bytesRead } = await this.#file.read(piece, 0, piece.length, position);
      if (bytesRead === 0)
        throw new KdebugError('spool_failed', { detail: 'the file is shorter than what was written' });
      position += bytesRead;
      yield piece.subarray(0, bytesRead);
    }
  }

  async remove(): Promise<void> {
    if (this.#state === 'removed') return;
    this.#state = 'removed';
    await this.#writing?.catch(() => undefined);
    this.#budget.giveBack(this.#reserved);
    this.#reserved = 0;
    this.#inFile = 0;
    this.#block = Buffer.alloc(0);
    await this.#file?.close();
  }

  /** The block grows on demand: of ten thousand spools nearly all are short. */
  #gather(chunk: Uint8Array): void {
    const needed = this.#blockUsed + chunk.length;
    if (needed > this.#block.length) {
      const grown = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, Math.max(FIRST_BYTES, 2 * needed)));
      grown.set(this.#block.subarray(0, this.#blockUsed));
      this.#block = grown;
    }
    this.#block.set(chunk, this.#blockUsed);
    this.#blockUsed = needed;
  }

  #nextBlock(): Buffer {
    const gathered = this.#block.subarray(0, this.#blockUsed);
    this.#block = Buffer.alloc(0);
    this.#blockUsed = 0;
    return gathered;
  }

  /** Writes run one after another; resolves with the last one. */
  #append(pieces: readonly Uint8Array[]): Promise<void> {
    const before = this.#writing ?? Promise.resolve();
    const mine = before.then(() => this.#writeOut(pieces));
    this.#writing = mine;
    // The awaiting caller gets the error, and so do `finish` and the next write.
    mine.catch(() => undefined);
    return mine;
  }

  async #writeOut(pieces: readonly Uint8Array[]): Promise<void> {
    try {
      this.#file ??= await this.#openFile();
      for (const piece of pieces) {
        for (let offset = 0; offset < piece.length; ) {
          const { bytesWritten } = await this.#file.write(piece, offset, piece.length - offset, this.#inFile);
          this.#hash.update(piece.subarray(offset, offset + bytesWritten));
          offset += bytesWritten;
          this.#inFile += bytesWritten;
        }
      }
    } catch (thrown) {
      this.#failure = toSpoolError(thrown);
      this.#end(this.#failure);
      throw this.#failure;
    }
  }

  #end(failure?: KdebugError): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#onEnd(failure);
  }

  #misuse(what: string, state: string): KdebugError {
    return new KdebugError('internal_error', { detail: `cannot ${what} a spool that is ${state}` });
  }
}

function toSpoolError(thrown: unknown): KdebugError {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown';
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  return new KdebugError(full ? 'spool_full' : 'spool_failed', { detail: code, cause: thrown });
}
