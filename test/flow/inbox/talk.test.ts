import { describe, expect, it } from 'vitest';
import { asChannelId } from '../../../src/core/ids.ts';
import { anOrigin, aPolicy } from '../../support/builders.ts';
import { textOf } from '../../support/plain-message.ts';
import { World } from '../support/world.ts';

const MENTION = anOrigin({ source: 'mention', threadTs: '9.9', beginsThread: true });
const runsOf = (world: World) => world.store.recent(MENTION.channelId, 10);

describe('words to the bot that are no command get help privately, and no run', () => {
  it.each([
    ['thanks', "I don't know a pod named "],
    ['hi', "I don't know a pod named "],
    ['status', 'Did you mean '],
    ['ls', 'Did you mean '],
    ['lsit', 'Did you mean '],
    ['version', 'Did you mean '],
    ['good bot', "I don't know a pod named "],
    ['thank you', "I don't know a pod named "],
    ['it’s great', "I don't understand "],
    ['help!', "I don't understand "],
    ['?', "I don't understand "],
    ['Thanks!', "I don't understand "],
  ])('%s', async (words, said) => {
    const world = new World();
    const text = JSON.stringify(await world.say(words, MENTION));
    expect(text).toContain(said);
    expect(text).toContain('/kdebug POD [--image');
    expect(await runsOf(world)).toEqual([]);
    expect(world.thread.posts).toEqual([]);
    expect(world.audit.entries).toEqual([]);
  });

  it('a mention alone', async () => {
    expect(textOf(await new World().say('', MENTION))).toContain('/kdebug POD [--image');
    expect(await new World().pipeline.inbox.command(anOrigin(), '')).toMatchObject({ kind: 'form' });
  });

  it('the namespace in which the pod was looked for is named', async () => {
    expect(JSON.stringify(await new World().say('thanks', MENTION))).toContain('"shop"');
  });

  it('without a default image as well', async () => {
    const { defaultImage: _, ...policy } = aPolicy();
    expect(JSON.stringify(await new World({ policy }).say('thanks', MENTION))).toContain("I don't know a pod named ");
  });
});

describe('a command stays a command', () => {
  it.each(['web-1', 'shop/web-1', 'pod/web-1', 'web-1 --image=autodiagnose'])('%s runs', async (words) => {
    const world = new World();
    expect(await world.say(words, MENTION)).toBeUndefined();
    expect((await world.run()).request.target).toEqual({ kind: 'pod', name: 'web-1' });
  });

  it('words after a pod that there is are a mistake in a command', async () => {
    expect(textOf(await new World().say('web-1 ls /tmp', MENTION))).toContain('is unexpected');
  });

  it.each(['nope -n shop', 'shop/nope', 'pod/nope'])(
    '%s names a pod on purpose, so it is refused as a run',
    async (words) => {
      const world = new World();
      await world.say(words, MENTION);
      expect(await runsOf(world)).toMatchObject([{ refusal: { code: 'pod_not_found' } }]);
    },
  );

  it('where nobody can say whether there is such a pod', async () => {
    const world = new World();
    world.cluster.faults.add('pod', 'cluster_unreachable');
    await world.say('web-1', MENTION);
    expect((await world.run()).plan?.podName).toBe('web-1');
  });

  it('after as many looks as one person has in a minute', async () => {
    const world = new World();
    for (let time = 0; time < 6; time += 1) await world.say('thanks', { ...MENTION, dedupeKey: `${time}` });
    expect(await runsOf(world)).toEqual([]);
    await world.say('thanks', { ...MENTION, dedupeKey: 'seven' });
    expect(await runsOf(world)).toHaveLength(1);
  });

  it('after the slash, where the refusal names the verb that was meant', async () => {
    const world = new World();
    await world.say('lsit');
    expect(world.refusal).toContain('Did you mean ');
    expect(world.refusal).toContain('"list"');
    expect(await runsOf(world)).toMatchObject([{ refusal: { code: 'pod_not_found' } }]);
  });

  it('and a pod that is nearly a verb runs without a hint', async () => {
    const world = new World();
    const pod = await world.cluster.pod('shop', 'web-1');
    world.cluster.setPod({ ...pod, metadata: { ...pod.metadata, name: 'lsit' } });
    await world.say('lsit');
    expect((await world.run()).plan?.podName).toBe('lsit');
    expect(world.thread.told).toEqual([]);
  });

  it('the verb is named beside whatever else is wrong', async () => {
    const { defaultImage: _, ...policy } = aPolicy();
    const world = new World({ policy });
    await world.say('lsit');
    expect(world.refusal).not.toContain('pod_not_found');
    expect(world.refusal).toContain('"list"');
  });
});

describe('what was left out of a pasted command is said, once it is taken', () => {
  it('to who typed it', async () => {
    const world = new World();
    const note = JSON.stringify(await world.say('kubectl debug web-1 --image=debian -it -- sh'));
    expect(note).toContain('you cannot attach');
    expect((await world.run()).request.command).toEqual(['sh']);
  });
});

describe('in a direct or group message', () => {
  const DIRECT = anOrigin({ channelId: asChannelId('D0ROY') });
  const GROUP = anOrigin({ channelId: asChannelId('C0MPDM'), inGroupMessage: true });

  it.each([
    ['web-1', DIRECT],
    ['', DIRECT],
    ['list', DIRECT],
    ['--nonsense', DIRECT],
    ['web-1', GROUP],
  ])('%j has one answer (channel_needed)', async (words, origin) => {
    const world = new World();
    const said = JSON.stringify(await world.say(words, origin));
    expect(said).toContain('Use kdebug in a channel');
    expect(said).toContain('channel_needed');
    expect(await world.store.recent(origin.channelId, 10)).toEqual([]);
  });

  it('help is help', async () => {
    expect(JSON.stringify(await new World().say('help', DIRECT))).not.toContain('channel_needed');
  });

  it('a group message that the policy names is a channel', async () => {
    const world = new World();
    await world.say('web-1', anOrigin({ inGroupMessage: true }));
    expect((await world.run()).plan?.podName).toBe('web-1');
  });

  it('a shortcut has the same answer', async () => {
    const answer = await new World().pipeline.inbox.shortcut({
      name: 'debug-pod',
      text: 'pod web-1',
      teamId: 'T0TEAM',
      userId: 'U0ROY',
      channelId: 'D0ROY',
      messageTs: '1.0',
      dedupeKey: 'one',
      receivedAtMs: 0,
    });
    expect(textOf(answer)).toContain('channel_needed');
  });
});

describe('a mention outside threads begins one', () => {
  it('with the anchor and the result under it', async () => {
    const world = new World();
    await world.say('web-1', MENTION);
    expect(world.thread.posts[0]).toMatchObject({ meta: { kind: 'anchor' }, place: { threadTs: '9.9' } });
    world.cluster.report({
      terminated: { exitCode: 0, reason: 'Completed', message: '', startedAt: '', finishedAt: '' },
    });
    await world.clock.advance(10_000);
    expect(world.thread.posts.map(({ place }) => place.threadTs)).toEqual(['9.9', '9.9']);
  });

  it('a refusal stands beside it: Slack shows nothing private in a thread without replies', async () => {
    const world = new World();
    await world.say('pod/nope', MENTION);
    expect(world.thread.told).toMatchObject([{ person: { channelId: 'C0SHOP', userId: 'U0ROY' } }]);
    expect(world.thread.told[0]?.person).not.toHaveProperty('threadTs');
  });

  it('a refusal of a mention within a thread stays there', async () => {
    const world = new World();
    await world.say('pod/nope', anOrigin({ source: 'mention', threadTs: '5.0' }));
    expect(world.thread.told[0]?.person).toMatchObject({ threadTs: '5.0' });
  });
});
