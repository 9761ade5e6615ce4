import { describe, expect, it } from 'vitest';
import { KdebugError } from '../../../src/core/errors.ts';
import { createExcerpt } from '../../../src/core/redact/excerpt.ts';
import { createLogFilter } from '../../../src/core/redact/log-filter.ts';
import { PIECE_BYTES } from '../../../src/flow/context/turns.ts';
import { LogReader } from '../../../src/flow/log/logs.ts';
import type { Spool } from '../../../src/flow/ports/machine.ts';
import { Turns } from '../../../src/lib/turns.ts';
import { FakeCluster, FakeSpools } from '../support/fakes.ts';

async function aReader(log: string | readonly string[], change: (spool: Spool) => Partial<Spool> = () => ({})) {
  const cluster = new FakeCluster();
  if (typeof log === 'string') cluster.log = log;
  else
    cluster.collectLog = async (_, sink) => {
      for (const piece of log) await sink.write(Buffer.from(piece));
      return cluster.completeness;
    };
  const spool = await new FakeSpools().open();
  const reader = new LogReader(
    {
      cluster,
      pod: { namespace: 'shop', name: 'web-1', uid: 'uid-1' },
      containerName: 'kdebug-a',
      terminated: false,
      startedAtMs: 0,
      limitBytes: 1_000,
    },
    {
      filter: createLogFilter({ redact: ['CUSTOMER-[0-9]+'] }),
      excerpt: createExcerpt({ headLines: 2, tailLines: 2, maxBytes: 1_000 }),
      spool: Object.assign(Object.create(spool) as Spool, change(spool)),
      turns: new Turns({ elapsed: () => 0 }).of('U0ROY'),
    },
  );
  return { reader, cluster };
}

describe('LogReader', () => {
  it('filters a large log in small pieces, each in a turn of its own, however many logs are read at once', async () => {
    const turns = new Turns({ elapsed: () => 0 });
    const cluster = new FakeCluster();
    cluster.log = '\u0090'.repeat(100_000);
    /** Bytes that were filtered in each turn. */
    const filtered = [0];
    let isReading = true;
    const nextTurn = (): void => {
      filtered.push(0);
      if (isReading) setImmediate(nextTurn);
    };
    const readers = await Promise.all(
      [1, 2, 3].map(async () => {
        const filter = createLogFilter({ redact: [] });
        const push = (chunk: Buffer): Buffer => {
          filtered[filtered.length - 1] = (filtered.at(-1) ?? 0) + chunk.length;
          return filter.push(chunk);
        };
        return new LogReader(
          {
            cluster,
            pod: { namespace: 'shop', name: 'web-1', uid: 'uid-1' },
            containerName: 'kdebug-a',
            terminated: true,
            startedAtMs: 0,
            limitBytes: 1_000_000,
          },
          {
            filter: {
              push,
              end: () => filter.end(),
              redactions: 0,
              hidden: new Set(),
              bytesAtOnce: undefined,
              steps: 0,
            },
            excerpt: createExcerpt({ headLines: 2, tailLines: 2, maxBytes: 1_000 }),
            spool: await new FakeSpools().open(),
            turns: turns.of('U0ROY'),
          },
        );
      }),
    );
    nextTurn();
    await Promise.all(readers.map(({ result }) => result));
    isReading = false;

    expect(filtered.reduce((sum, bytes) => sum + bytes, 0)).toBe(600_000);
    // The first pieces of all come before anybody has had a turn to wait for.
    expect(Math.max(...filtered)).toBeLessThanOrEqual(3 * PIECE_BYTES);
    expect(filtered.filter((bytes) => bytes > PIECE_BYTES).length).toBeLessThanOrEqual(2);
  });

  it('cleans and redacts before anything is kept', async () => {
    const { reader } = await aReader('\u001b[31mred\u001b[0m CUSTOMER-42\n');
    reader.end();
    const { log } = await reader.result;
    expect(log.head).toContain('red [redacted');
    expect(log.head).not.toContain('42');
    expect(log.redactions).toBe(1);
    expect(log.sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  it('gives what it has when it is stopped', async () => {
    const { reader } = await aReader('half\n');
    reader.stop();
    expect((await reader.result).log.head).toBe('half');
  });

  it.each(['write', 'finish'] as const)(
    'never rejects: a spool that fails on %s marks the log as interrupted',
    async (method) => {
      const fail = () => Promise.reject(new KdebugError('spool_full'));
      const { reader } = await aReader('x\n', () => ({ [method]: fail }));
      reader.end();
      expect((await reader.result).log.completeness).toMatchObject({ complete: false, interruptedBy: 'spool_full' });
    },
  );

  it('reads on without its spool once that has failed, and shows the true end', async () => {
    let writes = 0;
    const write = () => {
      writes += 1;
      return Promise.reject(new KdebugError('spool_full'));
    };
    const { reader } = await aReader(['first\n', 'second\n', 'last\n'], () => ({ write }));
    reader.end();
    const { log, end } = await reader.result;
    expect(log.lines).toBe(3);
    expect(end).toContain('last');
    expect(writes).toBe(1);
    expect(log.completeness).toMatchObject({ complete: false, interruptedBy: 'spool_full' });
  });
});
