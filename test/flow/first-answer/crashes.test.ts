import { describe, expect, it } from 'vitest';
import { MemoryRunStore } from '../../../src/adapters/store/index.ts';
import type { Pod } from '../../../src/core/container/pod.ts';
import { KdebugError } from '../../../src/core/errors.ts';
import type { RunStore } from '../../../src/flow/ports/store.ts';
import { RunSupervisor } from '../../../src/flow/supervisor.ts';
import { aCrashingPod, anOrigin, aPod, aTermination, START_MS } from '../../support/builders.ts';
import { FakeClock, settle } from '../../support/fake-clock.ts';
import { type Death, Mortal } from '../batch/mortal.ts';
import { World } from '../support/world.ts';

const crashing = (): Pod => aCrashingPod(START_MS);

/** Several bots, one after the other or at once, on one store, one Slack and one cluster. */
class Scene {
  readonly clock: FakeClock;
  readonly world: World;
  readonly processes: Mortal[] = [];

  constructor(pod: Pod, store?: RunStore, clock = new FakeClock()) {
    this.clock = clock;
    this.world = new World({
      clock: this.clock,
      store: store ?? new MemoryRunStore({ clock: this.clock, leaseMs: 3_500 }),
    });
    this.world.cluster.setPod(pod);
    for (const log of ['web', 'web --previous'])
      this.world.cluster.targetLogs.set(log, [{ atMs: START_MS - 1_000, text: 'ERROR: no route to db' }]);
  }

  start(death?: Death): RunSupervisor {
    const process = new Mortal({ ...this.world.deps(), owner: `replica-${this.processes.length}` }, death);
    this.processes.push(process);
    const bot = new RunSupervisor(process.deps);
    bot.startAdopting();
    return bot;
  }

  /** The same delivery each time, as Slack repeats it. */
  async deliver(bot: RunSupervisor): Promise<void> {
    void bot.inbox.command(anOrigin({ dedupeKey: 'one' }), 'web-1').catch(() => undefined);
    await settle();
  }

  async end(): Promise<void> {
    await this.clock.advance(30_000);
    if (this.world.cluster.launches.length > 0) this.world.cluster.report({ terminated: aTermination() });
    await this.clock.advance(60_000);
  }

  async told() {
    const runs = await this.world.store.recent('C0SHOP', 10);
    return {
      runs: runs.map(({ state, outcome, verdict }) => [
        state,
        outcome?.kind,
        verdict?.findings.map(({ code }) => code),
      ]),
      posts: this.world.thread.posts.map(({ meta }) => meta.kind),
      launches: this.world.cluster.launches.length,
    };
  }
}

const PODS: Readonly<Record<string, () => Pod>> = { 'that crashes': crashing, 'that runs': () => aPod() };

async function whole(pod: Pod): Promise<Awaited<ReturnType<Scene['told']>> & { effects: number }> {
  const scene = new Scene(pod);
  await scene.deliver(scene.start());
  await scene.end();
  return { ...(await scene.told()), effects: scene.processes[0]?.effects ?? 0 };
}

describe.each(Object.entries(PODS))('a question about a pod %s', (_which, pod) => {
  it('is answered once, wherever its bot dies, and whether or not Slack delivers it again', async () => {
    const { effects, ...usual } = await whole(pod());
    expect(usual).toMatchObject({
      runs: [['finished', expect.anything(), expect.anything()]],
      posts: ['anchor', 'result'],
    });
    expect(effects).toBeGreaterThan(5);
    for (let at = 1; at <= effects; at += 1) {
      for (const when of ['before', 'after'] as const) {
        const isRepeated = at % 2 === 0;
        const scene = new Scene(pod());
        await scene.deliver(scene.start({ at, when }));
        const next = scene.start();
        const isTaken = (await scene.world.store.recent('C0SHOP', 10)).length > 0;
        // Where nobody took it, Slack tells the person so, or delivers it again.
        if (isRepeated || !isTaken) await scene.deliver(next);
        await scene.end();
        expect({ at, when, isRepeated, ...(await scene.told()) }).toEqual({ at, when, isRepeated, ...usual });
      }
    }
  });

  it('is answered once where two bots get it', async () => {
    const { effects: _, ...usual } = await whole(pod());
    const scene = new Scene(pod());
    const bots = [scene.start(), scene.start()];
    await Promise.all(bots.map((bot) => scene.deliver(bot)));
    await scene.end();
    expect(await scene.told()).toEqual(usual);
  });

  it.each(['before', 'after'] as const)('is answered once where the store fails %s a write', async (when) => {
    const { effects: _, ...usual } = await whole(pod());
    for (let failing = 1; failing <= 12; failing += 1) {
      const clock = new FakeClock();
      const kept = new MemoryRunStore({ clock, leaseMs: 3_500 });
      let saves = 0;
      const store = new Proxy(kept, {
        get: (target, name) => {
          const method: unknown = Reflect.get(target, name);
          if (typeof method !== 'function') return method;
          return async (...args: unknown[]) => {
            saves += name === 'save' ? 1 : 0;
            const fails = name === 'save' && saves === failing;
            if (fails && when === 'before') throw new KdebugError('store_unreachable');
            const answer: unknown = await method.apply(target, args);
            if (fails) throw new KdebugError('store_unreachable');
            return answer;
          };
        },
      });
      const scene = new Scene(pod(), store, clock);
      await scene.deliver(scene.start());
      await scene.end();
      expect({ failing, ...(await scene.told()) }).toEqual({ failing, ...usual });
    }
  });
});
