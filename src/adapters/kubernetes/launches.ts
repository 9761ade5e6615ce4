import type { ServerClock } from './api/server-clock.ts';

const MOST = 1_000;
/** `startedAt` in a container's status has whole seconds. */
const SECOND_MS = 1_000;

/**
 * When this process asked for a container first: it cannot have started before that, by the cluster's clock. The status alone says only in which
 * second it started, which is too coarse to prove that no log file was filled before the first line that was read.
 */
export class Launches {
  readonly #serverClock: Pick<ServerClock, 'earliest'>;
  readonly #askedAtMs = new Map<string, number>();

  constructor(serverClock: Pick<ServerClock, 'earliest'>) {
    this.#serverClock = serverClock;
  }

  /** A container is about to be asked for. Names are unique: they are derived from the run and the pod. */
  note(containerName: string): void {
    const atMs = this.#serverClock.earliest();
    if (atMs === undefined || this.#askedAtMs.has(containerName)) return;
    this.#askedAtMs.set(containerName, atMs);
    const [oldest] = this.#askedAtMs.keys();
    if (this.#askedAtMs.size > MOST && oldest !== undefined) this.#askedAtMs.delete(oldest);
  }

  /** The earliest moment at which the container can have started. Another replica may have launched it before we asked again. */
  earliestStart(containerName: string, startedAtMs: number): number {
    const askedAtMs = this.#askedAtMs.get(containerName);
    const isOurs = askedAtMs !== undefined && askedAtMs < startedAtMs + SECOND_MS;
    return isOurs ? Math.max(startedAtMs, askedAtMs) : startedAtMs;
  }
}
