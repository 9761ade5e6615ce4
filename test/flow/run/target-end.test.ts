import { describe, expect, it } from 'vitest';
import { asRunId, asUserId } from '../../../src/core/ids.ts';
import type { Outcome } from '../../../src/core/outcome.ts';
import type { Run } from '../../../src/core/run/run.ts';
import { HeldRun } from '../../../src/flow/context/held-run.ts';
import { orTargetEnded } from '../../../src/flow/run/target-end.ts';
import { aPlan, aPod, aRun, aStatus, aTermination, START_MS } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { World } from '../support/world.ts';

const FAILED: Outcome = { kind: 'failed', exitCode: 137, reason: 'Error' };
const TARGET_ENDED: Outcome = { kind: 'target-ended', exitCode: 137 };
const at = (ms: number) => new Date(START_MS + ms).toISOString();
const killed = aTermination({ exitCode: 137, reason: 'Error', finishedAt: at(2_000) });

/** A pod whose target is like this. */
const podWith = (target: Parameters<typeof aStatus>[0]) =>
  aPod({ status: { containerStatuses: [aStatus({ name: 'web', ...target })] } });
const RUNNING = podWith({ running: { startedAt: at(-60_000) } });
const ENDED = podWith({ terminated: aTermination({ exitCode: 1, finishedAt: at(3_000) }) });

/** Asks for the outcome of a run; `outcome` is undefined while that is waited for. */
async function asked(pod: ReturnType<typeof aPod>, parts: Partial<Run> = {}) {
  const world = new World();
  world.cluster.setPod(pod);
  const run = aRun({ state: 'collecting', plan: aPlan(), ...parts });
  const held = new HeldRun({ run, fence: 1 }, world.deps());
  const seen: { outcome?: Outcome } = {};
  void orTargetEnded(held, { outcome: FAILED, termination: killed }, world.deps()).then((outcome) => {
    seen.outcome = outcome;
  });
  await settle();
  return { world, seen };
}

describe('the outcome of a container that was killed', () => {
  it('is target-ended at once where the pod shows the end of the target', async () => {
    expect((await asked(ENDED)).seen.outcome).toEqual(TARGET_ENDED);
  });

  it('waits for that end for three seconds', async () => {
    const soon = await asked(RUNNING);
    await soon.world.clock.advance(2_500);
    expect(soon.seen.outcome).toBeUndefined();
    soon.world.cluster.setPod(ENDED);
    await settle();
    expect(soon.seen.outcome).toEqual(TARGET_ENDED);

    const never = await asked(RUNNING);
    await never.world.clock.advance(3_000);
    expect(never.seen.outcome).toEqual(FAILED);
  });

  it('waits also while the target is down and its status names no end', async () => {
    const { world, seen } = await asked(podWith({ waiting: { reason: 'ContainerCreating', message: '' } }));
    expect(seen.outcome).toBeUndefined();
    world.cluster.setPod(podWith({ lastTermination: aTermination({ exitCode: 1, finishedAt: at(2_000) }) }));
    await settle();
    expect(seen.outcome).toEqual(TARGET_ENDED);
  });

  it('is of the pod when that is deleted meanwhile', async () => {
    const { world, seen } = await asked(RUNNING);
    world.cluster.setPod(aPod({ metadata: { deletionTimestamp: at(3_000) } }));
    await settle();
    expect(seen.outcome).toEqual({ kind: 'pod-gone' });
  });

  it('keeps nobody waiting when the pod is gone, or its target has started since', async () => {
    const gone = await asked(RUNNING);
    gone.world.cluster.setPod(undefined);
    await settle();
    expect(gone.seen.outcome).toEqual(FAILED);
    expect((await asked(podWith({ running: { startedAt: at(4_000) } }))).seen.outcome).toEqual(FAILED);
  });

  it('is not waited for in a batch, or where somebody stops the run', async () => {
    const stop = {
      byUserId: asUserId('U0BOB'),
      requestedAtMs: START_MS,
      attempt: 1,
      container: { name: 'kdebug-stop', image: 'localhost/autodiagnose:1', notAfterMs: START_MS },
    };
    for (const parts of [{ partOf: asRunId('aaaaaaaaaa') }, { stop }]) {
      const { world, seen } = await asked(RUNNING, parts);
      await world.clock.advance(1);
      expect(seen.outcome).toEqual(FAILED);
    }
    expect((await asked(ENDED, { partOf: asRunId('aaaaaaaaaa') })).seen.outcome).toEqual(TARGET_ENDED);
  });
});
