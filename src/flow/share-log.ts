import { toKdebugError } from '../core/errors.ts';
import { formatBytes } from '../core/report/duration.ts';
import type { Delivery, Run } from '../core/run/run.ts';
import type { LogReaders } from './log-readers.ts';
import { placeInstead } from './places.ts';
import type { Place, Thread } from './ports/slack.ts';
import type { RunSession } from './session.ts';

export interface LogToShare {
  readonly session: RunSession;
  readonly thread: Thread;
  readonly readers: LogReaders;
  readonly place: Place;
  /** The file may be there already. */
  readonly doubt: boolean;
  /** Throws when the run is no longer ours to speak of. */
  readonly sure: () => Promise<void>;
}

/** Whether a run has a log that is longer than its excerpt, and nobody has been given it. */
export function wantsFile({ log, delivery }: Run): boolean {
  const isLong = log !== undefined && log.omittedLines > 0 && log.bytes > 0;
  return isLong && delivery.fileId === undefined && delivery.fileLost === undefined;
}

/**
 * Shares the whole log as a file, once. A replica that did not read it itself reads it again. Resolves with what to record:
 * the file, or why there will be none. @throws KdebugError what may pass (`slack_unanswered`, `slack_token_rejected` …)
 */
export async function shareLog(share: LogToShare): Promise<Pick<Delivery, 'fileId' | 'fileLost'>> {
  try {
    return await shareAt(share);
  } catch (thrown) {
    const { code } = toKdebugError(thrown);
    if (code === 'slack_refused') return { fileLost: code };
    const place = await placeInstead(share.place, code, share.session.run, share.thread);
    if (!place) throw thrown;
    return shareLog({ ...share, place });
  }
}

async function shareAt({ session, thread, readers, place, doubt, sure }: LogToShare): ReturnType<typeof shareLog> {
  const { run } = session;
  const filename = `kdebug-${run.id}${run.late ? '-late' : ''}.log`;
  const found = doubt ? await thread.findFile(place, filename, run.origin.receivedAtMs) : undefined;
  if (found !== undefined) return { fileId: found };
  // The scratch file may have gone with the process that had read it.
  const reader = readers.of(run.id) ?? (await readers.again(session));
  if (!reader) return { fileLost: 'log_gone' };
  const { log, spool } = await reader.result;
  if (spool.bytes === 0) return { fileLost: log.completeness.interruptedBy ?? 'log_gone' };
  const again = log.sha256 === run.log?.sha256 ? '' : ', as read again after a restart';
  const fileId = await thread.upload(place, {
    filename,
    title: `Log of run ${run.id} (${formatBytes(spool.bytes)}${again})`,
    bytes: spool.bytes,
    open: () => spool.read(),
    sure,
  });
  return { fileId };
}
