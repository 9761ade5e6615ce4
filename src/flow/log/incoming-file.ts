import type { FrameEncoding } from '../../core/files/frame-lines.ts';
import type { FileProblem, RunFile } from '../../core/files/run-file.ts';
import { sha256Stream } from '../../core/hash.ts';
import { createLogFilter, type LogFilter } from '../../core/redact/log-filter.ts';
import { defined } from '../../lib/object.ts';
import { Gunzip } from '../../lib/streams/gunzip.ts';
import type { OwnTurns } from '../../lib/turns.ts';
import { Pieces } from '../context/turns.ts';
import type { Spool } from '../ports/machine.ts';

export interface IncomingSinks {
  /** The policy's patterns. */
  readonly redact: readonly string[];
  readonly openSpool: () => Promise<Spool>;
  readonly turns: OwnTurns;
}

/**
 * One file on its way from the log into its spool. Its hash is of the bytes as the image had them; the spool gets them
 * redacted if the kind is. Never more than the announced bytes, however they are packed. It may be delivered only after
 * `end` gave its spool. No method rejects.
 */
export class IncomingFile {
  readonly #file: RunFile;
  readonly #sinks: IncomingSinks;
  readonly #pieces: Pieces;
  readonly #hash = sha256Stream();
  readonly #filter: LogFilter | undefined;
  readonly #gunzip: Gunzip | undefined;
  #spool: Promise<Spool> | undefined;
  #bytes = 0;
  #problem: FileProblem | undefined;

  constructor(file: RunFile, encoding: FrameEncoding, sinks: IncomingSinks) {
    this.#file = file;
    this.#sinks = sinks;
    this.#filter = file.isRedacted ? createLogFilter({ redact: sinks.redact }) : undefined;
    this.#pieces = new Pieces(sinks.turns, this.#filter);
    this.#gunzip = encoding === 'gzip+base64' ? new Gunzip((piece) => this.#content(piece)) : undefined;
  }

  get redactions(): number {
    return this.#filter?.redactions ?? 0;
  }

  async write(bytes: Buffer): Promise<void> {
    if (this.#problem !== undefined) return;
    if (this.#gunzip) await this.#gunzip.write(bytes);
    else await this.#content(bytes).catch(() => undefined);
  }

  /** The file as it came, with its spool if every byte is right. `isWhole`: no line of the log is missing. */
  async end(isWhole: boolean): Promise<{ readonly file: RunFile; readonly spool?: Spool }> {
    if (!isWhole) this.#fail('incomplete');
    if (isWhole) await this.#gunzip?.end().catch(() => this.#fail('wrong-hash'));
    else this.#gunzip?.stop();
    if (this.#bytes !== this.#file.bytes || this.#hash.hex() !== this.#file.sha256) this.#fail('wrong-hash');
    if (this.#problem === undefined) {
      const whole = await this.#whole().catch(() => this.#fail('spool-full'));
      if (whole) return whole;
    }
    const spool = await this.#spool?.catch(() => undefined);
    // One file that cannot be removed must not end the log.
    await spool?.remove().catch(() => undefined);
    return { file: { ...this.#file, ...defined({ problem: this.#problem }) } };
  }

  async #whole(): Promise<{ readonly file: RunFile; readonly spool: Spool }> {
    await this.#store(this.#filter?.end() ?? NO_BYTES);
    const spool = await this.#opened();
    const sha256 = await spool.finish();
    return { file: { ...this.#file, bytes: spool.bytes, sha256 }, spool };
  }

  /** Rejects when no more may come; `#problem` says why. */
  async #content(bytes: Buffer): Promise<void> {
    this.#bytes += bytes.length;
    if (this.#bytes > this.#file.bytes) this.#fail('wrong-hash');
    await this.#pieces.each(bytes, async (piece) => {
      if (this.#problem !== undefined) throw new Error(this.#problem);
      this.#hash.update(piece);
      await this.#store(this.#filter?.push(piece) ?? piece);
    });
  }

  async #store(bytes: Buffer): Promise<void> {
    try {
      if (bytes.length > 0) await (await this.#opened()).write(bytes);
    } catch (thrown) {
      this.#fail('spool-full');
      throw thrown;
    }
  }

  #opened(): Promise<Spool> {
    this.#spool ??= this.#sinks.openSpool();
    return this.#spool;
  }

  #fail(problem: FileProblem): void {
    this.#problem ??= problem;
  }
}

const NO_BYTES = Buffer.alloc(0);
