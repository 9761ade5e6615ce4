import { createHash, randomBytes } from 'node:crypto';
import { createSpools } from '../../src/adapters/spool/index.ts';
import { systemClock } from '../../src/adapters/system/index.ts';
import { FrameParser } from '../../src/core/files/frame-parser.ts';
import { asRunId, asUserId } from '../../src/core/ids.ts';
import { createExcerpt } from '../../src/core/redact/excerpt.ts';
import { createLogFilter } from '../../src/core/redact/log-filter.ts';
import { LogReader } from '../../src/flow/log/logs.ts';
import { RunFiles } from '../../src/flow/log/run-files.ts';
import type { Cluster } from '../../src/flow/ports/cluster.ts';
import { Turns } from '../../src/lib/turns.ts';
import { type LogReading, startMeter } from './log-reader.ts';
import type { Served } from './served.ts';

export interface FileReaderConfig {
  /** Its ending says whether it is redacted. */
  readonly name: string;
  readonly bytes: number;
}

/** As `LogReading`; `complete`: the file came whole, and equal. */
export type FileReading = LogReading;

const BLOCK_BYTES = 64 * 1024;
/** What images/tools writes into one line. */
const LINE_BYTES = 5_994;

/** One file through the reader of logs, as production reads it from the first block to its spool; the cluster's part is in memory. */
export async function readFileOnce({ name, bytes }: FileReaderConfig): Promise<Served<FileReading>> {
  const content = contentOf(name, bytes);
  const log = logOf(name, content);
  const cluster = { collectLog: collectorOf(log) } as unknown as Cluster;
  const spools = createSpools();
  const openSpool = () => spools.open({ runId: asRunId('aaaaaaaaaa'), requesterId: asUserId('U0BENCH') });
  const turns = new Turns(systemClock).of('U0BENCH');
  const limits = { maxFileBytes: bytes, maxFiles: 1, maxFilesBytes: bytes };
  const kinds = ['text', 'profile', 'capture', 'heap'] as const;
  const spool = await openSpool();
  const meter = startMeter();
  const reader = new LogReader(
    {
      cluster,
      pod: { namespace: 'default', name: 'web', uid: 'uid' },
      containerName: 'app',
      terminated: true,
      startedAtMs: Date.now(),
      limitBytes: log.length,
    },
    {
      filter: createLogFilter({ redact: [] }),
      excerpt: createExcerpt({ headLines: 15, tailLines: 25, maxBytes: 2_500 }),
      spool,
      turns,
      frames: {
        parser: new FrameParser(log.length),
        files: new RunFiles({ kinds, limits, redact: [], openSpool, turns }),
      },
    },
  );
  const { files } = await reader.result;
  const measured = meter();
  const complete = files[0]?.file.sha256 === createHash('sha256').update(content).digest('hex');
  await Promise.all([spool, ...files.map((each) => each.spool)].map((each) => each.remove()));
  return { result: { ...measured, bytes, complete } };
}

function contentOf(name: string, bytes: number): Buffer {
  if (!name.endsWith('.txt')) return randomBytes(bytes);
  return Buffer.alloc(bytes, '"http-nio-8080-exec-7" #61 daemon prio=5 tid=0x00007f3c waiting on condition\n');
}

function logOf(name: string, content: Buffer): Buffer {
  const sha256 = createHash('sha256').update(content).digest('hex');
  const lines: string[] = [];
  for (let from = 0; from < content.length; from += LINE_BYTES) {
    const number = String(lines.length + 1).padStart(6, '0');
    lines.push(`${number} ${content.toString('base64', from, from + LINE_BYTES)}\n`);
  }
  return Buffer.from(
    `words\n-----BEGIN KDEBUG FILE name=${name} bytes=${content.length} sha256=${sha256} encoding=base64-----\n${lines.join('')}-----END KDEBUG FILE name=${name} lines=${lines.length}-----\n`,
  );
}

const collectorOf =
  (log: Buffer): Cluster['collectLog'] =>
  async (_, sink) => {
    for (let from = 0; from < log.length; from += BLOCK_BYTES) await sink.write(log.subarray(from, from + BLOCK_BYTES));
    return { complete: true, limitReached: false, beginningMayBeMissing: false, gaps: [] };
  };
