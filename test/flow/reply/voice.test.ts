import { describe, expect, it } from 'vitest';
import type { FlowDeps } from '../../../src/flow/context/deps.ts';
import type { HeldRun } from '../../../src/flow/context/held-run.ts';
import { Voice } from '../../../src/flow/reply/voice.ts';
import { aRun } from '../../support/builders.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const REF = { channelId: 'C0SHOP', ts: '1.0' };
const MESSAGE = { summary: 's', tone: 'progress', parts: [] } as const;

/** A run whose updates wait for their turn until `send` is called. */
function waiting() {
  let run = aRun({ state: 'running' });
  let send: () => void = () => {};
  const listeners = new Set<() => void>();
  const held = {
    recovered: false,
    get run() {
      return run;
    },
    onChange: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const thread = {
    update: () =>
      new Promise<void>((resolve) => {
        send = resolve;
      }),
  };
  const voice = new Voice(held as unknown as HeldRun, { clock: new FakeClock(), thread } as unknown as FlowDeps);
  const becomes = (state: 'running' | 'finished') => {
    run = { ...run, state };
    for (const listener of listeners) listener();
  };
  const settled = async (work: Promise<unknown>): Promise<boolean> => {
    const pending = Symbol('pending');
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    return (await Promise.race([work, Promise.resolve(pending)])) !== pending;
  };
  return { voice, becomes, settled, send: () => send(), listeners };
}

describe('an update that waits for its turn at Slack', () => {
  it('holds up nothing once the run has ended: the last one goes for both', async () => {
    const { voice, becomes, settled } = waiting();
    const update = voice.update('anchor', REF, MESSAGE, 'progress');
    becomes('running');
    expect(await settled(update)).toBe(false);
    becomes('finished');
    expect(await settled(update)).toBe(true);
    expect(await update).toBe(true);
  });

  it('of the end itself is waited for', async () => {
    const { voice, becomes, settled, send } = waiting();
    const update = voice.update('anchor', REF, MESSAGE, 'final');
    becomes('finished');
    expect(await settled(update)).toBe(false);
    send();
    expect(await update).toBe(true);
  });

  it('leaves nothing behind when it was sent in time', async () => {
    const { voice, settled, send, listeners } = waiting();
    const update = voice.update('anchor', REF, MESSAGE, 'progress');
    send();
    expect(await settled(update)).toBe(true);
    expect(listeners.size).toBe(0);
  });
});
