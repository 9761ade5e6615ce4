import { toKdebugError } from '../../core/errors.ts';
import type { RunId } from '../../core/ids.ts';
import type { Run } from '../../core/run/run.ts';
import type { Spool, SpoolOwner, Spools } from '../ports/machine.ts';
import { BatchArchive } from './archive.ts';

/** The limit for all logs in the file of one batch. A log that does not fit is omitted whole, and its head says so. */
const MAX_LOG_BYTES = 256 * 1024 ** 2;
/** The same for the files in its archive. */
const MAX_FILES_BYTES = 256 * 1024 ** 2;

/** The logs of one batch, collected in one spool as its pods end. Only one block is in memory. */
export class BatchLog {
  readonly archive: BatchArchive;
  readonly #spool: Promise<Spool>;
  readonly #maxBytes: number;
  readonly #added = new Set<string>();
  #bytes = 0;
  #lostBy: string | undefined;
  #turn: Promise<void> = Promise.resolve();

  constructor(spool: Promise<Spool>, archive: BatchArchive, maxBytes: number) {
    this.archive = archive;
    this.#spool = spool;
    this.#maxBytes = maxBytes;
  }

  has(index: number, container: number): boolean {
    return this.#added.has(`${index}/${container}`);
  }

  /** The code of the disk failure that lost some of the logs. */
  get lostBy(): string | undefined {
    return this.#lostBy;
  }

  /**
   * Adds one container's log after its head, in the order of the calls. `headOf` gets the number of bytes that follow.
   * Resolves when the log is copied or omitted: a failing disk loses the rest of this file (`lostBy`), never the run.
   * Nothing may follow a log that was cut: it would stand among the bytes that the head of that log announced.
   */
  add(at: Container, log: Spool | Promise<Spool>, headOf: HeadOf): Promise<void> {
    this.#added.add(`${at.index}/${at.container}`);
    this.#turn = this.#turn
      .then(async () => {
        const spool = await log;
        if (this.#lostBy === undefined) await this.#append(spool, headOf);
      })
      .catch((thrown: unknown) => {
        this.#lostBy ??= toKdebugError(thrown).code;
      });
    return this.#turn;
  }

  /** Resolves when all logs added so far are copied. */
  copied(): Promise<void> {
    return this.#turn;
  }

  /** All logs; later additions fail. */
  async finished(): Promise<Spool> {
    await this.#turn;
    const spool = await this.#spool;
    await spool.finish();
    return spool;
  }

  /** Never rejects: nobody can fix a file that the disk keeps. */
  async remove(): Promise<void> {
    await this.#turn;
    await Promise.allSettled([this.archive.remove(), this.#spool.then((spool) => spool.remove())]);
  }

  async #append(log: Spool, headOf: HeadOf): Promise<void> {
    const spool = await this.#spool;
    const fits = this.#bytes + log.bytes <= this.#maxBytes;
    await this.#write(spool, Buffer.from(headOf({ bytes: fits ? log.bytes : 0, leftOut: !fits })));
    if (!fits) return;
    let endsLine = true;
    for await (const piece of log.read()) {
      await this.#write(spool, piece);
      endsLine = piece.at(-1) === NEW_LINE;
    }
    await this.#write(spool, Buffer.from(endsLine ? '\n' : '\n\n'));
  }

  async #write(spool: Spool, piece: Uint8Array): Promise<void> {
    this.#bytes += piece.length;
    await spool.write(piece);
  }
}

const NEW_LINE = 10;

interface Container {
  readonly index: number;
  readonly container: number;
}

export type HeadOf = (log: { readonly bytes: number; readonly leftOut: boolean }) => string;

/** The logs of the batches that this replica runs. */
export class BatchLogs {
  readonly #spools: Spools;
  readonly #logs = new Map<RunId, BatchLog>();

  constructor(spools: Spools) {
    this.#spools = spools;
  }

  of({ id, origin }: Pick<Run, 'id' | 'origin'>): BatchLog {
    const known = this.#logs.get(id) ?? this.#begun({ runId: id, requesterId: origin.requesterId });
    this.#logs.set(id, known);
    return known;
  }

  #begun(owner: SpoolOwner): BatchLog {
    const archive = new BatchArchive(() => this.#spools.archive(owner), MAX_FILES_BYTES);
    return new BatchLog(this.#spools.open(owner), archive, MAX_LOG_BYTES);
  }

  /** Resolves when all logs added so far to this batch are copied. */
  async copied(id: RunId): Promise<void> {
    await this.#logs.get(id)?.copied();
  }

  async forget(id: RunId): Promise<void> {
    const log = this.#logs.get(id);
    this.#logs.delete(id);
    await log?.remove();
  }
}
