import type { OnceMore } from '../container/once-more.ts';
import type { ContainerStatus, ContainerTermination, Pod } from '../container/pod.ts';
import { statusOfTarget } from '../container/status.ts';
import { signalWords } from './reading/phrases.ts';

/** The container whose program ran once more, and its own last end. */
export interface FirstRun {
  readonly status: ContainerStatus;
  /** Its last end. */
  readonly ended: ContainerTermination | undefined;
  readonly memoryLimit: string | undefined;
}

export function firstRunOf(pod: Pod | undefined, container: string): FirstRun | undefined {
  const status = pod && statusOfTarget(pod, container);
  if (!status) return undefined;
  const spec = [...pod.spec.containers, ...pod.spec.initContainers].find(({ name }) => name === container);
  return { status, ended: status.terminated ?? status.lastTermination, memoryLimit: spec?.memoryLimit };
}

/** Words of a program that finds another one in its place. */
const HELD =
  /\b(?:address (?:already )?in use|already in use|EADDRINUSE|in use by another|connection in use|already running|another (?:process|instance|server|node|\w{1,20} process)|(?:un)?able to (?:lock|acquire)|could not (?:lock|acquire)|lock(?:ed)?\b.{0,40}\b(?:held|by|exists|failed)|(?:database|file|directory|resource|node) is (?:already )?locked|resource temporarily unavailable|lock file\b.{0,80}\bexists)\b/i;

/**
 * The container ran at the same time as the second run, which complains that something is held: that may be its own
 * first run. The kubelet gives times in seconds; the container was down when the second run was launched.
 */
export function ranAtOnce(
  first: FirstRun | undefined,
  second: ContainerTermination | undefined,
  words: string,
): boolean {
  if (!first || !second || !HELD.test(words)) return false;
  const { running, terminated, lastTermination } = first.status;
  if (running && Date.parse(running.startedAt) <= Date.parse(second.finishedAt)) return true;
  return [terminated, lastTermination].some((run) => run !== undefined && overlap(run, second));
}

const overlap = (first: ContainerTermination, second: ContainerTermination): boolean =>
  Date.parse(first.startedAt) <= Date.parse(second.finishedAt) &&
  Date.parse(second.startedAt) < Date.parse(first.finishedAt);

/** `config at /etc/app/config.yaml`, where the words name a file in or at a mount that the second run could not have. */
export function missingMountIn(words: string, { unmountable }: OnceMore): string | undefined {
  return unmountable.find((mount) => {
    const path = / at (\/\S+)/.exec(mount)?.[1];
    return path !== undefined && words.includes(path);
  });
}

/** In words, that the first run ended in another way; undefined: it did not, or nobody knows. */
export function otherwise(first: FirstRun | undefined, exitCode: number): string | undefined {
  const ended = first?.ended;
  if (ended === undefined || isSameEnd(ended.exitCode, exitCode)) return undefined;
  return (
    lackOfMemory(first) ??
    `Its container ended otherwise, with exit code ${ended.exitCode}${signalWords(ended)}: this may be another reason.`
  );
}

/**
 * abort(3) ends a container's first process, which ignores SIGABRT, by SIGSEGV (on arm64 by SIGTRAP), or with code 127 where that is caught. The
 * program of a second run may be no first process.
 */
const ABORT_OF_FIRST: ReadonlySet<number> = new Set([127, 133, 139]);
const ABORT = 134;

const isSameEnd = (first: number, second: number): boolean =>
  first === second || (second === ABORT && ABORT_OF_FIRST.has(first));

export const sameEndWords = (first: number, second: number): string =>
  first === second
    ? 'Its container ended with the same code.'
    : `Its container ended with exit code ${first}, as abort() ends a first process.`;

const FROM_OUTSIDE: ReadonlySet<number> = new Set([137, 143]);

/** Why the first run may have ended where the second one goes on; undefined: nothing in its status says so. */
export function whyOnlyThere(first: FirstRun | undefined): string | undefined {
  const ended = first?.ended;
  if (ended === undefined || ended.exitCode === 0) return undefined;
  const end = `with exit code ${ended.exitCode}`;
  return (
    lackOfMemory(first) ??
    (FROM_OUTSIDE.has(ended.exitCode)
      ? `Its container was ended from outside, ${end}, as a failing liveness probe does.`
      : `Its container ended ${end}.`)
  );
}

/** The second run has no limit of its own. */
function lackOfMemory(first: FirstRun | undefined): string | undefined {
  if (first?.ended?.reason !== 'OOMKilled') return undefined;
  const limit = first.memoryLimit === undefined ? '' : ` at its limit of ${first.memoryLimit}`;
  return `Its container was killed for lack of memory${limit}, which this run does not have.`;
}
