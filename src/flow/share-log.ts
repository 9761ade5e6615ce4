import { formatBytes } from '../core/report/duration.ts';
import type { Run } from '../core/run/run.ts';
import type { LogReaders } from './log-readers.ts';
import type { FileToShare } from './ports/slack.ts';
import type { RunSession } from './session.ts';

/** Files that go with a message, or why there is none (a code). */
export type FilesToShare = { readonly files: readonly FileToShare[] } | { readonly lost: string };

/** Whether a run has a log that is longer than its excerpt, and nobody has been given it. */
export function wantsLogFile({ log, delivery }: Run): boolean {
  const isLong = log !== undefined && log.omittedLines > 0 && log.bytes > 0;
  return isLong && delivery.fileId === undefined && delivery.fileLost === undefined;
}

/** A late end has a log of its own, beside the one that was shared before. */
export const logFileName = ({ id, late }: Pick<Run, 'id' | 'late'>): string => `kdebug-${id}${late ? '-late' : ''}.log`;

/** The whole log as a file, or why there is none. A replica that did not read it itself reads it again. */
export async function logFile(session: RunSession, readers: LogReaders): Promise<FilesToShare> {
  const { run } = session;
  // The scratch file may have gone with the process that had read it.
  const reader = readers.of(run.id) ?? (await readers.again(session));
  if (!reader) return { lost: 'log_gone' };
  const { log, spool } = await reader.result;
  if (spool.bytes === 0) return { lost: log.completeness.interruptedBy ?? 'log_gone' };
  const again = log.sha256 === run.log?.sha256 ? '' : ', as read again after a restart';
  const title = `Log of run ${run.id} (${formatBytes(spool.bytes)}${again})`;
  return { files: [{ filename: logFileName(run), title, bytes: spool.bytes, open: () => spool.read() }] };
}
