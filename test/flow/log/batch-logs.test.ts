import { describe, expect, it } from 'vitest';
import { createSpools } from '../../../src/adapters/spool/index.ts';
import { KdebugError } from '../../../src/core/errors.ts';
import { asRunId, asUserId } from '../../../src/core/ids.ts';
import { BatchLogs } from '../../../src/flow/log/batch-logs.ts';
import { aRun } from '../../support/builders.ts';
import { FakeSpools } from '../support/fakes.ts';

const BATCH = asRunId('aaaaaaaaaa');
const head = ({ bytes }: { readonly bytes: number }): string => `${bytes} bytes follow\n`;

async function spoolOf(text: string) {
  const spool = await new FakeSpools().open();
  await spool.write(Buffer.from(text));
  await spool.finish();
  return spool;
}

async function textOf(logs: BatchLogs): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of (await logs.of(aRun({ id: BATCH })).finished()).read()) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

describe('the logs of a batch', () => {
  it('stand one after the other in the order in which they were added, whenever they are read to their end', async () => {
    const logs = new BatchLogs(new FakeSpools());
    let end: () => void = () => {};
    const late = new Promise<void>((resolve) => {
      end = resolve;
    }).then(() => spoolOf('late\n'));
    void logs.of(aRun({ id: BATCH })).add({ index: 0, container: 0 }, late, head);
    const second = logs.of(aRun({ id: BATCH })).add({ index: 1, container: 0 }, await spoolOf('soon'), head);
    end();
    await second;
    expect(await textOf(logs)).toBe('5 bytes follow\nlate\n\n4 bytes follow\nsoon\n\n');
    expect(logs.of(aRun({ id: BATCH })).lostBy).toBeUndefined();
  });

  it('that a disk does not take are lost with a reason, and hold up nothing', async () => {
    const spools = new FakeSpools();
    const open = spools.open.bind(spools);
    let written = 0;
    spools.open = async () => {
      const spool = await open();
      const write = (chunk: Uint8Array) => {
        written += chunk.length;
        if (written > 20) throw new KdebugError('spool_full');
        return spool.write(chunk);
      };
      return {
        ...spool,
        write,
        get bytes() {
          return spool.bytes;
        },
      };
    };
    const logs = new BatchLogs(spools);
    await logs.of(aRun({ id: BATCH })).add({ index: 0, container: 0 }, await spoolOf('one'), head);
    await logs.of(aRun({ id: BATCH })).add({ index: 1, container: 0 }, await spoolOf('two'), head);
    expect(logs.of(aRun({ id: BATCH })).lostBy).toBe('spool_full');
    expect(await textOf(logs)).toBe('3 bytes follow\none\n\n');
  });

  it('end for good where one of them was cut: a later one would stand among the bytes that its head announced', async () => {
    const spools = createSpools({ maxTotalBytes: 200_000 });
    const other = await spools.open({ runId: asRunId('bbbbbbbbbb'), requesterId: asUserId('U0EVE') });
    await other.write(Buffer.alloc(70_000));
    const logs = new BatchLogs(spools);
    const log = logs.of(aRun({ id: BATCH }));
    await log.add({ index: 0, container: 0 }, await spoolOf('one'), head);
    await log.add({ index: 1, container: 0 }, await spoolOf('x'.repeat(60_000)), head);
    await other.remove();
    await log.add({ index: 2, container: 0 }, await spoolOf('three'), head);
    expect(log.lostBy).toBe('spool_full');
    expect(await textOf(logs)).toBe('3 bytes follow\none\n\n60000 bytes follow\n');
  });

  it('go with their batch although the disk does not let them go', async () => {
    const spools = new FakeSpools();
    const open = spools.open.bind(spools);
    const failing = () => Promise.reject(new KdebugError('spool_failed', { detail: 'EIO' }));
    spools.open = async () => ({ ...(await open()), bytes: 0, remove: failing });
    const logs = new BatchLogs(spools);
    await logs.of(aRun({ id: BATCH })).add({ index: 0, container: 0 }, await spoolOf('one'), head);
    await expect(logs.forget(BATCH)).resolves.toBeUndefined();
  });
});
