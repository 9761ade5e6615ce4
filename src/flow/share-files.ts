import { isBatchRun } from '../core/batch/batch-run.ts';
import type { Delivery } from '../core/run/run.ts';
import { type BatchToShare, shareBatch, wantsFiles } from './batch/share-batch.ts';
import { filePlaceOf } from './places.ts';
import { shareLog, wantsFile } from './share-log.ts';
import { isForRequesterAlone } from './slack-connect.ts';

/**
 * Shares what is too long for a message: a run's log, a batch's index with its logs and table. `record` is called after each
 * file, and when there will be none. @throws KdebugError what may pass
 */
export async function shareFiles(
  share: Omit<BatchToShare, 'place'>,
  record: (said: Delivery) => Promise<void>,
): Promise<void> {
  const { run } = share.session;
  const isBatch = isBatchRun(run);
  if (isBatch ? !wantsFiles(run) : !wantsFile(run)) return;
  await share.sure();
  const isPrivate = await isForRequesterAlone(run.origin, share.deps);
  const placed = { ...share, place: await filePlaceOf(run, isPrivate, share.deps.thread) };
  if (isBatch) await shareBatch(placed, record);
  else await record(await shareLog({ ...placed, thread: share.deps.thread }));
}
