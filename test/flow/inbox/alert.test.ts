import { describe, expect, it } from 'vitest';
import { asChannelId } from '../../../src/core/ids.ts';
import type { Message } from '../../../src/core/say/message/message.ts';
import type { AlertClick, Answer } from '../../../src/flow/ports/slack.ts';
import { aPolicy, approvalTerms, aRule } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { textOf } from '../../support/plain-message.ts';
import { endAll } from '../support/ended.ts';
import { World } from '../support/world.ts';

const ALERT_TS = '1700000000.000100';

async function press(world: World, over: Partial<AlertClick> = {}): Promise<Answer> {
  const answer = await world.pipeline.inbox.alert({
    ...{ teamId: 'T0TEAM', userId: 'U0ROY', channelId: 'C0SHOP', messageTs: ALERT_TS },
    ...{ value: '/shop/web-1', text: 'KubePodCrashLooping', receivedAtMs: world.clock.now() },
    ...over,
  });
  await settle();
  return answer;
}

const messageOf = (answer: Answer): Message | undefined => (answer.kind === 'message' ? answer.message : undefined);
const newest = async (world: World) => (await world.store.recent('C0SHOP', 1))[0];

describe('the button of an alert', () => {
  it('is a request of whoever clicks, answered in the thread of the alert', async () => {
    const world = new World();
    expect(await press(world)).toEqual({ kind: 'nothing' });
    expect(await world.run()).toMatchObject({
      origin: { source: 'alert', requesterId: 'U0ROY', channelId: 'C0SHOP', threadTs: ALERT_TS, beginsThread: true },
      request: { target: { kind: 'pod', name: 'web-1' }, namespace: 'shop' },
    });
    expect(world.thread.posts.map(({ place }) => place.threadTs)).toEqual([ALERT_TS]);
  });

  it('answers in the thread that the alert has, or is in', async () => {
    const world = new World();
    await press(world, { threadTs: '1699999999.000100' });
    const { origin } = await world.run();
    expect(origin.threadTs).toBe('1699999999.000100');
    expect(origin.beginsThread).toBeUndefined();
  });

  it('is recorded with its source', async () => {
    const world = new World();
    await press(world);
    expect(world.audit.entries.find(({ step }) => step === 'request')?.facts).toMatchObject({ source: 'alert' });
  });

  it('is judged by the policy like typed words: a channel that it does not name starts nothing', async () => {
    const world = new World({ policy: aPolicy({ channels: {} }) });
    await press(world);
    expect(await newest(world)).toMatchObject({ state: 'denied', refusal: { code: 'channel_unknown' } });
    expect(world.cluster.launches).toHaveLength(0);
  });

  it('asks for an approval where the rule wants one', async () => {
    const rules = [aRule({ approval: approvalTerms() })];
    const approvers = { sre: { users: [], usergroup: 'S0SRE' } };
    const world = new World({ policy: aPolicy({ approvers, channels: { [asChannelId('C0SHOP')]: { rules } } }) });
    await press(world);
    expect(await newest(world)).toMatchObject({ state: 'pending-approval' });
    expect(world.cluster.launches).toHaveLength(0);
  });

  it('names a cluster only if the policy knows it: a label chooses none by itself', async () => {
    const world = new World();
    await press(world, { value: 'elsewhere/shop/web-1' });
    expect(await newest(world)).toMatchObject({ state: 'denied', refusal: { code: 'cluster_unknown' } });
  });
});

describe('many clicks on one alert', () => {
  it('start one run, whoever clicks', async () => {
    const world = new World();
    await press(world);
    const message = messageOf(await press(world, { userId: 'U0EVE' }));
    expect(message?.code).toBe('alert_looked_at');
    expect(textOf(message)).toMatch(/still looking[\s\S]*aaaaaaaaaa/);
    expect(await world.store.recent('C0SHOP', 9)).toHaveLength(1);
  });

  it('offer the result of the run that has just ended, and look anew two minutes later', async () => {
    const world = new World();
    await press(world);
    await endAll(world);
    await press(world);
    expect(await newest(world)).toMatchObject({ refusal: { code: 'same_again' } });
    await world.clock.advance(121_000);
    expect(await press(world)).toEqual({ kind: 'nothing' });
    expect((await newest(world))?.state).not.toBe('denied');
  });

  it('are not held back by a click that was refused', async () => {
    const world = new World({ policy: aPolicy({ channels: {} }) });
    await press(world);
    world.policy = aPolicy();
    expect(await press(world, { userId: 'U0EVE' })).toEqual({ kind: 'nothing' });
    expect((await newest(world))?.state).not.toBe('denied');
  });

  it('are about the pod that the message names now: an updated alert is another', async () => {
    const world = new World();
    await press(world);
    await press(world, { value: '/shop/web-2' });
    expect(await world.store.recent('C0SHOP', 9)).toHaveLength(2);
  });
});

describe('an alert that names no pod', () => {
  it('opens the form, with what its labels and its text say', async () => {
    const world = new World();
    const answer = await press(world, { value: '/shop/', text: 'pod=web-1 is not ready' });
    expect(answer.kind).toBe('form');
    const form = answer.kind === 'form' ? await answer.complete?.() : undefined;
    expect(form?.fields.map(({ id, initial }) => [id, initial])).toEqual(
      expect.arrayContaining([
        ['namespace', 'shop'],
        ['pod', 'web-1'],
      ]),
    );
  });

  it.each([
    ['', /empty/],
    ['web-1', /web-1/],
    ['prod/shop/secret/web', /secret/],
  ])('is answered privately where its value has another shape: %s', async (value, shown) => {
    const world = new World();
    const message = messageOf(await press(world, { value }));
    expect(message?.code).toBe('alert_unreadable');
    expect(textOf(message)).toMatch(shown);
    expect(await world.store.recent('C0SHOP', 9)).toEqual([]);
  });
});

describe('a hostile label', () => {
  it.each([
    '/shop/web-1 --image=debian',
    '/shop/--image=debian',
    '/shop/web-1" --profile=sysadmin "',
    '/shop/web-1\n--profile=sysadmin',
    '/shop --profile=sysadmin/web-1',
    '/shop/*',
    '/shop/<!channel>',
    '/shop/-l app=web',
  ])('is never more than a name: %s', async (value) => {
    const world = new World();
    const answer = await press(world, { value });
    const run = await newest(world);
    if (run) expect(run).toMatchObject({ state: 'denied', request: { target: { kind: 'pod' } } });
    else expect(answer.kind).not.toBe('nothing');
    expect(run?.request.image).toBeUndefined();
    expect(run?.request.profile).toBeUndefined();
    expect(world.cluster.launches).toHaveLength(0);
  });
});
