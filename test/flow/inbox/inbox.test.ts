import { describe, expect, it } from 'vitest';
import type { ReasonCode } from '../../../src/core/errors.ts';
import type { Starter } from '../../../src/flow/inbox/accept.ts';
import { CommandInbox } from '../../../src/flow/inbox/inbox.ts';
import type { Answer } from '../../../src/flow/ports/slack.ts';
import { anOrigin, aPolicy, aRule } from '../../support/builders.ts';
import { World } from '../support/world.ts';

/** The inbox alone, before a pipeline in the state that a test wants. */
function inboxOf(world: World, refused?: ReasonCode): CommandInbox {
  const starter: Starter = {
    refusalFor: () => refused,
    start: () => {
      throw new Error('nothing may be started');
    },
  };
  return new CommandInbox(world.deps(), starter, { change: () => Promise.reject(new Error('nothing may be changed')) });
}

const words = (answer: Answer): string => JSON.stringify(answer);

describe('denies, with nothing kept and nothing started,', () => {
  it.each([
    ['draining', 'shutting_down'],
    ['full', 'too_busy'],
    ['full of the person', 'limit_sessions_per_person'],
  ] as const)('when the pipeline is %s (%s)', async (_, code) => {
    const world = new World();
    expect(words(await inboxOf(world, code).command(anOrigin(), 'web-1'))).toContain(code);
    expect(await world.store.recent(anOrigin().channelId, 10)).toEqual([]);
  });

  it.each(['show', 'logs', 'stop'])('%s of a run that there is not (run_not_found)', async (verb) => {
    const world = new World();
    expect(words(await inboxOf(world).command(anOrigin(), `${verb} bbbbbbbbbb`))).toContain('run_not_found');
  });
});

describe('images', () => {
  const images = {
    ...aPolicy().images,
    debugger: { alias: 'debugger', reference: 'debugger:3', class: 'elevated', command: 'allowed' },
  } as const;

  it('offers what a rule of this channel allows, and says of the others that none does', async () => {
    const world = new World();
    world.policy = aPolicy({ images, channels: { [anOrigin().channelId]: { rules: [aRule()] } } });
    const answer = words(await inboxOf(world).command(anOrigin(), 'images'));
    expect(answer).toContain('"autodiagnose"');
    expect(answer).not.toContain('"debugger"');
    expect(answer).toContain('Not allowed here: debugger.');
  });
});
