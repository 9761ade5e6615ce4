import { containerName } from '../../core/container/build.ts';
import { toKdebugError } from '../../core/errors.ts';
import type { ByFileName } from '../../core/run/delivery.ts';
import type { BatchRun } from '../../core/run/life-cycle.ts';
import { batchFileName, countFiles, csvText, folderOf, indexText, podHead } from '../../core/say/batch/batch-files.ts';
import { logDoubt } from '../../core/say/parts/result-parts.ts';
import { formatBytes, formatCount } from '../../lib/duration.ts';
import { type PodSlot, podRunOf } from '../batch/run-pod.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { BatchLog, BatchLogs } from '../log/batch-logs.ts';
import type { LogReaders } from '../log/logs.ts';
import type { FileToShare } from '../ports/files.ts';
import type { Spool } from '../ports/machine.ts';

/** The files that can be shared, and codes for the others. */
export interface FilesToShare {
  readonly files: readonly FileToShare[];
  readonly lost: ByFileName;
}

export const fileToShare = (filename: string, title: string, spool: Spool): FileToShare => ({
  filename,
  title,
  bytes: spool.bytes,
  open: () => spool.read(),
});

interface LogsOfBatch {
  readonly deps: FlowDeps;
  readonly readers: LogReaders;
  readonly batchLogs: BatchLogs;
}

/** In Slack: its index with the logs, its table, and the archive of what its pods brought back. */
export function batchFileNames(run: BatchRun): readonly string[] {
  const { batch } = run;
  if (batch.firstLaunchAtMs === undefined) return [];
  const kinds = ['txt', 'csv', ...(countFiles(batch).whole === 0 ? [] : ['files' as const])] as const;
  return kinds.map((kind) => batchFileName(run, kind));
}

/** The files of a finished batch: every pod with its exit code, reason, message and log; a table of the outcomes; the archive. */
export async function batchFiles(run: BatchRun, names: readonly string[], logs: LogsOfBatch): Promise<FilesToShare> {
  const wanted = new Set(names);
  const [text, table, archive] = [batchFileName(run, 'txt'), batchFileName(run, 'csv'), batchFileName(run, 'files')];
  const log = logs.batchLogs.of(run);
  if (wanted.has(text) || wanted.has(archive)) await readAgain(run, log, logs);
  const files: FileToShare[] = [];
  if (wanted.has(text)) files.push(await textFile(run, log));
  if (wanted.has(table)) files.push(tableFile(run));
  const packed = wanted.has(archive) ? await archiveFile(run, log) : undefined;
  return typeof packed === 'string'
    ? { files, lost: { [archive]: packed } }
    : { files: packed ? [...files, packed] : files, lost: {} };
}

const tableFile = (run: BatchRun): FileToShare => ({
  filename: batchFileName(run, 'csv'),
  title: `Outcomes of batch ${run.id}`,
  bytes: lengthOf(csvText(run)),
  open: async function* () {
    yield* bytesOf(csvText(run));
  },
});

async function textFile(run: BatchRun, log: BatchLog): Promise<FileToShare> {
  const spool = await log.finished();
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

/** Or why there is none (a code). */
async function archiveFile(run: BatchRun, { archive }: BatchLog): Promise<FileToShare | string> {
  try {
    const spool = await archive.finished();
    if (!spool) return 'log_gone';
    const title = `Files of batch ${run.id}, a folder for each pod (${formatBytes(spool.bytes)})`;
    return fileToShare(batchFileName(run, 'files'), title, spool);
  } catch (thrown) {
    return toKdebugError(thrown).code;
  }
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
async function readAgain(run: BatchRun, log: BatchLog, { readers, deps }: LogsOfBatch): Promise<void> {
  const missing = missingOf(run, log);
  const worker = async (): Promise<void> => {
    for (let slot = missing.shift(); slot; slot = missing.shift()) {
      const part = podRunOf(run, slot);
      const startedAtMs = run.batch.pods[slot.index]?.startedAtMs ?? deps.clock.now();
      const launched = { ...part, containerName: containerName(part.id, part.plan.podUid) };
      const read = await (await readers.start(launched, { terminated: true, startedAtMs })).result;
      const doubt = logDoubt(read.log.completeness);
      const { index, container } = slot;
      const files = await log.archive.add(folderOf(run, index, container), read, deps.clock.now());
      await log.add(slot, read.spool, (head) => podHead(run, index, { container, doubt, files, ...head }));
      await readers.forget(part.id);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function missingOf({ batch }: BatchRun, log: BatchLog): PodSlot[] {
  return batch.pods.flatMap(({ index, results = [] }) =>
    results.flatMap((result, container) =>
      ((result?.logBytes ?? 0) > 0 || (result?.files ?? 0) > 0) && !log.has(index, container)
        ? [{ index, container }]
        : [],
    ),
  );
}
