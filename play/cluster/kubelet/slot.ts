import type { Container, Termination } from '../objects/pod.ts';
import type { Instance } from './instance.ts';
import type { SlotView } from './pod-status.ts';

const MAX_BACK_OFF_FACTOR = 30;
const NO_CONTAINER = `containerd://${'0'.repeat(64)}`;

/** One container's place in a pod, through all its lives. */
export class Slot implements SlotView {
  readonly container: Container;
  readonly isEphemeral: boolean;
  waiting: SlotView['waiting'];
  instance: Instance | undefined;
  previous: Instance | undefined;
  last: Termination | undefined;
  restarts = 0;
  failures = 0;
  imageId = '';
  /** A program that does not listen to a polite signal, as a shell that is its namespace's first process. */
  isScripted = false;
  /** A test holds it where it is: no restart. */
  isHeld = false;
  /** What a tracer does at the end of its target. */
  atTargetEnd: ((end: Termination) => void) | undefined;
  cancel: () => void = () => undefined;

  constructor(container: Container, isEphemeral: boolean) {
    this.container = container;
    this.isEphemeral = isEphemeral;
  }

  /** As somebody who wants to join its process namespace sees it. */
  get asTarget(): { readonly isRunning: boolean; readonly id: string } {
    return { isRunning: this.isRunning, id: this.instance?.id ?? NO_CONTAINER };
  }

  get isRunning(): boolean {
    return this.instance !== undefined && this.instance.termination === undefined && this.waiting === undefined;
  }
}

/** 1, 2, 4 … up to the kubelet's limit of five minutes for a first pause of ten seconds. */
export function growth(failures: number): number {
  return Math.min(2 ** Math.max(0, failures - 1), MAX_BACK_OFF_FACTOR);
}

/** The end of a container that the runtime made but could not start: its start is the beginning of time. */
export function startError(message: string, finishedAt: string): Termination {
  return {
    exitCode: 128,
    reason: 'StartError',
    message,
    startedAt: '1970-01-01T00:00:00Z',
    finishedAt,
    containerID: NO_CONTAINER,
  };
}
