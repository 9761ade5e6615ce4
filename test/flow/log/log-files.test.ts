import { describe, expect, it } from 'vitest';
import type { Plan } from '../../../src/core/container/plan.ts';
import { asRunId } from '../../../src/core/ids.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import type { LaunchedRun } from '../../../src/core/run/life-cycle.ts';
import type { FlowDeps } from '../../../src/flow/context/deps.ts';
import { LogReaders, type ReadLog } from '../../../src/flow/log/logs.ts';
import type { LogRequest, LogSink } from '../../../src/flow/ports/cluster.ts';
import type { Spool } from '../../../src/flow/ports/machine.ts';
import { Turns } from '../../../src/lib/turns.ts';
import { aPlan, aPolicy, aRun } from '../../support/builders.ts';
import { frame } from '../../support/frames.ts';
import { FakeCluster, FakeSpools } from '../support/fakes.ts';

const IMAGE = aPolicy().images.autodiagnose!;
const NOT_DIAGNOSTIC = { images: { autodiagnose: { ...IMAGE, diagnostic: false } } };
const REPORT = '-----BEGIN KDEBUG REPORT-----\n{"kdebug":1,"verdict":"Fine."}\n-----END KDEBUG REPORT-----\n';
const THREADS = 'thread main: waiting\n'.repeat(1_000);
const LOG = `two words\n${frame('threads.txt', THREADS, { lineLength: 400 })}${REPORT}`;

interface Reading {
  readonly log?: string;
  readonly policy?: Partial<Policy>;
  readonly plan?: Partial<Plan>;
}

class Bench {
  readonly cluster = new FakeCluster();
  readonly requests: LogRequest[] = [];
  readonly removed: Spool[] = [];
  readonly readers: LogReaders;
  readonly #run: LaunchedRun;

  constructor({ log = LOG, policy = {}, plan = { files: ['text'] } }: Reading) {
    const { cluster, requests, removed } = this;
    cluster.log = log;
    const collect = cluster.collectLog.bind(cluster);
    cluster.collectLog = (request: LogRequest, sink: LogSink) => {
      requests.push(request);
      return collect(request, sink);
    };
    const spools = new FakeSpools();
    const deps = {
      clusters: { get: () => cluster },
      turns: new Turns({ elapsed: () => 0 }),
      policies: { current: () => aPolicy({ images: { autodiagnose: { ...IMAGE, files: ['text'] } }, ...policy }) },
      spools: {
        open: async () => {
          const spool = await spools.open();
          spool.remove = async () => void removed.push(spool);
          return spool;
        },
      },
    } as unknown as FlowDeps;
    this.readers = new LogReaders(deps);
    this.#run = {
      ...aRun({ id: asRunId('abcdefghij'), state: 'running', launchedAtMs: 0 }),
      plan: aPlan(plan),
      containerName: 'kdebug-a',
      notAfterMs: 1,
    } as LaunchedRun;
  }

  async read(): Promise<ReadLog> {
    return (await this.readers.start(this.#run, { terminated: true, startedAtMs: 0 })).result;
  }

  forget(): Promise<void> {
    return this.readers.forget(this.#run.id);
  }
}

async function contentOf(spool: Spool): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of spool.read()) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

describe('the files of a log', () => {
  it('are beside the words and the report, which are the whole log', async () => {
    const bench = new Bench({});
    const { log, files, end, spool } = await bench.read();
    expect(log.files).toEqual([
      expect.objectContaining({ name: 'threads.txt', kind: 'text', bytes: THREADS.length, isRedacted: true }),
    ]);
    expect(files.map(({ file }) => file)).toEqual(log.files);
    expect(await contentOf(files[0]!.spool)).toBe(THREADS);
    expect(await contentOf(spool)).toBe(`two words\n${REPORT}`);
    expect(end).toBe(`two words\n${REPORT}`);
    expect(log).toMatchObject({ lines: 4, head: `two words\n${REPORT}`.trimEnd(), omittedLines: 0 });
  });

  it('are gone with the reader', async () => {
    const bench = new Bench({});
    await bench.read();
    await bench.forget();
    expect(bench.removed).toHaveLength(2);
  });

  it('never show in the live view', async () => {
    const bench = new Bench({ log: LOG.slice(0, 5_000) });
    const reader = await bench.readers.start(
      { ...aRun(), plan: aPlan({ files: ['text'] }), containerName: 'kdebug-a', notAfterMs: 1 } as LaunchedRun,
      { terminated: true, startedAtMs: 0 },
    );
    await reader.result;
    expect(reader.tail(20, true)).toBe('two words');
  });

  it.each<[string, Reading]>([
    ['an image that is not diagnostic', { plan: {}, policy: NOT_DIAGNOSTIC }],
    ['a command of a person', { plan: { command: ['cat', '/f'] } }],
    ['another image than the alias has now', { plan: { image: 'other:1' } }],
  ])('stay text in the log of %s', async (_, reading) => {
    const { log, files, spool } = await new Bench(reading).read();
    expect(log).not.toHaveProperty('files');
    expect(files).toEqual([]);
    expect(await contentOf(spool)).toBe(LOG);
  });

  it.each<[string, Reading]>([
    ['the plan', { plan: { files: [] } }],
    ['the policy of now', { policy: { images: { autodiagnose: IMAGE } } }],
    ['a policy that calls the image diagnostic no more', { policy: NOT_DIAGNOSTIC }],
    ['a policy that has another version of the image by now', { plan: { files: ['text'], image: 'other:1' } }],
  ])('are refused by kind, and still no text, where %s does not name it', async (_, reading) => {
    const { log, files, spool } = await new Bench(reading).read();
    expect(log.files).toEqual([expect.objectContaining({ name: 'threads.txt', problem: 'kind-not-allowed' })]);
    expect(files).toEqual([]);
    expect(await contentOf(spool)).toBe(`two words\n${REPORT}`);
  });

  it('do not count to the limit of the log, which still counts', async () => {
    const plan = { maxLogBytes: 15 };
    const bench = new Bench({ plan: { ...plan, files: ['text'] } });
    const { log, files } = await bench.read();
    expect(files).toHaveLength(1);
    expect(log).toMatchObject({ bytes: 15, completeness: { complete: false, limitReached: true } });
    const { maxFilesBytes } = aPolicy().limits;
    expect(bench.requests[0]?.limitBytes).toBeGreaterThan(15 + maxFilesBytes * 1.4);
    const plain = new Bench({ plan: { ...plan, command: ['x'] } });
    await plain.read();
    expect(plain.requests[0]?.limitBytes).toBe(15);
  });

  it('are incomplete where the log ends in them, and the words before them stay', async () => {
    const { log, spool } = await new Bench({ log: LOG.slice(0, 5_000) }).read();
    expect(log.files).toEqual([expect.objectContaining({ name: 'threads.txt', problem: 'incomplete' })]);
    expect(await contentOf(spool)).toBe('two words\n');
  });

  it('add to the redactions of the log', async () => {
    const { log } = await new Bench({ log: frame('a.txt', 'password=hunter2hunter2\n') }).read();
    expect(log.redactions).toBe(1);
  });
});
