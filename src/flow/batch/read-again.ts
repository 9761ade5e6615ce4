import type { BatchRun } from '../../core/batch/batch-run.ts';
import { containerName } from '../../core/container/build.ts';
import { podHead } from '../../core/report/batch/batch-files.ts';
import { logDoubt } from '../../core/report/log-caveats.ts';
import type { FlowDeps } from '../deps.ts';
import type { LogReaders } from '../log-readers.ts';
import type { BatchLog } from './batch-logs.ts';
import { type Place, partOf, sessionOf } from './part.ts';

/** Logs that are read at the same time. */
const AT_ONCE = 8;

/**
 * Reads once more what went with the process that had read it: the logs of the pods of a batch that ended before a crash. What
 * the node does not have any more stays out; the index still tells of it.
 */
export async function readAgain(
  run: BatchRun,
  log: BatchLog,
  { readers, deps }: { readonly readers: LogReaders; readonly deps: FlowDeps },
): Promise<void> {
  const missing = missingOf(run, log);
  const worker = async (): Promise<void> => {
    for (let place = missing.shift(); place; place = missing.shift()) {
      const part = partOf(run, place);
      const startedAtMs = run.batch.pods[place.index]?.startedAtMs ?? deps.clock.now();
      const session = sessionOf({ ...part, containerName: containerName(part.id, part.plan.podUid) });
      const read = await (await readers.start(session, { terminated: true, startedAtMs })).result;
      const doubt = logDoubt(read.log.completeness);
      const { index, container } = place;
      await log.add(place, read.spool, (head) => podHead(run, index, { container, doubt, ...head }));
      await readers.forget(part.id);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function missingOf({ batch }: BatchRun, log: BatchLog): Place[] {
  return batch.pods.flatMap(({ index, results = [] }) =>
    results.flatMap((result, container) =>
      (result?.logBytes ?? 0) > 0 && !log.has(index, container) ? [{ index, container }] : [],
    ),
  );
}
