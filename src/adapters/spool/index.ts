import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KdebugError } from '../../core/errors.ts';
import type { Metrics, SpoolOwner, Spools } from '../../flow/ports/machine.ts';
import { Trouble } from '../../lib/trouble.ts';
import { createArchive } from './archive.ts';
import { type Budget, FileSpool, type SpoolFile } from './file-spool.ts';

export interface SpoolsOptions {
  /** Folder of the open files; the default is the system's temporary directory. */
  readonly directory?: string;
  /** Limit for all spools together; the default is 2 GiB. */
  readonly maxTotalBytes?: number;
  /** Called once for each log that needed a file: with what kept it from being whole, or without. */
  readonly onEnd?: OnSpoolEnd;
}

type OnSpoolEnd = (owner: SpoolOwner, failure?: KdebugError) => void;

/**
 * The share of all bytes reserved for people with little: three eighths (768 MiB). Anybody may fill the rest, so one
 * log of 1 GiB fits while nobody else reads one.
 */
const RESERVED_SHARE = 3 / 8;
/** One person's limit in the reserved share: a third (256 MiB), so at least three people fit. */
const PERSON_SHARE = RESERVED_SHARE / 3;
/**
 * One run's limit within the person's, where a batch with all its pods counts as one run: half (128 MiB), more than the
 * default log of 100 MiB.
 */
const RUN_SHARE = PERSON_SHARE / 2;

const HINT =
  'Raise sizeLimit of the volume at TMPDIR and limits.ephemeral-storage; kdebug itself stops at 2 GiB for all logs together.';

/**
 * Spools in files that only this process can reach: each file is created in a private directory (mode 0700) and
 * unlinked at once. Nothing remains, even after SIGKILL. A spool smaller than a block stays in memory and never touches
 * the disk.
 */
export function createSpools(options: SpoolsOptions = {}): Spools {
  const budgets = new Budgets(options.maxTotalBytes ?? 2 * 1024 ** 3);
  const openFile = () => openNameless(options.directory ?? tmpdir());
  const open: Spools['open'] = async (owner) =>
    new FileSpool(openFile, budgets.of(owner), (failure) => options.onEnd?.(owner, failure));
  return { open, archive: async (owner) => createArchive(await open(owner)) };
}

/** Counts the logs that are cut. The operators' log has one line when that begins, and one when a log is whole again. */
export function spoolTrouble(
  parts: ConstructorParameters<typeof Trouble>[0],
  metrics: Pick<Metrics, 'spoolFailed'>,
): OnSpoolEnd {
  const trouble = new Trouble(parts, {
    begins: 'the disk buffer cannot take all of a log, its file ends early',
    ends: 'the disk buffer takes whole logs again',
    level: 'error',
  });
  return ({ runId }, failure) => {
    if (failure === undefined) return trouble.worked();
    metrics.spoolFailed(failure.code === 'spool_full' ? 'spool_full' : 'spool_failed');
    trouble.failed({ runId, reason: failure.code, detail: failure.detail, hint: HINT });
  };
}

async function openNameless(parent: string): Promise<SpoolFile> {
  const directory = await mkdtemp(join(parent, 'kdebug-spool-'));
  try {
    return await open(join(directory, 'log'), 'wx+', 0o600);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Counts the bytes of all spools, of each person and of each run. */
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
