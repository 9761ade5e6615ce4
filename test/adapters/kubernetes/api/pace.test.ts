import { describe, expect, it } from 'vitest';
import { Pace } from '../../../../src/adapters/kubernetes/api/pace.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** A server that takes so many calls a second, a tenth of a second's worth at once. */
class Server {
  readonly #clock: FakeClock;
  readonly #perSecond: number;
  #tokens = 0;
  #atMs: number;
  taken = 0;
  refused = 0;

  constructor(clock: FakeClock, perSecond: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#atMs = clock.now();
  }

  answer(): number {
    const nowMs = this.#clock.now();
    this.#tokens = Math.min(this.#perSecond / 10, this.#tokens + ((nowMs - this.#atMs) * this.#perSecond) / 1_000);
    this.#atMs = nowMs;
    const status = this.#tokens < 1 ? 429 : 200;
    if (status === 200) this.#tokens -= 1;
    this.taken += status === 200 ? 1 : 0;
    this.refused += status === 200 ? 0 : 1;
    return status;
  }
}

/** Ten callers that always want the next call, and each wait a second when they are refused. */
function callers(clock: FakeClock, pace: Pace, server: Server): void {
  const call = async (): Promise<void> => {
    for (;;) {
      await pace.turn();
      const status = server.answer();
      pace.learn(status);
      await new Promise<void>((resolve) => void clock.after(status === 429 ? 1_000 : 5, resolve));
    }
  };
  for (let caller = 0; caller < 10; caller += 1) void call();
}

describe('the pace of calls', () => {
  it('is free until the server says 429', async () => {
    const clock = new FakeClock();
    const pace = new Pace(clock);
    for (let call = 0; call < 1_000; call += 1) {
      await pace.turn();
      pace.learn(200);
    }
    expect(clock.pending).toBe(0);
  });

  it('soon uses nearly all of what is allowed, with few calls in vain', async () => {
    const clock = new FakeClock();
    const server = new Server(clock, 100);
    callers(clock, new Pace(clock), server);
    await clock.advance(5_000);
    server.taken = 0;
    server.refused = 0;
    await clock.advance(10_000);
    expect(server.taken).toBeGreaterThanOrEqual(900);
    expect(server.refused / (server.taken + server.refused)).toBeLessThanOrEqual(0.02);
  });

  it('does not send at once what a busy moment held up', async () => {
    const clock = new FakeClock();
    const pace = new Pace(clock);
    pace.learn(429);
    await clock.advance(999);
    let sent = 0;
    for (let call = 0; call < 20; call += 1) {
      void pace.turn().then(() => {
        sent += 1;
      });
    }
    // At ten a second: the event loop stands still for two, so that every timer is late.
    clock.standStill(2_000);
    await clock.advance(50);
    expect(sent).toBeLessThanOrEqual(4);
    await clock.advance(10_000);
    expect(sent).toBe(20);
  });

  it('never stops, however hard it was refused, and is free again in the end', async () => {
    const clock = new FakeClock();
    const pace = new Pace(clock);
    for (let second = 0; second < 60; second += 1) {
      pace.learn(429);
      await clock.advance(1_000);
    }
    let sent = false;
    await pace.turn();
    const waiting = pace.turn().then(() => {
      sent = true;
    });
    await clock.advance(1_100);
    await waiting;
    expect(sent).toBe(true);
    await clock.advance(3_600_000);
    for (let call = 0; call < 100; call += 1) await pace.turn();
    expect(clock.pending).toBe(0);
  });
});
