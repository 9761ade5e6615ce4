import type { BatchRun } from '../../core/batch/batch-run.ts';
import { batchFileName, csvText, indexText } from '../../core/report/batch/batch-files.ts';
import { formatCount } from '../../core/report/duration.ts';
import type { FlowDeps } from '../deps.ts';
import type { LogReaders } from '../log-readers.ts';
import type { Spool } from '../ports/machine.ts';
import type { FileToShare } from '../ports/slack.ts';
import type { BatchLogs } from './batch-logs.ts';
import { readAgain } from './read-again.ts';

interface LogsOfBatch {
  readonly deps: FlowDeps;
  readonly readers: LogReaders;
  readonly batchLogs: BatchLogs;
}

/** The names of the files that a batch has to tell of its pods, and that nobody has been given. */
export function wantedBatchFiles(run: BatchRun): readonly string[] {
  const { batch, delivery } = run;
  if (batch.firstLaunchAtMs === undefined || delivery.fileLost !== undefined) return [];
  const names = KINDS.map((kind) => batchFileName(run, kind));
  return names.filter((name) => delivery.files?.[name] === undefined);
}

const KINDS = ['txt', 'csv'] as const;

/** The files of a batch that has ended: every pod with its exit code, reason, message and log, and the outcomes as a table. */
export async function batchFiles(run: BatchRun, logs: LogsOfBatch): Promise<readonly FileToShare[]> {
  const wanted = new Set(wantedBatchFiles(run));
  const files: FileToShare[] = [];
  if (wanted.has(batchFileName(run, 'txt'))) files.push(await logFile(run, logs));
  if (wanted.has(batchFileName(run, 'csv'))) files.push(tableFile(run));
  return files;
}

const tableFile = (run: BatchRun): FileToShare => ({
  filename: batchFileName(run, 'csv'),
  title: `Outcomes of batch ${run.id}`,
  bytes: lengthOf(csvText(run)),
  open: async function* () {
    yield* bytesOf(csvText(run));
  },
});

async function logFile(run: BatchRun, { deps, readers, batchLogs }: LogsOfBatch): Promise<FileToShare> {
  const log = batchLogs.of(run);
  await readAgain(run, log, { deps, readers });
  const spool: Spool = await log.finished();
  return {
    filename: batchFileName(run, 'txt'),
    title: `Batch ${run.id}: ${formatCount(run.batch.pods.length, 'pod')} with their logs`,
    bytes: lengthOf(indexText(run, log.lostBy)) + spool.bytes,
    open: async function* () {
      yield* bytesOf(indexText(run, log.lostBy));
      yield* spool.read();
    },
  };
}

/** Small pieces make many writes: they are gathered. */
const GATHERED = 64 * 1024;

function* bytesOf(texts: Iterable<string>): Generator<Uint8Array> {
  let gathered = '';
  for (const text of texts) {
    gathered += text;
    if (gathered.length < GATHERED) continue;
    yield Buffer.from(gathered);
    gathered = '';
  }
  if (gathered !== '') yield Buffer.from(gathered);
}

function lengthOf(texts: Iterable<string>): number {
  let bytes = 0;
  for (const text of texts) bytes += Buffer.byteLength(text);
  return bytes;
}
