import { formatBytes, formatCount } from '../../../lib/duration.ts';
import { own } from '../../../lib/object.ts';
import type { FileProblem, RunFile } from '../../files/run-file.ts';
import { isBatchRun } from '../../run/life-cycle.ts';
import type { Run } from '../../run/run.ts';
import { type AudienceOf, goesAlone, logFileName, sharedName, wholeFiles } from '../../run/shared-files.ts';
import { message, paragraph, type Shown } from '../message/line.ts';
import { type Message, quietPerson } from '../message/message.ts';

/** After the name of the file. */
const PROBLEM_TEXT: Readonly<Record<FileProblem, string>> = {
  incomplete: 'some of it did not arrive',
  'wrong-hash': 'what arrived is not what was sent',
  'too-large': 'it is larger than the policy allows',
  'too-many': 'the policy does not allow so many files',
  'kind-not-allowed': 'the policy does not allow files of this kind',
  'bad-name': 'its name is not one of a file',
  'spool-full': 'kdebug had no room for it',
};

/** At most this many missing files are listed, because an image may announce any number. */
const MAX_MISSING = 8;

/**
 * The files that a run brought back: those beside the result, those that only the requester has, and those that are
 * missing, each with the reason. Names and sizes only, so that anybody may read it who may see the output.
 */
export function filesParts(run: Run, audience: AudienceOf): Shown {
  const present = wholeFiles(run).filter((file) => lostBy(run, sharedName(run, file)) === undefined);
  const alone = present.filter((file) => goesAlone(run, file, audience));
  const shown = present.filter((file) => !alone.includes(file));
  return [
    shown.length > 0 && paragraph`${formatCount(shown.length, 'file')}: ${listOf(shown)}.`,
    alone.length > 0 &&
      paragraph`Only ${quietPerson(run.origin.requesterId)} gets ${listOf(alone)}, by direct message.`,
    missingPart(run),
  ];
}

/** `threads.txt (12 KiB), cpu.pb.gz (1.0 MiB, not redacted)`. */
const listOf = (files: readonly RunFile[]): string => files.map(wordsOf).join(', ');

const wordsOf = ({ name, bytes, isRedacted }: RunFile): string =>
  `${name} (${formatBytes(bytes)}${isRedacted ? '' : ', not redacted'})`;

function missingPart(run: Run): Shown {
  const missing = (run.log?.files ?? []).flatMap((file) => {
    const why = whyMissing(run, file);
    return why === undefined ? [] : [`${file.name} (${why})`];
  });
  if (missing.length === 0) return [];
  const named = missing.slice(0, MAX_MISSING).join(', ');
  const more = missing.length > MAX_MISSING && ` and ${missing.length - MAX_MISSING} more`;
  return paragraph`Not posted: ${named}${more}.`;
}

/** `cpu.svg (some of it did not arrive)`; undefined for a whole file. */
export const problemWords = ({ name, problem }: RunFile): string | undefined =>
  problem && `${name} (${PROBLEM_TEXT[problem]})`;

function whyMissing(run: Run, file: RunFile): string | undefined {
  if (file.problem !== undefined) return PROBLEM_TEXT[file.problem];
  const code = lostBy(run, sharedName(run, file));
  return code === undefined ? undefined : lostWords(code);
}

const LOST_TEXT: Readonly<Record<string, string>> = {
  empty_file: 'it is empty',
  log_gone: 'it was lost in a restart, and the node no longer has the log',
  log_unavailable: 'it could not be read',
  slack_channel_closed: 'its channel is closed to kdebug',
  slack_message_gone: 'its thread is gone',
  slack_refused: 'Slack refused it',
  slack_thread_closed: 'its thread is closed',
  slack_unanswered: 'Slack did not answer',
  spool_failed: 'kdebug could not write it to its disk',
  spool_full: 'kdebug had no room for it',
};

/**
 * The reason why Slack will never have a file, in brackets after the name of what was lost. Codes are for the operator,
 * who finds them in the log.
 */
export const lostWords = (code: string): string =>
  own(LOST_TEXT, code) ?? 'kdebug could not share it, and its own log says why';

/** The code of the reason why Slack will never have this file. */
const lostBy = ({ delivery }: Run, name: string): string | undefined => own(delivery.filesLost ?? {}, name);

/** The code of the reason why a run's log is not shared as a file; undefined while it may be. */
export const logLostBy = (run: Run): string | undefined => lostBy(run, logFileName(run));

/** The message that carries files posted after their result, by their names in Slack. */
export function fileMessage(run: Run, names: readonly string[]): Message {
  return plainMessage(wordsOfMessage(run, names));
}

function wordsOfMessage(run: Run, names: readonly string[]): string {
  if (isBatchRun(run)) return `Files of batch ${run.id}`;
  const what = names.every((name) => name === logFileName(run)) ? 'Full log' : 'Files';
  return `${what} of ${podWords(run)}run ${run.id}${run.late ? ', which finished late' : ''}`;
}

const podWords = ({ plan }: Run): string => (plan === undefined ? '' : `${plan.podName}, `);

/** The message to the requester alone, with files that may hold secrets. */
export function secretFilesMessage(run: Run): Message {
  const where = run.plan === undefined ? '' : `${run.plan.namespace}/${run.plan.podName}, `;
  return plainMessage(
    `For you alone, from ${where}run ${run.id}. Nothing in it is redacted, so it may hold passwords and other people’s data.`,
  );
}

const plainMessage = (words: string): Message => message({ tone: 'neutral' }, [paragraph`${words}`]);
