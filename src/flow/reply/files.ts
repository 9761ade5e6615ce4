import { containerName } from '../../core/container/build.ts';
import { batchFileName, csvText, indexText, podHead } from '../../core/report/batch/batch-files.ts';
import { logDoubt } from '../../core/report/parts/result-parts.ts';
import type { SharedFiles } from '../../core/run/delivery.ts';
import { type BatchRun, isBatchRun } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import { formatBytes, formatCount } from '../../lib/duration.ts';
import type { BatchLog, BatchLogs } from '../batch/logs.ts';
import { type PodSlot, podRunOf } from '../batch/run-pod.ts';
import type { FlowDeps } from '../deps.ts';
import type { HeldRun } from '../held-run.ts';
import type { Spool } from '../ports/machine.ts';
import type { FileToShare, Shared } from '../ports/slack.ts';
import type { LogReaders } from '../stages/logs.ts';

export interface FileSource {
  readonly session: HeldRun;
  readonly deps: FlowDeps;
  readonly readers: LogReaders;
  readonly batchLogs: BatchLogs;
}

/** For what is too long for a message: a run's log; a batch's index with its logs, and its table. */
export function wantedFiles(run: Run): readonly string[] {
  if (isBatchRun(run)) return wantedBatchFiles(run);
  return wantsLogFile(run) ? [logFileName(run)] : [];
}

/** @throws KdebugError failures that may pass */
export async function filesOf({ session, ...source }: FileSource): Promise<FilesToShare> {
  const { run } = session;
  return isBatchRun(run) ? { files: await batchFiles(run, source) } : logFile(run, source.readers);
}

export function sharedFiles(run: Run, names: readonly string[], { fileIds }: Shared): SharedFiles {
  const ids = Object.fromEntries(
    names.flatMap((name, index) => {
      const id = fileIds[index];
      return id === undefined ? [] : [[name, id]];
    }),
  );
  if (isBatchRun(run)) return { files: { ...run.delivery.files, ...ids } };
  const [fileId] = fileIds;
  return fileId === undefined ? {} : { fileId };
}

/** `lost`: a code. */
export type FilesToShare = { readonly files: readonly FileToShare[] } | { readonly lost: string };

function wantsLogFile({ log, delivery }: Run): boolean {
  const isLong = log !== undefined && log.omittedLines > 0 && log.bytes > 0;
  return isLong && delivery.fileId === undefined && delivery.fileLost === undefined;
}

/** A late end has its own log, beside the one shared before. */
export const logFileName = ({ id, late: endedLate }: Pick<Run, 'id' | 'late'>): string =>
  `kdebug-${id}${endedLate ? '-late' : ''}.log`;

/** Reads the log again if this replica has not read it. */
async function logFile(run: Run, readers: LogReaders): Promise<FilesToShare> {
  // The scratch file may have gone with the process that read it.
  const reader = readers.of(run.id) ?? (await readers.again(run));
  if (!reader) return { lost: 'log_gone' };
  const { log, spool } = await reader.result;
  if (spool.bytes === 0) return { lost: log.completeness.interruptedBy ?? 'log_gone' };
  const again = log.sha256 === run.log?.sha256 ? '' : ', as read again after a restart';
  const title = `Log of run ${run.id} (${formatBytes(spool.bytes)}${again})`;
  return { files: [{ filename: logFileName(run), title, bytes: spool.bytes, open: () => spool.read() }] };
}

interface LogsOfBatch {
  readonly deps: FlowDeps;
  readonly readers: LogReaders;
  readonly batchLogs: BatchLogs;
}

function wantedBatchFiles(run: BatchRun): readonly string[] {
  const { batch, delivery } = run;
  if (batch.firstLaunchAtMs === undefined || delivery.fileLost !== undefined) return [];
  const names = KINDS.map((kind) => batchFileName(run, kind));
  return names.filter((name) => delivery.files?.[name] === undefined);
}

const KINDS = ['txt', 'csv'] as const;

/** The files of a finished batch: every pod with its exit code, reason, message and log; and a table of the outcomes. */
async function batchFiles(run: BatchRun, logs: LogsOfBatch): Promise<readonly FileToShare[]> {
  const wanted = new Set(wantedBatchFiles(run));
  const files: FileToShare[] = [];
  if (wanted.has(batchFileName(run, 'txt'))) files.push(await batchFile(run, logs));
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

async function batchFile(run: BatchRun, { deps, readers, batchLogs }: LogsOfBatch): Promise<FileToShare> {
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

/** Gathers small pieces to save writes. */
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

const AT_ONCE = 8;

/**
 * Reads again the logs of a batch that ended before a crash, whose copies went with the process. Omits what the node no longer has; the
 * index still mentions it.
 */
async function readAgain(
  run: BatchRun,
  log: BatchLog,
  { readers, deps }: { readonly readers: LogReaders; readonly deps: FlowDeps },
): Promise<void> {
  const missing = missingOf(run, log);
  const worker = async (): Promise<void> => {
    for (let slot = missing.shift(); slot; slot = missing.shift()) {
      const part = podRunOf(run, slot);
      const startedAtMs = run.batch.pods[slot.index]?.startedAtMs ?? deps.clock.now();
      const launched = { ...part, containerName: containerName(part.id, part.plan.podUid) };
      const read = await (await readers.start(launched, { terminated: true, startedAtMs })).result;
      const doubt = logDoubt(read.log.completeness);
      const { index, container } = slot;
      await log.add(slot, read.spool, (head) => podHead(run, index, { container, doubt, ...head }));
      await readers.forget(part.id);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function missingOf({ batch }: BatchRun, log: BatchLog): PodSlot[] {
  return batch.pods.flatMap(({ index, results = [] }) =>
    results.flatMap((result, container) =>
      (result?.logBytes ?? 0) > 0 && !log.has(index, container) ? [{ index, container }] : [],
    ),
  );
}
