import { describe, expect, it } from 'vitest';
import type { ReasonCode } from '../../../src/core/errors.ts';
import type { Starter } from '../../../src/flow/context/accept.ts';
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

describe('a message that was edited', () => {
  const mention = (world: World, typed: string, edit: { readonly isEdit?: true } = {}) =>
    world.say(typed, anOrigin({ source: 'mention', ...edit }));
  const edit = (world: World, typed: string) => mention(world, typed, { isEdit: true });
  const states = async (world: World) =>
    (await world.store.recent(anOrigin().channelId, 100)).map(({ state }) => state).toSorted();

  it('after it started a run starts no other, and its writer is told to send a new one', async () => {
    const world = new World();
    await mention(world, 'web-1 --image=autodiagnose');
    expect(world.cluster.launches).toHaveLength(1);
    expect(await mention(world, 'web-1 --image=autodiagnose')).toBeUndefined();
    expect(JSON.stringify(await edit(world, 'web-1'))).toContain('edit_of_taken');
    expect(await states(world)).toHaveLength(1);
  });

  it.each(['web-9 -n shop', 'web-1 --image=nope', 'web-1 --profile=sysadmin'])(
    'after %s was refused starts one run',
    async (typed) => {
      const world = new World();
      await mention(world, typed);
      expect(await states(world)).toEqual(['denied']);
      expect(await edit(world, 'web-1')).toBeUndefined();
      expect(world.cluster.launches).toHaveLength(1);
      // Slack repeats the edit, the message, and the edit at another replica.
      expect(await mention(world, 'web-1')).toBeUndefined();
      expect(await mention(world, typed)).toBeUndefined();
      expect(await edit(world, 'web-1')).toBeUndefined();
      expect(JSON.stringify(await edit(world, 'web-1 --image=autodiagnose'))).toContain('edit_of_taken');
      expect(world.cluster.launches).toHaveLength(1);
      expect(await states(world)).toHaveLength(2);
    },
  );

  it('may be refused and edited again, ten times', async () => {
    const world = new World();
    world.policy = aPolicy({ limits: { ...aPolicy().limits, runsPerUserPerMinute: 100 } });
    await mention(world, 'web-9 -n shop');
    for (let edits = 1; edits <= 10; edits += 1) {
      expect(await edit(world, `web-9 -n shop --reason=${edits}`)).toBeUndefined();
      expect(await states(world)).toEqual(Array(edits + 1).fill('denied'));
    }
    expect(JSON.stringify(await edit(world, 'web-1'))).toContain('edit_of_taken');
    expect(world.cluster.launches).toEqual([]);
  });

  it('before it started one starts it', async () => {
    const world = new World();
    const { inbox } = world.pipeline;
    await inbox.command(anOrigin({ source: 'mention' }), 'web-1 --imag=x');
    expect(await inbox.command(anOrigin({ source: 'mention', isEdit: true }), 'web-1')).toEqual({ kind: 'nothing' });
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
