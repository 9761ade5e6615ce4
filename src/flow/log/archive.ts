import { isSecretKind } from '../../core/container/file-kinds.ts';
import { type KdebugError, toKdebugError } from '../../core/errors.ts';
import type { PodFiles } from '../../core/say/batch/batch-files.ts';
import { problemWords } from '../../core/say/parts/file-parts.ts';
import type { Archive, Spool } from '../ports/machine.ts';
import type { ReadLog } from './logs.ts';
import type { FileOfLog } from './run-files.ts';

/** The files of the pods of one batch, collected in one archive as the pods end. It opens with the first file. */
export class BatchArchive {
  readonly #open: () => Promise<Archive>;
  readonly #maxBytes: number;
  #archive: Promise<Archive> | undefined;
  #bytes = 0;
  #failure: KdebugError | undefined;
  #turn: Promise<void> = Promise.resolve();

  /** `maxBytes`: of all files, before they are compressed. */
  constructor(open: () => Promise<Archive>, maxBytes: number) {
    this.#open = open;
    this.#maxBytes = maxBytes;
  }

  /**
   * Adds the whole files of one container, in the order of the calls, and says which are missing. Never rejects: a
   * failing disk loses this archive, never the run. Files that may hold secrets have no place in a batch.
   */
  async add(folder: string, { log, files }: Pick<ReadLog, 'log' | 'files'>, atMs: number): Promise<PodFiles> {
    const missing = (log.files ?? []).flatMap((file) => problemWords(file) ?? []);
    let whole = 0;
    for (const each of files) {
      const why = await this.#inTurn(() => this.#append(`${folder}/${each.file.name}`, each, atMs));
      if (why === undefined) whole += 1;
      else missing.push(`${each.file.name} (${why})`);
    }
    return { whole, missing };
  }

  /** @throws KdebugError of the disk; then there is no archive. Undefined: nothing was added */
  async finished(): Promise<Spool | undefined> {
    await this.#turn;
    if (this.#failure) throw this.#failure;
    return (await this.#archive)?.finish();
  }

  async remove(): Promise<void> {
    await this.#turn;
    await (await this.#archive)?.remove();
  }

  #inTurn(work: () => Promise<string | undefined>): Promise<string | undefined> {
    const done = this.#turn.then(work);
    this.#turn = done.then(() => undefined);
    return done;
  }

  /** Resolves with why not. */
  async #append(path: string, { file, spool }: FileOfLog, atMs: number): Promise<string | undefined> {
    if (file.kind === undefined || isSecretKind(file.kind)) return 'a batch brings back no file that may hold secrets';
    if (this.#failure) return `the archive is lost: ${this.#failure.code}`;
    if (this.#bytes + spool.bytes > this.#maxBytes) return 'the archive is full';
    try {
      this.#archive ??= this.#open();
      await (await this.#archive).add(path, spool, atMs);
      this.#bytes += spool.bytes;
      return undefined;
    } catch (thrown) {
      this.#failure = toKdebugError(thrown);
      return `the archive is lost: ${this.#failure.code}`;
    }
  }
}
