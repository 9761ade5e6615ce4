import type { ByFileName } from '../../core/run/delivery.ts';
import { isBatchRun } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import {
  type AudienceOf,
  goesAlone,
  isLogShared,
  logFileName,
  sharedName,
  wholeFiles,
} from '../../core/run/shared-files.ts';
import { formatBytes } from '../../lib/duration.ts';
import { defined } from '../../lib/object.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { HeldRun } from '../context/held-run.ts';
import type { BatchLogs } from '../log/batch-logs.ts';
import type { LogReaders, ReadLog } from '../log/logs.ts';
import type { FileToShare } from '../ports/files.ts';
import { batchFileNames, batchFiles, type FilesToShare, fileToShare } from './batch-files.ts';

export interface FileSource {
  readonly held: HeldRun;
  readonly deps: FlowDeps;
  readonly readers: LogReaders;
  readonly batchLogs: BatchLogs;
}

/** Slack takes ten with one message. */
const MAX_FILES_A_MESSAGE = 10;

/** Names of files that Slack lacks, at most as many as one message takes. */
export interface WantedFiles {
  readonly withResult: readonly string[];
  /** For the requester alone: they may hold secrets, and others read the result. */
  readonly alone: readonly string[];
}

/** A run's long log and what it brought back; a batch's index with its logs, its table and its archive. */
export function wantedFiles(run: Run, audience: AudienceOf): WantedFiles {
  const { files = {}, filesLost = {} } = run.delivery;
  const lacking = (names: readonly string[]): readonly string[] =>
    names
      .filter((name) => !Object.hasOwn(files, name) && !Object.hasOwn(filesLost, name))
      .slice(0, MAX_FILES_A_MESSAGE);
  if (isBatchRun(run)) return { withResult: lacking(batchFileNames(run)), alone: [] };
  const brought = wholeFiles(run);
  const alone = brought.filter((file) => goesAlone(run, file, audience));
  const withResult = brought.filter((file) => !alone.includes(file));
  const log = isLogShared(run) ? [logFileName(run)] : [];
  return {
    withResult: lacking([...log, ...withResult.map((file) => sharedName(run, file))]),
    alone: lacking(alone.map((file) => sharedName(run, file))),
  };
}

/** @throws KdebugError failures that may pass */
export async function filesOf({ held, ...source }: FileSource, names: readonly string[]): Promise<FilesToShare> {
  const { run } = held;
  const found = isBatchRun(run) ? await batchFiles(run, names, source) : await runFiles(run, names, source.readers);
  const files = found.files.filter(({ bytes }) => bytes > 0);
  const empty = found.files.filter(({ bytes }) => bytes === 0);
  return {
    files,
    lost: {
      ...found.lost,
      ...codes(
        empty.map(({ filename }) => filename),
        'empty_file',
      ),
    },
  };
}

/** The same code for each name. */
export const codes = (names: readonly string[], code: string): ByFileName =>
  Object.fromEntries(names.map((name) => [name, code]));

/** Reads the log again if this replica has not read it. */
async function runFiles(run: Run, names: readonly string[], readers: LogReaders): Promise<FilesToShare> {
  // The scratch files may have gone with the process that read it.
  const reader = readers.of(run.id) ?? (await readers.again(run));
  if (!reader) return { files: [], lost: codes(names, 'log_gone') };
  const read = await reader.result;
  const found = names.map((name) => fileOf(run, name, read));
  return {
    files: found.filter((file) => typeof file !== 'string'),
    lost: Object.fromEntries(found.flatMap((code, index) => (typeof code === 'string' ? [[names[index], code]] : []))),
  };
}

/** The file of this name in Slack, or a code. */
function fileOf(run: Run, name: string, read: ReadLog): FileToShare | string {
  if (name === logFileName(run)) return logFile(run, read);
  const wanted = wholeFiles(run).find((file) => sharedName(run, file) === name);
  const found = read.files.find(({ file }) => file.name === wanted?.name);
  if (!wanted || !found) return read.log.completeness.interruptedBy ?? 'log_gone';
  const title = `${wanted.name} of run ${run.id} (${formatBytes(found.spool.bytes)})`;
  const altText = wanted.name === 'cpu.png' ? flameGraphText(run) : undefined;
  return { ...fileToShare(name, title, found.spool), ...defined({ altText }) };
}

/** files.getUploadURLExternal, `alt_txt`. */
const MAX_ALT_TEXT = 1_000;

/** The picture of the image `profile` in words: what its verdict, redacted as all of a run, says of the hottest functions. */
function flameGraphText({ verdict }: Run): string {
  const isAboutFunctions = (words: string): boolean => words.includes('% of the CPU time');
  const found = (verdict?.findings ?? []).map(({ text }) => text).filter(isAboutFunctions);
  // The line says the findings again.
  const hottest = found.length > 0 ? found : [verdict?.line ?? ''].filter(isAboutFunctions);
  return [`Flame graph of CPU time${hottest.length === 0 ? '' : ':'}`, hottest.join('; ')]
    .join(' ')
    .trim()
    .slice(0, MAX_ALT_TEXT);
}

function logFile(run: Run, { log, spool }: ReadLog): FileToShare | string {
  if (spool.bytes === 0) return log.completeness.interruptedBy ?? 'log_gone';
  const again = log.sha256 === run.log?.sha256 ? '' : ', as read again after a restart';
  return fileToShare(logFileName(run), `Log of run ${run.id} (${formatBytes(spool.bytes)}${again})`, spool);
}
