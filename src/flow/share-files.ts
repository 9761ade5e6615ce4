import { isBatchRun } from '../core/batch/batch-run.ts';
import type { Delivery, Run } from '../core/run/run.ts';
import type { BatchLogs } from './batch/batch-logs.ts';
import { batchFiles, wantedBatchFiles } from './batch/share-batch.ts';
import type { FlowDeps } from './deps.ts';
import type { LogReaders } from './log-readers.ts';
import type { Shared } from './ports/slack.ts';
import type { RunSession } from './session.ts';
import { type FilesToShare, logFile, logFileName, wantsLogFile } from './share-log.ts';

export interface FileSource {
  readonly session: RunSession;
  readonly deps: FlowDeps;
  readonly readers: LogReaders;
  readonly batchLogs: BatchLogs;
}

/** The names of the files that hold what is too long for a message: a run's log; a batch's index with its logs, and its table. */
export function wantedFiles(run: Run): readonly string[] {
  if (isBatchRun(run)) return wantedBatchFiles(run);
  return wantsLogFile(run) ? [logFileName(run)] : [];
}

/** The files that the run wants. @throws KdebugError what may pass */
export async function filesOf({ session, ...source }: FileSource): Promise<FilesToShare> {
  const { run } = session;
  return isBatchRun(run) ? { files: await batchFiles(run, source) } : logFile(session, source.readers);
}

/** What to record of files that were shared. */
export function deliveryOf(
  run: Run,
  names: readonly string[],
  { fileIds }: Shared,
): Pick<Delivery, 'fileId' | 'files'> {
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
