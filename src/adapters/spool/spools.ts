import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Spools } from '../../flow/ports/machine.ts';
import { type Budget, FileSpool, type SpoolFile } from './file-spool.ts';

export interface SpoolsOptions {
  /** Where the files stand while they are open; the default is the system's temporary directory. */
  readonly directory?: string;
  /** At most so many bytes in all spools together; the default is 2 GiB. */
  readonly maxTotalBytes?: number;
}

/**
 * Spools in files that only this process can reach: a file is created in a directory of its own (mode 0700), and its
 * name is taken away at once. So nothing is left behind, not even when the process is killed.
 * A spool of less than a block stays in memory and never touches the disk.
 */
export function createSpools(options: SpoolsOptions = {}): Spools {
  const budget = createBudget(options.maxTotalBytes ?? 2 * 1024 ** 3);
  const openFile = () => openNameless(options.directory ?? tmpdir());
  return { open: async () => new FileSpool(openFile, budget) };
}

async function openNameless(parent: string): Promise<SpoolFile> {
  const directory = await mkdtemp(join(parent, 'kdebug-spool-'));
  try {
    return await open(join(directory, 'log'), 'wx+', 0o600);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function createBudget(maxBytes: number): Budget {
  let used = 0;
  return {
    take(bytes) {
      if (used + bytes > maxBytes) return false;
      used += bytes;
      return true;
    },
    giveBack: (bytes) => {
      used -= bytes;
    },
  };
}
