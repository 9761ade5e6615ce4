import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { FileSpool, type SpoolFile } from '../../../src/adapters/spool/file-spool.ts';

const BLOCK = 64 * 1024;

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** A disk in memory that holds so many bytes, writes at most 10,000 at a time, and can be halted. */
function aDisk(options: { capacity?: number; code?: string } = {}) {
  const disk = { content: Buffer.alloc(0), opened: 0, closed: 0, taken: 0, gate: Promise.resolve() };
  const file: SpoolFile = {
    write: async (data, offset, length, position) => {
      await disk.gate;
      const room = (options.capacity ?? Number.POSITIVE_INFINITY) - position;
      if (room <= 0) throw Object.assign(new Error('the disk says no'), { code: options.code ?? 'ENOSPC' });
      const bytesWritten = Math.min(length, room, 10_000);
      disk.content = Buffer.concat([disk.content.subarray(0, position), data.subarray(offset, offset + bytesWritten)]);
      return { bytesWritten };
    },
    read: async (into, offset, length, position) => ({
      bytesRead: disk.content.copy(into, offset, position, position + length),
    }),
    close: async () => {
      disk.closed += 1;
    },
  };
  const budget = {
    reserve: (bytes: number) => {
      disk.taken += bytes;
      return true;
    },
    giveBack: (bytes: number) => {
      disk.taken -= bytes;
    },
  };
  const spool = new FileSpool(async () => {
    disk.opened += 1;
    return file;
  }, budget);
  return { disk, spool };
}

async function contentOf(spool: FileSpool): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of spool.read()) pieces.push(piece);
  return Buffer.concat(pieces);
}

describe('a spool file', () => {
  it('gathers small writes and slows the writer down only when a block goes to the disk', async () => {
    const { disk, spool } = aDisk();
    expect(spool.write(Buffer.alloc(BLOCK - 1, 'a'))).toBeUndefined();
    expect(disk.opened).toBe(0);
    await spool.write(Buffer.from('b'));
    expect(disk.content).toHaveLength(BLOCK);
    expect(disk.opened).toBe(1);
  });

  it('keeps the writer waiting while the disk is slow', async () => {
    const { disk, spool } = aDisk();
    let goOn = () => {};
    disk.gate = new Promise((resolve) => {
      goOn = resolve;
    });
    let done = false;
    const writing = Promise.resolve(spool.write(Buffer.alloc(BLOCK))).then(() => {
      done = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(done).toBe(false);
    goOn();
    await writing;
    expect(disk.content).toHaveLength(BLOCK);
  });

  it('copies what it gathers, so that the caller may use its buffer again', async () => {
    const { spool } = aDisk();
    const buffer = Buffer.from('first ');
    await spool.write(buffer);
    buffer.write('second');
    await spool.write(buffer);
    await spool.finish();
    expect((await contentOf(spool)).toString()).toBe('first second');
  });

  it('keeps the order of writes that nobody waited for', async () => {
    const { spool } = aDisk();
    const chunks = Array.from({ length: 30 }, (_, index) => Buffer.alloc(20_000, `${index},`));
    for (const chunk of chunks) void spool.write(chunk);
    await spool.finish();
    expect((await contentOf(spool)).equals(Buffer.concat(chunks))).toBe(true);
  });

  it('is full when the disk is, keeps what is on it, and counts just that', async () => {
    const { disk, spool } = aDisk({ capacity: 100_000 });
    await spool.write(Buffer.alloc(BLOCK, 'a'));
    await expect(spool.write(Buffer.alloc(BLOCK, 'b'))).rejects.toMatchObject({ code: 'spool_full', detail: 'ENOSPC' });
    await expect(spool.write(Buffer.from('c'))).rejects.toMatchObject({ code: 'spool_full' });
    expect(await spool.finish()).toBe(sha256(disk.content));
    expect(spool.bytes).toBe(100_000);
    expect((await contentOf(spool)).equals(disk.content)).toBe(true);
    await spool.remove();
    expect([disk.taken, disk.closed]).toEqual([0, 1]);
  });

  it('tells of an error at its very end', async () => {
    const { disk, spool } = aDisk({ capacity: BLOCK });
    await spool.write(Buffer.alloc(BLOCK, 'a'));
    await spool.write(Buffer.from('rest'));
    await expect(spool.finish()).rejects.toMatchObject({ code: 'spool_full' });
    expect(await spool.finish()).toBe(sha256(disk.content));
    expect(spool.bytes).toBe(BLOCK);
  });

  it.each([
    ['EDQUOT', 'spool_full'],
    ['EIO', 'spool_failed'],
  ])('answers the disk error %s with %s', async (code, expected) => {
    const { spool } = aDisk({ capacity: 0, code });
    await expect(spool.write(Buffer.alloc(BLOCK))).rejects.toMatchObject({ code: expected, detail: code });
  });

  it('says so when the file is shorter than what was written', async () => {
    const { disk, spool } = aDisk();
    await spool.write(Buffer.alloc(2 * BLOCK));
    await spool.finish();
    disk.content = disk.content.subarray(0, BLOCK);
    await expect(contentOf(spool)).rejects.toMatchObject({ code: 'spool_failed' });
  });

  it('refuses to be read before its end, and written after it', async () => {
    const { spool } = aDisk();
    await expect(contentOf(spool)).rejects.toMatchObject({ code: 'internal_error' });
    await spool.finish();
    await expect(spool.write(Buffer.from('x'))).rejects.toMatchObject({ code: 'internal_error' });
    await spool.remove();
    await expect(contentOf(spool)).rejects.toMatchObject({ code: 'internal_error' });
  });

  it('waits for a write that is under way before it closes the file', async () => {
    const { disk, spool } = aDisk();
    const writing = spool.write(Buffer.alloc(BLOCK));
    await spool.remove();
    await writing;
    expect(disk.closed).toBe(1);
    expect(disk.content).toHaveLength(BLOCK);
  });
});
