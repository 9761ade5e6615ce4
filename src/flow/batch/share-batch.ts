import { type BatchRun, isBatchRun } from '../../core/batch/batch-run.ts';
import { toKdebugError } from '../../core/errors.ts';
import { batchFileName, csvText, indexText } from '../../core/report/batch/batch-files.ts';
import { formatCount } from '../../core/report/duration.ts';
import type { Delivery } from '../../core/run/run.ts';
import type { FlowDeps } from '../deps.ts';
import type { LogReaders } from '../log-readers.ts';
import { placeInstead } from '../places.ts';
import type { Spool } from '../ports/machine.ts';
import type { FileToShare, Place } from '../ports/slack.ts';
import type { RunSession } from '../session.ts';
import type { BatchLogs } from './batch-logs.ts';
import { readAgain } from './read-again.ts';

export interface BatchToShare {
  readonly session: RunSession;
  readonly deps: FlowDeps;
  readonly readers: LogReaders;
  readonly batchLogs: BatchLogs;
  readonly place: Place;
  /** A file may be there already. */
  readonly doubt: boolean;
  /** Throws when the batch is no longer ours to speak of. */
  readonly sure: () => Promise<void>;
}

/** Whether a batch has something to tell of its pods that nobody has been given. */
export function wantsFiles({ batch, delivery }: BatchRun): boolean {
  const isWhole = Object.keys(delivery.files ?? {}).length === KINDS.length;
  return batch.firstLaunchAtMs !== undefined && !isWhole && delivery.fileLost === undefined;
}

const KINDS = ['txt', 'csv'] as const;

/**
 * Shares the files of a batch that has ended, each once: every pod with its exit code, reason, message and log, and the
 * outcomes as a table. Calls `record` after each. @throws KdebugError what may pass (`slack_unanswered` …)
 */
export async function shareBatch(share: BatchToShare, record: (said: Delivery) => Promise<void>): Promise<void> {
  for (const kind of KINDS) {
    const { run } = share.session;
    if (!isBatchRun(run) || run.delivery.files?.[batchFileName(run, kind)] !== undefined) continue;
    try {
      const fileId = await shareOne(share, run, kind);
      await record({ files: { ...run.delivery.files, [batchFileName(run, kind)]: fileId } });
    } catch (thrown) {
      const { code } = toKdebugError(thrown);
      if (code !== 'slack_refused') throw thrown;
      return record({ fileLost: code });
    }
  }
}

async function shareOne(share: BatchToShare, run: BatchRun, kind: (typeof KINDS)[number]): Promise<string> {
  const { deps, place, doubt } = share;
  const { thread } = deps;
  const filename = batchFileName(run, kind);
  const found = doubt ? await thread.findFile(place, filename, run.origin.receivedAtMs) : undefined;
  if (found !== undefined) return found;
  const file = { ...(kind === 'csv' ? tableFile(run) : await logFile(share, run)), sure: share.sure };
  try {
    return await thread.upload(place, file);
  } catch (thrown) {
    const instead = await placeInstead(place, toKdebugError(thrown).code, run, thread);
    if (!instead) throw thrown;
    return shareOne({ ...share, place: instead }, run, kind);
  }
}

const tableFile = (run: BatchRun): FileToShare => ({
  filename: batchFileName(run, 'csv'),
  title: `Outcomes of batch ${run.id}`,
  bytes: lengthOf(csvText(run)),
  open: async function* () {
    yield* bytesOf(csvText(run));
  },
});

async function logFile({ deps, readers, batchLogs }: BatchToShare, run: BatchRun): Promise<FileToShare> {
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
