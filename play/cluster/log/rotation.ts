import type { Clock } from '../clock.ts';
import type { ContainerLog } from './container-log.ts';

/**
 * The kubelet's rotation worker: looks at running containers at a fixed period (kubelet: 10 s), whatever they do.
 * No timer runs while no file is too big.
 */
export class Rotation {
  readonly #clock: Clock;
  readonly #periodMs: number;
  readonly #phase: number;
  readonly #tooBig = new Set<ContainerLog>();
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, periodMs: number) {
    this.#clock = clock;
    this.#periodMs = periodMs;
    this.#phase = clock.now();
  }

  add(log: ContainerLog): void {
    this.#tooBig.add(log);
    if (this.#cancel) return;
    const wait = this.#periodMs - ((this.#clock.now() - this.#phase) % this.#periodMs);
    this.#cancel = this.#clock.after(wait, () => this.check());
  }

  /** One check, now. */
  check(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    const logs = [...this.#tooBig];
    this.#tooBig.clear();
    for (const log of logs) if (log.isRunning) log.rotate();
  }

  stop(): void {
    this.#cancel?.();
    this.#tooBig.clear();
  }
}
