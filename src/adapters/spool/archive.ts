import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { KdebugError, toKdebugError } from '../../core/errors.ts';
import type { Archive, Spool } from '../../flow/ports/machine.ts';

/** Streams a gzipped tar into a spool: one piece of a file and what gzip holds back are in memory. */
export function createArchive(spool: Spool): Archive {
  const entries = pack();
  let failure: KdebugError | undefined;
  const written = pipeline(Readable.from(entries), createGzip(), async (packed: AsyncIterable<Uint8Array>) => {
    for await (const piece of packed) await spool.write(piece);
  }).catch((thrown: unknown) => {
    failure ??= toKdebugError(thrown);
    entries.destroy();
  });
  const check = (): void => {
    if (failure) throw failure;
  };
  return {
    add: async (path, file, atMs) => {
      check();
      let done = 0;
      const entry = entries.entry({ name: path, size: file.bytes, mode: 0o644, mtime: new Date(atMs) });
      // The pipeline reports a failure; an entry fails with it.
      entry.on('error', () => undefined);
      for await (const piece of file.read()) {
        check();
        done += piece.length;
        if (!entry.write(piece)) await Promise.race([once(entry, 'drain'), written]);
      }
      entry.end(undefined);
      check();
      if (done === file.bytes) return;
      failure = new KdebugError('spool_failed', { detail: 'a file is shorter than what was written' });
      throw failure;
    },
    finish: async () => {
      entries.finalize();
      await written;
      check();
      await spool.finish();
      return spool;
    },
    remove: async () => {
      failure ??= new KdebugError('spool_failed', { detail: 'the archive was removed' });
      entries.destroy();
      await written;
      await spool.remove();
    },
  };
}
