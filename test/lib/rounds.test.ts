import { describe, expect, it } from 'vitest';
import { Rounds } from '../../src/lib/rounds.ts';
import { FakeClock, settle } from '../support/fake-clock.ts';

/** A loop whose wait is broken: every round begins at once. Ends by itself, so that no test hangs. */
function brokenLoop(clock: FakeClock, progress: (rounds: Rounds, taken: number) => void = () => {}) {
  const loop = { taken: 0 };
  void (async () => {
    const rounds = new Rounds(clock);
    while (loop.taken < 1_000) {
      await rounds.next();
      loop.taken += 1;
      progress(rounds, loop.taken);
    }
  })();
  return loop;
}

describe('the rounds of a loop', () => {
  it('are twenty in a row, then four a second, each after a real timer', async () => {
    const clock = new FakeClock();
    const loop = brokenLoop(clock);
    await settle();
    expect(loop.taken).toBe(20);
    await clock.advance(1_000);
    expect(loop.taken).toBe(24);
    await clock.advance(60_000);
    expect(loop.taken).toBe(264);
  });

  it('begin anew after progress', async () => {
    const clock = new FakeClock();
    const loop = brokenLoop(clock, (rounds, taken) => {
      if (taken === 20) rounds.progress();
    });
    await settle();
    expect(loop.taken).toBe(40);
  });

  it('are earned back by a rest', async () => {
    const clock = new FakeClock();
    const rounds = new Rounds(clock);
    for (let round = 0; round < 20; round += 1) await rounds.next();
    let isThrough = false;
    void rounds.next().then(() => {
      isThrough = true;
    });
    await settle();
    expect(isThrough).toBe(false);
    await clock.advance(250);
    expect(isThrough).toBe(true);
    clock.standStill(60_000);
    for (let round = 0; round < 20; round += 1) await rounds.next();
  });
});
