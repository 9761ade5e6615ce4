import { FileGate, type FileTerms } from '../../core/files/admit-file.ts';
import type { FramePart } from '../../core/files/frame-parts.ts';
import type { RunFile } from '../../core/files/run-file.ts';
import type { Spool } from '../ports/machine.ts';
import { IncomingFile, type IncomingSinks } from './incoming-file.ts';

export interface FileSinks extends FileTerms, IncomingSinks {}

/** A whole file, as it may be delivered. */
export interface FileOfLog {
  readonly file: RunFile;
  readonly spool: Spool;
}

export interface FilesRead {
  /** Unusable ones too, in the order of the log. */
  readonly listed: readonly RunFile[];
  readonly whole: readonly FileOfLog[];
  /** Secrets replaced in the whole ones. */
  readonly redactions: number;
}

/** Unusable files beyond the policy's number of files; later ones leave no trace in the run's record. */
const MAX_FURTHER = 8;

/**
 * Takes the files of one log from its frames: each into a spool of its own, unpacked, checked and redacted. Memory: a
 * few pieces, whatever a file says or packs. An unusable file keeps no bytes.
 */
export class RunFiles {
  readonly #sinks: FileSinks;
  readonly #gate: FileGate;
  readonly #maxListed: number;
  readonly #listed: RunFile[] = [];
  readonly #whole: FileOfLog[] = [];
  #redactions = 0;
  #incoming: IncomingFile | undefined;

  constructor(sinks: FileSinks) {
    this.#sinks = sinks;
    this.#gate = new FileGate(sinks);
    this.#maxListed = sinks.limits.maxFiles + MAX_FURTHER;
  }

  /** In the order of the log; resolves when the part is stored. Never rejects. */
  async accept(part: Exclude<FramePart, { kind: 'text' }>): Promise<void> {
    if (part.kind === 'begin') {
      const file = this.#gate.admit(part.header);
      if (file.problem !== undefined) this.#list(file);
      else this.#incoming = new IncomingFile(file, part.header.encoding, this.#sinks);
    } else if (part.kind === 'data') await this.#incoming?.write(part.bytes);
    else await this.#end(part.isWhole);
  }

  get read(): FilesRead {
    return { listed: this.#listed, whole: this.#whole, redactions: this.#redactions };
  }

  async #end(isWhole: boolean): Promise<void> {
    const incoming = this.#incoming;
    this.#incoming = undefined;
    if (!incoming) return;
    const { file, spool } = await incoming.end(isWhole);
    this.#list(file);
    if (spool === undefined) return;
    this.#whole.push({ file, spool });
    this.#redactions += incoming.redactions;
  }

  #list(file: RunFile): void {
    if (this.#listed.length < this.#maxListed) this.#listed.push(file);
  }
}
