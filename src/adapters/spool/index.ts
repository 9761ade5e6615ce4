import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SpoolOwner, Spools } from '../../flow/ports/machine.ts';
import { type Budget, FileSpool, type SpoolFile } from './file-spool.ts';

export interface SpoolsOptions {
  /** Where the files stand while they are open; the default is the system's temporary directory. */
  readonly directory?: string;
  /** At most so many bytes in all spools together; the default is 2 GiB. */
  readonly maxTotalBytes?: number;
}

/**
 * Of all bytes, what is kept for those who have little: three eighths (768 MiB). Whoever comes first may fill the rest, so a log of 1 GiB
 * still fits where nobody else reads one.
 */
const RESERVED_SHARE = 3 / 8;
/** What a person may take of the kept part: a third (256 MiB), so that it is there for three people at least. */
const PERSON_SHARE = RESERVED_SHARE / 3;
/** Of that, what one run may take, a batch with all its pods being one: half (128 MiB), more than the default log of 100 MiB. */
const RUN_SHARE = PERSON_SHARE / 2;

/**
 * Spools in files that only this process can reach: a file is created in a directory of its own (mode 0700), and its
 * name is taken away at once. So nothing is left behind, not even when the process is killed.
 * A spool of less than a block stays in memory and never touches the disk.
 */
export function createSpools(options: SpoolsOptions = {}): Spools {
  const budgets = new Budgets(options.maxTotalBytes ?? 2 * 1024 ** 3);
  const openFile = () => openNameless(options.directory ?? tmpdir());
  return { open: async (owner) => new FileSpool(openFile, budgets.of(owner)) };
}

async function openNameless(parent: string): Promise<SpoolFile> {
  const directory = await mkdtemp(join(parent, 'kdebug-spool-'));
  try {
    return await open(join(directory, 'log'), 'wx+', 0o600);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** The bytes of all spools, with those of each person and each run. */
class Budgets {
  readonly #mostBytes: number;
  readonly #used = new Map<string, number>();

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  of({ runId, requesterId }: SpoolOwner): Budget {
    const [person, run] = [`person:${requesterId}`, `run:${runId}`];
    return {
      reserve: (bytes) => {
        const isFree = this.#usedBy(ALL) + bytes <= this.#mostBytes * (1 - RESERVED_SHARE);
        const isWithinShare =
          this.#usedBy(ALL) + bytes <= this.#mostBytes &&
          this.#usedBy(person) + bytes <= this.#mostBytes * PERSON_SHARE &&
          this.#usedBy(run) + bytes <= this.#mostBytes * RUN_SHARE;
        if (!isFree && !isWithinShare) return false;
        for (const key of [ALL, person, run]) this.#add(key, bytes);
        return true;
      },
      giveBack: (bytes) => {
        for (const key of [ALL, person, run]) this.#add(key, -bytes);
      },
    };
  }

  #usedBy(key: string): number {
    return this.#used.get(key) ?? 0;
  }

  #add(key: string, bytes: number): void {
    const used = this.#usedBy(key) + bytes;
    if (used > 0) this.#used.set(key, used);
    else this.#used.delete(key);
  }
}

const ALL = 'all';
