import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSpools, spoolTrouble } from '../../../src/adapters/spool/index.ts';
import { asRunId, asUserId } from '../../../src/core/ids.ts';
import type { Spool, SpoolOwner, Spools } from '../../../src/flow/ports/machine.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { RecordingLog } from '../slack/harness.ts';

const RUN = { runId: asRunId('aaaaaaaaaa'), requesterId: asUserId('U0ROY') };
const BLOCK = 64 * 1024;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kdebug-test-'));
});
afterEach(async () => {
  for (const spool of opened.splice(0)) await spool.remove();
  rmSync(directory, { recursive: true, force: true });
});

/** Of a test: those that it leaves open are closed after it. */
const opened: Spool[] = [];
async function openIn(spools: Spools, owner: SpoolOwner): Promise<Spool> {
  const spool = await spools.open(owner);
  opened.push(spool);
  return spool;
}

async function contentOf(spool: Spool): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of spool.read()) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The open files of this process that stand, or stood, below the folder. */
function openFilesBelow(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    const path = `/proc/self/fd/${fd}`;
    try {
      return readlinkSync(path).startsWith(folder) ? [path] : [];
    } catch {
      return [];
    }
  });
}

const hasProc = existsSync('/proc/self/fd');
if (!hasProc) console.warn('skipped: what spools leave on disk is read from /proc, and there is none here');

describe('spools', () => {
  it('give back what was written, however it was cut', async () => {
    const spools = createSpools({ directory });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 3 * BLOCK }), { maxLength: 8 }), async (sizes) => {
        const spool = await openIn(spools, RUN);
        const chunks = sizes.map((size, index) => Buffer.alloc(size, `${index}:${size};`));
        for (const chunk of chunks) await spool.write(chunk);
        const hash = await spool.finish();
        const content = await contentOf(spool);
        expect(hash).toBe(createHash('sha256').update(content).digest('hex'));
        expect(await spool.finish()).toBe(hash);
        expect(content.equals(Buffer.concat(chunks))).toBe(true);
        expect(spool.bytes).toBe(content.length);
        await spool.remove();
      }),
      { numRuns: 40 },
    );
  });

  it('can be read twice at the same time', async () => {
    const spool = await openIn(createSpools({ directory }), RUN);
    await spool.write(Buffer.alloc(5 * BLOCK, 'ab'));
    await spool.finish();
    const [first, second] = await Promise.all([contentOf(spool), contentOf(spool)]);
    expect(first.equals(second)).toBe(true);
    expect(first).toHaveLength(5 * BLOCK);
    await spool.remove();
  });

  it('leave no name on the disk, even while they are in use', async () => {
    const spool = await openIn(createSpools({ directory }), RUN);
    await spool.write(Buffer.alloc(BLOCK));
    expect(readdirSync(directory)).toEqual([]);
    await spool.remove();
  });

  it.runIf(hasProc)('keep their file to this user alone, and close it when they are removed', async () => {
    const spool = await openIn(createSpools({ directory }), RUN);
    await spool.write(Buffer.alloc(BLOCK));
    const [file, ...others] = openFilesBelow(directory);
    expect(others).toEqual([]);
    expect(statSync(file ?? '').mode & 0o777).toBe(0o600);
    await spool.remove();
    await spool.remove();
    expect(openFilesBelow(directory)).toEqual([]);
  });

  it.runIf(hasProc)('open no file for a short log', async () => {
    const spool = await openIn(createSpools({ directory }), RUN);
    await spool.write(Buffer.from('short\n'));
    await spool.finish();
    expect(openFilesBelow(directory)).toEqual([]);
    expect((await contentOf(spool)).toString()).toBe('short\n');
    await spool.remove();
  });

  const owner = (requesterId: string, runId: string) => ({ runId: asRunId(runId), requesterId: asUserId(requesterId) });
  const full = { code: 'spool_full' };

  it('share one limit, and give their room back when they are removed', async () => {
    const spools = createSpools({ directory, maxTotalBytes: 2_400 });
    const first = await openIn(spools, RUN);
    const second = await openIn(spools, RUN);
    await first.write(Buffer.alloc(900));
    await expect(second.write(Buffer.alloc(601))).rejects.toMatchObject(full);
    await second.write(Buffer.alloc(600));
    await expect(first.write(Buffer.alloc(1))).rejects.toMatchObject(full);
    await second.remove();
    await second.remove();
    await first.write(Buffer.alloc(600));
    await first.finish();
    expect(await contentOf(first)).toHaveLength(1_500);
    await first.remove();
    await (await openIn(spools, RUN)).write(Buffer.alloc(1_500));
  });

  it('keep room for others: who has filled what is free for all takes nothing of their share', async () => {
    const spools = createSpools({ directory, maxTotalBytes: 2_400 });
    await (await openIn(spools, owner('U0ROY', 'aaaaaaaaaa'))).write(Buffer.alloc(1_500));
    await expect((await openIn(spools, owner('U0ROY', 'bbbbbbbbbb'))).write(Buffer.alloc(1))).rejects.toMatchObject(
      full,
    );
    // Two runs of a person fill their share, a third one finds none left; of one run it is half.
    await (await openIn(spools, owner('U0GINGER', 'cccccccccc'))).write(Buffer.alloc(150));
    await expect((await openIn(spools, owner('U0GINGER', 'cccccccccc'))).write(Buffer.alloc(1))).rejects.toMatchObject(
      full,
    );
    await (await openIn(spools, owner('U0GINGER', 'dddddddddd'))).write(Buffer.alloc(150));
    await expect((await openIn(spools, owner('U0GINGER', 'eeeeeeeeee'))).write(Buffer.alloc(1))).rejects.toMatchObject(
      full,
    );
    await (await openIn(spools, owner('U0JONAS', 'ffffffffff'))).write(Buffer.alloc(150));
  });

  it('tell the operator once when they are full, count each log that is cut, and tell when it is over', async () => {
    const [log, cut] = [new RecordingLog(), [] as string[]];
    const onEnd = spoolTrouble({ log, clock: new FakeClock() }, { spoolFailed: (reason) => void cut.push(reason) });
    const spools = createSpools({ directory, maxTotalBytes: 4 * BLOCK, onEnd });
    for (let count = 0; count < 3; count += 1) {
      const spool = await openIn(spools, RUN);
      for (let write = 0; write < 3; write += 1)
        await expect(spool.write(Buffer.alloc(3 * BLOCK))).rejects.toMatchObject(full);
      await spool.finish();
    }
    expect(cut).toEqual(['spool_full', 'spool_full', 'spool_full']);
    expect(log.records).toEqual([
      {
        level: 'error',
        message: 'the disk buffer cannot take all of a log, its file ends early',
        fields: expect.objectContaining({ runId: RUN.runId, reason: 'spool_full' }),
      },
    ]);
    const whole = await openIn(spools, RUN);
    await whole.write(Buffer.alloc(2 * BLOCK));
    await whole.finish();
    expect(log.records.slice(1)).toEqual([
      {
        level: 'info',
        message: 'the disk buffer takes whole logs again',
        fields: expect.objectContaining({ failures: 3 }),
      },
    ]);
  });

  it('tell the operator of a disk that cannot be used', async () => {
    const ended: (string | undefined)[] = [];
    const spools = createSpools({
      directory: join(directory, 'none'),
      onEnd: (_, failure) => ended.push(failure?.code),
    });
    const spool = await openIn(spools, RUN);
    await expect(spool.write(Buffer.alloc(BLOCK))).rejects.toMatchObject({ code: 'spool_failed' });
    await spool.finish();
    expect(ended).toEqual(['spool_failed']);
  });

  it('say that the directory cannot be used', async () => {
    const spool = await openIn(createSpools({ directory: join(directory, 'none') }), RUN);
    await expect(spool.write(Buffer.alloc(BLOCK))).rejects.toMatchObject({ code: 'spool_failed', detail: 'ENOENT' });
    await spool.remove();
  });
});
