import type { LocalCluster } from '../play/cluster/index.ts';

/** Sees in the cluster itself how many containers of a batch are asked for and have not ended. */
export class InFlight {
  readonly #open = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #pods: number;
  readonly #parallelism: number;
  readonly #close: () => void;
  #peak = 0;
  #wasFull = false;
  #gapMs = 0;
  #belowSinceMs: number | undefined;
  #endedMs = 0;
  beganMs = Number.NaN;

  constructor(cluster: LocalCluster, options: { readonly pods: number; readonly parallelism: number }) {
    this.#pods = options.pods;
    this.#parallelism = options.parallelism;
    this.#close = cluster.watchPods(({ pod: { spec, status } }) => {
      const ended = new Set(
        (status.ephemeralContainerStatuses ?? [])
          .filter(({ state }) => state?.terminated !== undefined)
          .map(({ name }) => name),
      );
      for (const { name } of spec.ephemeralContainers ?? []) this.#see(name, ended.has(name));
    });
  }

  result(): { readonly peak: number; readonly gapMs: number; readonly workMs: number } {
    return { peak: this.#peak, gapMs: this.#gapMs, workMs: this.#endedMs - this.beganMs };
  }

  close(): void {
    this.#close();
  }

  #see(name: string, hasEnded: boolean): void {
    const nowMs = performance.now();
    if (!this.#seen.has(name)) {
      this.#seen.add(name);
      this.#open.add(name);
      if (Number.isNaN(this.beganMs)) this.beganMs = nowMs;
    }
    if (hasEnded && this.#open.delete(name)) this.#endedMs = nowMs;
    this.#peak = Math.max(this.#peak, this.#open.size);
    const left = this.#pods - this.#seen.size;
    // The first ones come one after another: from then on every gap counts.
    this.#wasFull ||= this.#open.size === this.#parallelism;
    const isBelow = this.#wasFull && left > 0 && this.#open.size < this.#parallelism;
    if (this.#belowSinceMs !== undefined) this.#gapMs = Math.max(this.#gapMs, nowMs - this.#belowSinceMs);
    this.#belowSinceMs = isBelow ? (this.#belowSinceMs ?? nowMs) : undefined;
  }
}
