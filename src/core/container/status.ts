import type { Outcome } from '../outcome.ts';
import type { ContainerStatus, ContainerTermination, Pod } from './pod.ts';

export type ContainerState =
  /** In the API server; no status from the kubelet yet. */
  | { readonly kind: 'unseen' }
  /** Waiting, and may still start. */
  | { readonly kind: 'waiting'; readonly reason: string; readonly message: string }
  /** Will not start. The kubelet may retry; kdebug gives up. */
  | { readonly kind: 'start-failed'; readonly reason: string; readonly message: string }
  | { readonly kind: 'running'; readonly startedAtMs: number; readonly imageId: string }
  | { readonly kind: 'terminated'; readonly termination: ContainerTermination; readonly imageId: string };

/**
 * Waiting reasons that do not heal within a start clock (cluster facts, "Start and end"). `ErrImagePull` is not one: a
 * second pull may succeed; if it fails, the kubelet reports `ImagePullBackOff`.
 */
const FATAL_REASONS: ReadonlySet<string> = new Set([
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'RegistryUnavailable',
  'ImageInspectError',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

/** Termination reasons that mean "never started": the runtime's late report of a RunContainerError. */
const NEVER_STARTED: ReadonlySet<string> = new Set(['StartError', 'ContainerCannotRun']);

/**
 * The state of the ephemeral container `name`, which joins `targetName`. Level-triggered: the watch may have missed any
 * earlier state.
 */
export function stateOfContainer(pod: Pod, name: string, targetName?: string): ContainerState {
  const status = pod.status.ephemeralContainerStatuses.find((candidate) => candidate.name === name);
  if (!status) return { kind: 'unseen' };
  if (status.terminated) return stateOfTerminated(status, status.terminated);
  if (status.running) {
    return { kind: 'running', startedAtMs: Date.parse(status.running.startedAt), imageId: status.imageID };
  }
  if (!status.waiting) return { kind: 'unseen' };
  const { reason, message } = status.waiting;
  const fatal = FATAL_REASONS.has(reason) && !waitsForTarget(pod, status.waiting, targetName);
  return { kind: fatal ? 'start-failed' : 'waiting', reason, message };
}

/** The words of containerd about a target that was down at its last try. */
const TARGET_DOWN = /invalid target container: .* is not running/;

/**
 * A container cannot start while its target is down. It can once the target runs again, because the kubelet retries at
 * every sync (seen on 1.34.4: `CreateContainerError`, then a start in the target's next running window). A busy kubelet
 * may not have retried yet although the target runs.
 */
function waitsForTarget(
  pod: Pod,
  { reason, message }: { readonly reason: string; readonly message: string },
  targetName: string | undefined,
): boolean {
  if (reason !== 'CreateContainerError' || targetName === undefined) return false;
  return TARGET_DOWN.test(message) || statusOfTarget(pod, targetName)?.running === undefined;
}

export const statusOfTarget = (pod: Pod, targetName: string): ContainerStatus | undefined =>
  [...pod.status.containerStatuses, ...pod.status.initContainerStatuses].find(({ name }) => name === targetName);

/** The end of an ephemeral container; undefined: it has not verifiably ended. */
export const endOfDebugger = (pod: Pod, containerName: string): ContainerTermination | undefined =>
  pod.status.ephemeralContainerStatuses.find(({ name }) => name === containerName)?.terminated;

function stateOfTerminated(status: ContainerStatus, termination: ContainerTermination): ContainerState {
  return NEVER_STARTED.has(termination.reason)
    ? { kind: 'start-failed', reason: termination.reason, message: termination.message }
    : { kind: 'terminated', termination, imageId: status.imageID };
}

/** Exit code after SIGKILL. */
export const KILLED = 137;
/** The exit codes with which the kubelet ends the containers of a deleted pod: SIGTERM, then SIGKILL. */
const SIGNALLED: ReadonlySet<number> = new Set([143, KILLED]);
/**
 * A debug container that was killed with its target ended at most 3 s before it, or 1 s after it: the kernel kills the whole
 * process namespace and ends the target last, and a busy node notes that late. Times are whole seconds.
 */
const KILLED_BEFORE_MS = 3_000;
const KILLED_AFTER_MS = 1_000;

/** The outcome of a terminated container; `targetName` is the container whose process namespace it joined. */
export function outcomeOfTermination(
  pod: Pod | undefined,
  termination: ContainerTermination,
  targetName: string | undefined,
): Outcome {
  const { exitCode, reason, signal } = termination;
  if (exitCode === 0) return { kind: 'succeeded' };
  if (reason === 'OOMKilled') return { kind: 'oom-killed', exitCode };
  if (pod?.metadata.deletionTimestamp !== undefined && SIGNALLED.has(exitCode)) return { kind: 'pod-gone' };
  const target = pod && targetName !== undefined ? statusOfTarget(pod, targetName) : undefined;
  if (exitCode === KILLED && target && endedWith(target, termination)) return { kind: 'target-ended', exitCode };
  return { kind: 'failed', exitCode, reason, ...(signal ? { signal } : {}) };
}

/**
 * True if a debug container that SIGKILL ended may have been killed with its target, and the pod does not show the target's
 * end yet: its node may report that a few seconds later.
 */
export function mayEndWithTarget(pod: Pod, killed: ContainerTermination, targetName: string | undefined): boolean {
  if (targetName === undefined || pod.metadata.deletionTimestamp !== undefined) return false;
  const target = statusOfTarget(pod, targetName);
  if (!target || endedWith(target, killed)) return false;
  // A target that has started since would show its end.
  return !target.running || Date.parse(target.running.startedAt) <= Date.parse(killed.finishedAt);
}

const endedWith = ({ terminated, lastTermination }: ContainerStatus, killed: ContainerTermination): boolean =>
  [terminated, lastTermination].some((theirs) => {
    if (!theirs) return false;
    const beforeMs = Date.parse(theirs.finishedAt) - Date.parse(killed.finishedAt);
    return beforeMs <= KILLED_BEFORE_MS && -beforeMs <= KILLED_AFTER_MS;
  });
