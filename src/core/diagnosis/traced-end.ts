import { carrierName } from '../container/carrier.ts';
import type { Plan } from '../container/plan.ts';
import type { ContainerTermination, Pod } from '../container/pod.ts';
import { endOfDebugger } from '../container/status.ts';
import type { RunId } from '../ids.ts';
import type { Outcome } from '../outcome.ts';
import { type Diagnosis, parseReport } from './facts/report.ts';
import { isDeath } from './findings.ts';

/** The exit code of a program that its tracer ended because its time was over, as of timeout(1). */
export const OVERTIME = 124;
/** The beginning of the verdict on a program that the kernel did not start. */
const NOT_STARTED = 'Could not start: ';
/** The first words of what the tracer adds to the log of the program. */
const HEADING = '\nkdebug blackbox, run ';

/** The containers of a second run, as its pod has them. */
export interface TracedRun {
  readonly plan: Pick<Plan, 'onceMore' | 'podUid'>;
  readonly runId: RunId;
  readonly termination: ContainerTermination | undefined;
  readonly pod: Pod | undefined;
}

/**
 * The tracer's report on the end of a second run; undefined: it had no tracer, or the tracer reported nothing. Only the container's
 * message counts, and only with the key that the container which brought the tracer has left as its own: the program
 * could end its tracer and leave a message.
 */
export function tracedEndOf({ plan, runId, termination, pod }: TracedRun, redact: readonly string[] = []) {
  if (!plan.onceMore?.carrier || !termination || !pod) return undefined;
  const report = parseReport(termination.message, redact);
  const key = endOfDebugger(pod, carrierName(runId, plan.podUid))?.message.trim();
  return report?.key !== undefined && report.key === key ? report : undefined;
}

/** The tracer ended the program: it was still running. */
export const wasEndedByTracer = (report: Diagnosis | undefined, outcome: Outcome): boolean =>
  report !== undefined && outcome.kind === 'failed' && outcome.exitCode === OVERTIME && deathIn(report) === undefined;

export interface TracedDeath {
  /** The end of the process, without a subject: `died of SIGSEGV in pay+0x24 (shop)`. */
  readonly words: string;
  /** A signal or a lack of memory; what a program says before it exits tells more than where it did so. */
  readonly isSudden: boolean;
}

/** It traces one process, the program. */
const SUBJECT = /^Process \d+ (?:\([^)]*\) )?/;

export function deathIn({ findings }: Diagnosis): TracedDeath | undefined {
  const found = findings.find(isDeath);
  if (!found) return undefined;
  const words = found.text.replace(SUBJECT, '').replace(/\.$/, '');
  return { words, isSudden: found.code !== 'died_of_exit' };
}

/** Why the kernel did not start the program. */
export const startProblemIn = ({ verdict }: Diagnosis): string | undefined =>
  verdict.startsWith(NOT_STARTED) ? verdict.slice(NOT_STARTED.length).replace(/\.$/, '') : undefined;

/** What the tracer adds while the program lives: where it was when its memory was nearly full. */
const SAW = /^kdebug blackbox saw: (.*)\n?/gm;

/** The log of the program, without what its tracer added. */
export function ownLogOf(log: string): string {
  const at = log.lastIndexOf(HEADING);
  return (at < 0 ? log : log.slice(0, at)).replace(SAW, '');
}

/**
 * Where the program was when its memory was nearly full, as its log says: the program itself could have written that. The kernel may kill the tracer
 * together with it. Undefined: nothing was seen.
 */
export const lastSeenIn = (log: string): string | undefined =>
  [...log.matchAll(SAW)].map(([, words = '']) => words).findLast((words) => words.startsWith('memory '));

/** The exit code with which the tracer refuses to begin, and its words. */
const REFUSED = 125;
const REFUSAL = /^(?:Started too late|Not started): /;

/** Why the tracer did not start the program. */
export const refusalOfTracer = ({ exitCode, message }: ContainerTermination): string | undefined =>
  exitCode === REFUSED && REFUSAL.test(message) ? message.trim() : undefined;

/** Words of programs that do not bear a tracer, or must be the first process of their container. */
const DISTURBED =
  /LeakSanitizer has encountered a fatal error|does not work under ptrace|debugger (?:is )?(?:detected|present|attached)|\b(?:as|be|is|not|run) (?:pid|process) 1\b/i;

/** In words, that the program ended because of its tracer, as far as anybody can tell; undefined: nothing says so. */
export function disturbanceIn(report: Diagnosis | undefined, log: string): string | undefined {
  if (report?.unsure)
    return 'It was traced, and so lacked the rights that its file gives (set-uid or capabilities). Run it again with --untraced.';
  return DISTURBED.test(log)
    ? 'It may say that only because of its tracer, which is the first process and its debugger. Run it again with --untraced.'
    : undefined;
}
