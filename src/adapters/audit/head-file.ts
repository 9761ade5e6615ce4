import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { HEAD_BYTES, type Head, headSlot, readHead } from '../../core/audit/head.ts';

/** The head beside the log (`core/audit/head.ts`): one writer, which the log's lock sees to. */
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

  /** `absent`: nothing was ever written. `invalid`: not written with this key, or changed. */
  async read(): Promise<Head | 'absent' | 'invalid'> {
    const { bytesRead, buffer } = await this.#handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const head = readHead(this.#key, buffer.subarray(0, bytesRead));
    this.#generation = head?.generation ?? 0;
    if (head !== undefined) return head;
    return bytesRead === 0 ? 'absent' : 'invalid';
  }

  /** When it fails the head before this one still stands. */
  async write(head: Omit<Head, 'generation'>): Promise<void> {
    const generation = this.#generation + 1;
    const { position, text } = headSlot(this.#key, { generation, ...head });
    const { bytesWritten } = await this.#handle.write(text, position);
    if (bytesWritten !== Buffer.byteLength(text)) throw new Error('the head was written in part only');
    this.#generation = generation;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
