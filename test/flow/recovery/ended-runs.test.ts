import { beforeEach, describe, expect, it } from 'vitest';
import { KdebugError } from '../../../src/core/errors.ts';
import { asRunId, type RunId } from '../../../src/core/ids.ts';
import type { LogFields } from '../../../src/flow/ports/machine.ts';
import { type EndedRun, EndedRuns } from '../../../src/flow/recovery/ended-runs.ts';
import { aRun } from '../../adapters/store/run-store.conformance.ts';
import { settle } from '../../support/fake-clock.ts';
import { World } from '../support/world.ts';

const MINUTE_MS = 60_000;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567';
/** Ids that sort otherwise than their numbers. */
const idOf = (number: number): RunId =>
  asRunId(`aaaaaaaa${LETTERS[31 - (number % 32)]}${LETTERS[Math.floor(number / 32)]}`);

let world: World;
let restored: string[];
let lines: { readonly message: string; readonly fields: LogFields | undefined }[];

beforeEach(() => {
  world = new World();
  restored = [];
  lines = [];
});

const messages = () => lines.map(({ message }) => message);
const noted = (message: string, fields?: LogFields) => void lines.push({ message, fields });
const log = { debug: noted, info: noted, warn: noted, error: noted };

/** A replica; several share the world's store and Slack. */
const aReplica = (): EndedRuns => new EndedRuns({ ...world.deps(), log });

/** A run that ended so many seconds ago. */
const ended = (number: number, agoS = number): EndedRun => {
  const run = aRun(idOf(number));
  return {
    run,
    endedAtMs: world.clock.now() - agoS * 1_000,
    restore: async () => void restored.push(run.id),
  };
};

/** Its card and its result stand in Slack. */
async function wasTold({ run }: EndedRun): Promise<void> {
  const { channelId } = run.origin;
  const anchor = await world.thread.post({ channelId }, { parts: [] } as never, {
    run: run.id,
    kind: 'anchor',
    seq: 1,
  });
  const thread = { channelId, threadTs: anchor.ts };
  await world.thread.post(thread, { parts: [] } as never, { run: run.id, kind: 'result', seq: 1 });
}

const FOUND = 'found ended runs in the cluster, searching for their results';

const many = (count: number) => Array.from({ length: count }, (_, number) => ended(number));
const searched = () => world.thread.calls.filter((call) => call === 'find').length / 2;

describe('ended runs that the store does not know', () => {
  it('come back when Slack has no result of them, the newest first', async () => {
    aReplica().add([ended(2, 300), ended(0, 100), ended(1, 200)]);
    await settle();
    expect(restored).toEqual([idOf(0), idOf(1), idOf(2)]);
  });

  it('are left alone when Slack has the result', async () => {
    const [told, lost] = [ended(0), ended(1)];
    await wasTold(told);
    aReplica().add([told, lost]);
    await settle();
    expect(restored).toEqual([lost.run.id]);
    expect(lines).toEqual([{ message: FOUND, fields: { runs: 2, perMinute: 20 } }]);
  });

  it('are left alone when another replica has brought them back meanwhile', async () => {
    const known = ended(0);
    await world.store.create(known.run, 'replica-2');
    aReplica().add([known]);
    await settle();
    expect([restored, world.thread.calls]).toEqual([[], []]);
  });

  it('are searched for twenty times a minute, and the log says that they wait once and when it is over', async () => {
    const all = many(52);
    for (const one of all) await wasTold(one);
    aReplica().add(all);
    await settle();
    expect(searched()).toBe(20);
    await world.clock.advance(MINUTE_MS - 1);
    expect(searched()).toBe(20);
    await world.clock.advance(1);
    expect(searched()).toBe(40);
    await world.clock.advance(MINUTE_MS);
    expect([searched(), restored]).toEqual([52, []]);
    const fields = { runs: 32, perMinute: 20 };
    expect(lines).toEqual([
      { message: FOUND, fields: { runs: 52, perMinute: 20 } },
      { message: 'searches for results of ended runs wait for their turn', fields },
      {
        message: 'search for lost results finished',
        fields: { ...fields, lastedMs: 2 * MINUTE_MS, failures: 2 },
      },
    ]);
  });

  it('are searched for once by all replicas together, and not again after a restart', async () => {
    const all = many(30);
    for (const one of all) await wasTold(one);
    const replicas = [aReplica(), aReplica(), aReplica()];
    for (const replica of replicas) replica.add(all.map((one) => ({ ...one })));
    await world.clock.advance(5 * MINUTE_MS);
    expect(searched()).toBe(30);
    aReplica().add(all);
    await world.clock.advance(5 * MINUTE_MS);
    expect([searched(), restored]).toEqual([30, []]);
  });

  it('are searched for again an hour later, when nobody remembers', async () => {
    const told = ended(0);
    await wasTold(told);
    aReplica().add([told]);
    await settle();
    world.clock.standStill(60 * MINUTE_MS);
    aReplica().add([told]);
    await settle();
    expect(searched()).toBe(2);
  });

  it('whose searcher died in its turn are searched for by another replica half a minute later', async () => {
    const lost = ended(0);
    await world.store.searches.turn(lost.run.id, { perMinute: 20, heldMs: 30_000 });
    aReplica().add([lost]);
    await world.clock.advance(29_999);
    expect(restored).toEqual([]);
    await world.clock.advance(1);
    expect(restored).toEqual([lost.run.id]);
  });

  it.each([1e12, Number.NaN])(
    'wait a minute at most, and never in a hurry, for a turn that the store puts %s ms off',
    async (freeInMs) => {
      let asked = 0;
      const turn = async () => {
        asked += 1;
        return { kind: 'none-left', freeInMs } as const;
      };
      const searches = { turn, found: async () => undefined, wasFound: async () => false };
      const store = { searches, read: async () => undefined } as never;
      new EndedRuns({ ...world.deps(), store, log }).add([ended(0)]);
      await settle();
      await world.clock.advance(10 * MINUTE_MS);
      expect(asked).toBeGreaterThanOrEqual(10);
      expect(asked).toBeLessThanOrEqual(21);
    },
  );

  it('do not wait for one that cannot be searched for now', async () => {
    const [first, second] = [ended(0), ended(1)];
    const { find } = world.thread;
    world.thread.find = (at, meta) =>
      meta.run === first.run.id
        ? Promise.reject(new KdebugError('slack_unanswered'))
        : find.call(world.thread, at, meta);
    aReplica().add([first, second]);
    await world.clock.advance(30_000);
    expect(restored).toEqual([second.run.id]);
    world.thread.find = find;
    await world.clock.advance(30_000);
    expect(restored).toEqual([second.run.id, first.run.id]);
  });

  it('survive an outage of the store, of which the log says the beginning and the end', async () => {
    const { searches } = world.store;
    const { wasFound } = searches;
    searches.wasFound = () => Promise.reject(new KdebugError('store_unreachable'));
    const lost = ended(0);
    aReplica().add([lost]);
    await world.clock.advance(5 * MINUTE_MS);
    expect(lines).toEqual([
      { message: FOUND, fields: { runs: 1, perMinute: 20 } },
      {
        message: 'search for results of ended runs failed, will retry',
        fields: { runId: lost.run.id, reason: 'store_unreachable' },
      },
    ]);
    searches.wasFound = wasFound;
    await world.clock.advance(MINUTE_MS);
    expect(restored).toEqual([lost.run.id]);
    expect(messages().at(-1)).toBe('search for results of ended runs works again');
  });

  it('are no longer searched for by a replica that stops', async () => {
    const replica = aReplica();
    replica.add(many(52));
    await settle();
    replica.stop();
    await world.clock.advance(10 * MINUTE_MS);
    expect(restored).toHaveLength(20);
  });

  it('are added at any time', async () => {
    const replica = aReplica();
    replica.add([ended(0)]);
    await settle();
    replica.add([ended(1)]);
    await settle();
    expect(restored).toEqual([idOf(0), idOf(1)]);
  });
});
