import { WebAPIRateLimitedError } from '@slack/web-api';
import { describe, expect, it } from 'vitest';
import { METHODS } from '../../../../play/slack/api/methods.ts';
import { Rates } from '../../../../play/slack/serve/rates.ts';
import type { Lane, Method } from '../../../../src/adapters/slack/poster/pace.ts';
import { Poster } from '../../../../src/adapters/slack/poster/poster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const PEOPLE = 10;
const CHANNEL = 'C0SHOP';
/** How long Slack takes for an answer. */
const ANSWER_MS = 120;
const RUN_MS = 1_500;

interface Taken {
  readonly what: 'anchor' | 'update' | 'result';
  readonly person: number;
  readonly atMs: number;
}

/** Ten people type a command in one channel at the same moment; each run is an anchor, an update, its last update and its result. */
class Morning {
  readonly clock = new FakeClock();
  readonly taken: Taken[] = [];
  refused = 0;
  readonly #poster = new Poster(this.clock, silent);
  readonly #rates: Rates;
  readonly #begunMs = this.clock.now();

  constructor(postBurst: number) {
    this.#rates = new Rates({ postBurst }, () => this.clock.now());
  }

  async run(person: number): Promise<void> {
    await this.#call('chat.postMessage', 'opening', { what: 'anchor', person });
    void this.#update('progress', person);
    await this.#pause(RUN_MS);
    await this.#update('final', person);
    // Every second result has a file, which is a post as well.
    const method = person % 2 === 0 ? 'chat.postMessage' : 'files.completeUploadExternal';
    await this.#call(method, 'final', { what: 'result', person });
  }

  of(what: Taken['what']): readonly Taken[] {
    return this.taken.filter((one) => one.what === what);
  }

  lastMs(what: Taken['what']): number {
    return Math.max(...this.of(what).map(({ atMs }) => atMs));
  }

  #call(method: Method, lane: Lane, about: Omit<Taken, 'atMs'>): Promise<void> {
    const call = { method, lane, channelId: CHANNEL, repeatable: false };
    return this.#poster.call(call, () => this.#asked(method, about));
  }

  #update(lane: 'progress' | 'final', person: number): Promise<void> {
    const call = { method: 'chat.update', lane, channelId: CHANNEL, repeatable: true } as const;
    return this.#poster.newest(`${person}`, call, () => this.#asked('chat.update', { what: 'update', person }));
  }

  /** The local Slack's rates; a file that is shared counts as the message that it is. */
  async #asked(method: Method, about: Omit<Taken, 'atMs'>): Promise<void> {
    const name = method === 'files.completeUploadExternal' ? 'chat.postMessage' : method;
    const wait = this.#rates.take(METHODS.get(name)!, { channel: CHANNEL });
    const atMs = this.clock.now() - this.#begunMs;
    await this.#pause(ANSWER_MS);
    if (wait !== undefined) {
      this.refused += 1;
      throw new WebAPIRateLimitedError(wait);
    }
    this.taken.push({ ...about, atMs });
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.clock.after(ms, resolve));
  }
}

async function morning(postBurst: number): Promise<Morning> {
  const day = new Morning(postBurst);
  const all = Promise.all(Array.from({ length: PEOPLE }, (_, person) => day.run(person)));
  await day.clock.advance(120_000);
  await all;
  return day;
}

const everybody = Array.from({ length: PEOPLE }, (_, person) => person);
const whose = (taken: readonly Taken[]) => taken.map(({ person }) => person).sort((a, b) => a - b);

describe('ten people at once in one channel', () => {
  it('have their last result within eight seconds, and Slack refuses nothing', async () => {
    const day = await morning(15);
    expect(day.lastMs('result')).toBeLessThanOrEqual(8_000);
    expect(day.lastMs('anchor')).toBe(0);
    expect(day.refused).toBe(0);
  });

  it.each([
    { postBurst: 5, lastMs: 17_000 },
    { postBurst: 1, lastMs: 22_000 },
  ])(
    'lose nothing and say nothing twice where Slack takes a burst of $postBurst: one 429 for the channel, then one post a second',
    async ({ postBurst, lastMs }) => {
      const day = await morning(postBurst);
      expect(whose(day.of('anchor'))).toEqual(everybody);
      expect(whose(day.of('result'))).toEqual(everybody);
      // What went out together with the first that was refused, and nothing after it.
      expect(day.refused).toBeLessThanOrEqual(10 - postBurst);
      expect(day.lastMs('result')).toBeLessThanOrEqual(lastMs);
    },
  );

  it('do not wait for the first word of one who came later: results that are there go before it', async () => {
    const day = await morning(1);
    const [firstResult] = day.of('result');
    expect(firstResult?.atMs).toBeLessThan(5_000);
    expect(day.of('anchor').filter(({ atMs }) => atMs > firstResult!.atMs).length).toBeGreaterThan(0);
  });

  it('never meet the fifty updates a minute: each last word about a run is updated at once', async () => {
    const day = await morning(15);
    expect(day.of('update').length).toBeLessThanOrEqual(2 * PEOPLE);
    expect(day.lastMs('update')).toBeLessThan(RUN_MS + 1_000);
  });
});
