import { describe, expect, it } from 'vitest';
import { asRunId, asUserId } from '../../../src/core/ids.ts';
import { anOrigin, aPod, aPolicy } from '../../support/builders.ts';
import { buttonsOf, textOf } from '../../support/plain-message.ts';
import { endAll } from '../support/ended.ts';
import { World } from '../support/world.ts';

const WORDS = 'web-1 --image=debian --profile=restricted -- ls';
const EVE = asUserId('U0EVE');

async function finished(policy = aPolicy()): Promise<World> {
  const world = new World({ policy });
  await world.say(WORDS);
  world.cluster.log = 'a line\n';
  await endAll(world);
  return world;
}

const launches = (world: World) => world.cluster.launches.length;
const again = (world: World, words = WORDS, over: object = {}) =>
  world.say(words, anOrigin({ dedupeKey: 'two', ...over }));

describe('the same again', () => {
  it('is offered with its result instead of a second container', async () => {
    const world = await finished();
    await world.clock.advance(40_000);
    const offer = await again(world, WORDS, { requesterId: EVE });
    expect(textOf(offer)).toMatch(/Succeeded/);
    expect(textOf(offer)).toMatch(/same run for .*U0ROY.* finished \d+s ago, so nothing was started/);
    expect(JSON.stringify(offer)).toContain('See the result');
    expect(buttonsOf(offer)).toEqual(['run-anyway']);
    expect(launches(world)).toBe(1);
    expect(await world.store.recent('C0SHOP', 5)).toHaveLength(1);
  });

  it('is the same whoever asks and why', async () => {
    const world = await finished();
    expect(buttonsOf(await again(world, WORDS.replace(' -- ', ' --reason="other words" -- ')))).toEqual(['run-anyway']);
  });

  it('runs on a click, once, for whoever clicks', async () => {
    const world = await finished();
    await again(world, WORDS, { requesterId: EVE });
    const click = () => world.click('U0EVE', 'run-anyway', { channelId: 'C0SHOP', messageTs: '55.5' });
    await Promise.all([click(), click()]);
    expect(launches(world)).toBe(2);
    expect((await world.store.read(asRunId('bbbbbbbbbb')))?.origin.requesterId).toBe('U0EVE');
  });

  it.each([
    ['another command', WORDS.replace('ls', 'ps')],
    ['another image', 'web-1'],
    ['another profile', WORDS.replace('restricted', 'baseline')],
    ['another limit of time', WORDS.replace(' -- ', ' --timeout=7s -- ')],
  ])('is not %s', async (_, words) => {
    const world = await finished();
    expect(await again(world, words)).toBeUndefined();
    expect(launches(world)).toBe(2);
  });

  it('is not another pod of the same name', async () => {
    const world = await finished();
    world.cluster.setPod(aPod({ metadata: { uid: 'uid-2' } }));
    expect(await again(world)).toBeUndefined();
    expect(launches(world)).toBe(2);
  });

  it('is forgotten after two minutes', async () => {
    const world = await finished();
    await world.clock.advance(121_000);
    expect(await again(world)).toBeUndefined();
    expect(launches(world)).toBe(2);
  });

  it('is offered to a failed command too, but not to one that never started', async () => {
    const failed = new World();
    await failed.say(WORDS);
    await endAll(failed, { exitCode: 3, reason: 'Error' });
    expect(textOf(await again(failed))).toMatch(/exit code 3/);
    const missing = new World();
    await missing.say(WORDS);
    missing.cluster.report({ waiting: { reason: 'ErrImagePull', message: 'no such image' } });
    await missing.clock.advance(61_000);
    expect(await again(missing)).toBeUndefined();
    expect(launches(missing)).toBe(2);
  });

  it('is no matter for a dry run', async () => {
    const world = await finished();
    await again(world, WORDS.replace(' -- ', ' --dry-run -- '));
    expect(textOf(world.thread.told.at(-1)?.message)).toContain('Dry run');
  });

  it('is not mistaken for a second delivery of the first command', async () => {
    const world = await finished();
    expect(await world.say(WORDS)).toBeUndefined();
    expect(launches(world)).toBe(1);
  });

  it('shows no private result to another person: their request runs', async () => {
    const { output } = aPolicy();
    const world = await finished(aPolicy({ output: { ...output, deliverTo: 'requester' } }));
    expect(await again(world, WORDS, { requesterId: EVE })).toBeUndefined();
    expect(launches(world)).toBe(2);
  });

  it('delays nobody: where the comparison fails or takes too long, the request runs', async () => {
    const world = await finished();
    const { pod } = world.cluster;
    world.cluster.pod = () => new Promise(() => undefined);
    const answer = again(world);
    await world.clock.advance(1_100);
    world.cluster.pod = pod;
    expect(await answer).toBeUndefined();
    expect(await world.store.recent('C0SHOP', 5)).toHaveLength(2);
  });

  it('is compared only as often in a minute as the person may run something', async () => {
    const world = await finished(aPolicy({ limits: { ...aPolicy().limits, runsPerUserPerMinute: 2 } }));
    for (const dedupeKey of ['2', '3'])
      expect(buttonsOf(await again(world, WORDS, { dedupeKey, requesterId: EVE }))).toEqual(['run-anyway']);
    expect(await again(world, WORDS, { dedupeKey: '4', requesterId: EVE })).toBeUndefined();
    expect(launches(world)).toBe(2);
  });
});

describe('a secret in the command', () => {
  const SECRET = 'web-1 --image=debian --profile=restricted --env=TOKEN=hunter2hunter2 -- ls';

  it('is not confirmed to somebody who guesses it: their own request runs', async () => {
    const world = new World();
    await world.say(SECRET);
    await endAll(world);
    expect(await again(world, SECRET, { requesterId: EVE })).toBeUndefined();
    expect(launches(world)).toBe(2);
  });

  it('keeps the offer for whoever typed it', async () => {
    const world = new World();
    await world.say(SECRET);
    await endAll(world);
    expect(buttonsOf(await again(world, SECRET))).toEqual(['run-anyway']);
  });
});
