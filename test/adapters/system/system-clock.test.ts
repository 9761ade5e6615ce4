import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/adapters/system/index.ts';
import { sleep } from '../../../src/lib/clock.ts';

/** Work that takes longer than the shortest timer. */
function work(): void {
  for (const untilMs = Date.now() + 3; Date.now() < untilMs; );
}

describe('a wait of nothing', () => {
  it('lets sockets be served, however many pieces of long work take turns', async () => {
    let [served, left] = [0, 30];
    const serve = (): void => {
      served += 1;
      if (left > 0) setImmediate(serve);
    };
    setImmediate(serve);
    const takeTurns = async (): Promise<void> => {
      for (let turn = 0; turn < 10; turn += 1) {
        work();
        left -= 1;
        await sleep(systemClock, 0);
      }
    };
    await Promise.all([takeTurns(), takeTurns(), takeTurns()]);
    expect(served).toBeGreaterThanOrEqual(10);
  });

  it('can be taken back', async () => {
    let isAwake = false;
    const cancel = systemClock.after(0, () => {
      isAwake = true;
    });
    cancel();
    await new Promise((resolve) => setImmediate(resolve));
    expect(isAwake).toBe(false);
  });
});
