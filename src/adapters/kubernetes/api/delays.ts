import type { Clock } from '../../../lib/clock.ts';

/** Waits between tries: doubling from `firstMs` to `mostMs`, each with up to half of it taken off at random. */
export interface BackOff {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** The wait before try number `attempt` (0 is the first repetition). */
export function delayOf(backOff: BackOff, attempt: number, random: () => number): number {
  const full = Math.min(backOff.mostMs, backOff.firstMs * 2 ** Math.min(attempt, 20));
  return Math.round(full * (1 - random() / 2));
}

/** A pause that `wake` ends early. */
export interface Pause {
  readonly over: Promise<void>;
  wake(): void;
}

export function pause(clock: Clock, ms: number): Pause {
  let wake = (): void => {};
  const over = new Promise<void>((resolve) => {
    const takeBack = clock.after(ms, resolve);
    wake = () => {
      takeBack();
      resolve();
    };
  });
  return { over, wake };
}
