import type { OnceMore } from '../container/once-more.ts';
import type { ContainerStatus, ContainerTermination, Pod } from '../container/pod.ts';
import { statusOfTarget } from '../container/status.ts';

/** What the container whose program ran once more did itself. */
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
 * first run. The kubelet gives times in seconds, so ends that touch count.
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

const overlap = (a: ContainerTermination, b: ContainerTermination): boolean =>
  Date.parse(a.startedAt) <= Date.parse(b.finishedAt) && Date.parse(b.startedAt) <= Date.parse(a.finishedAt);

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
  if (ended === undefined || ended.exitCode === exitCode) return undefined;
  const reason = ended.reason === 'Error' || ended.reason === '' ? '' : ` (${ended.reason})`;
  return `Its container ended otherwise, with exit code ${ended.exitCode}${reason}: this may be another reason.`;
}
