import { describe, expect, it } from 'vitest';
import type { ActionName } from '../../../src/core/actions.ts';
import { asChannelId, asRunId, asUserId } from '../../../src/core/ids.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import type { Click, Submission } from '../../../src/flow/ports/slack.ts';
import { anOrigin, aPolicy, approvalTerms, aRule } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { buttonsOf, textOf } from '../../support/plain-message.ts';
import { endAll } from '../support/ended.ts';
import { World } from '../support/world.ts';

const EVE = asUserId('U0EVE');

async function finished(words: string, policy = aPolicy(), origin = anOrigin()): Promise<World> {
  const world = new World({ policy });
  await world.say(words, origin);
  world.cluster.log = 'a line\n';
  await endAll(world);
  return world;
}

const ids = ['aaaaaaaaaa', 'bbbbbbbbbb', 'cccccccccc'].map(asRunId);
const run = (world: World, index: number) => world.store.read(ids[index]!);
const typed = (key: string, over: object = {}) => anOrigin({ dedupeKey: key, ...over });

function submit(world: World, fields: Record<string, string>, over: Partial<Submission> = {}) {
  return world.pipeline.inbox.submit({
    name: 'again-reason',
    value: `rerun:${world.runId}`,
    teamId: 'T0TEAM',
    userId: 'U0EVE',
    channelId: 'C0SHOP',
    dedupeKey: 'form',
    receivedAtMs: world.clock.now(),
    fields,
    ...over,
  });
}

const press = (world: World, action: ActionName, userId = 'U0ROY', over: Partial<Click> = {}) =>
  world.click(userId, action, { channelId: 'C0SHOP', ...over });

const asking = (): Policy => {
  const approval = approvalTerms({ reason: 'required' });
  return aPolicy({
    approvers: { sre: { users: [], usergroup: 'S0SRE' } },
    channels: { [asChannelId('C0SHOP')]: { rules: [aRule({ classes: ['observe', 'intrusive'], approval })] } },
  });
};

describe('rerun ID', () => {
  it('sends the same request once more, as theirs and in the same thread', async () => {
    const world = await finished('web-1 --image=debian --env=DEBUG=1 -- ls -l');
    expect(await world.say('rerun aaaaaaaaaa', typed('two', { requesterId: EVE }))).toBeUndefined();
    const again = await run(world, 1);
    expect(again).toMatchObject({ state: 'starting', commandLine: 'web-1 --image=debian --env=DEBUG=1 -- ls -l' });
    expect(again?.origin).toMatchObject({ requesterId: 'U0EVE', threadTs: '1.0' });
    expect(world.cluster.launches).toHaveLength(2);
  });

  it('does so each time that it is typed', async () => {
    const world = await finished('web-1');
    await world.say('rerun aaaaaaaaaa', typed('two'));
    await world.say('rerun aaaaaaaaaa', typed('three'));
    expect(await run(world, 2)).toBeDefined();
  });

  it.each([
    ['a run that nobody knows', 'rerun zzzzzzzzzz', 'C0SHOP'],
    ['a run of another channel', 'rerun aaaaaaaaaa', 'C0OTHER'],
  ])('starts nothing for %s', async (_, words, channel) => {
    const world = await finished('web-1');
    const answer = await world.say(words, typed('two', { channelId: asChannelId(channel) }));
    expect(answer?.code).toBe('run_not_found');
    expect(world.cluster.launches).toHaveLength(1);
  });

  it('starts nothing while the run is open', async () => {
    const world = new World();
    await world.say('web-1');
    expect((await world.say('rerun aaaaaaaaaa', typed('two')))?.code).toBe('run_not_ended');
    expect(world.cluster.launches).toHaveLength(1);
  });

  it('lends nobody the secret that another person typed', async () => {
    const world = await finished('web-1 --image=debian --env=TOKEN=hunter2hunter2 -- ls');
    const theirs = await world.say('rerun aaaaaaaaaa', typed('two', { requesterId: EVE }));
    expect(theirs?.code).toBe('run_has_secret');
    expect(JSON.stringify(theirs)).not.toContain('hunter2');
    await world.say('rerun aaaaaaaaaa', typed('three'));
    expect(world.cluster.launches[1]?.container.env).toContainEqual({ name: 'TOKEN', value: 'hunter2hunter2' });
  });

  it('is decided anew, for whoever types it', async () => {
    const world = await finished('web-1 --profile=general');
    world.policy = aPolicy({ channels: { [asChannelId('C0SHOP')]: { rules: [aRule({ profiles: ['restricted'] })] } } });
    await world.say('rerun aaaaaaaaaa', typed('two', { requesterId: EVE }));
    expect(await run(world, 1)).toMatchObject({ state: 'denied', refusal: { code: 'profile_not_allowed' } });
    expect(world.thread.told[0]?.person.userId).toBe('U0EVE');
  });

  it('keeps a reason with who wrote it, and opens a form for anybody else’s', async () => {
    const world = await finished('web-1 --reason="words of Roy"');
    world.policy = asking();
    await world.say('rerun aaaaaaaaaa', typed('two'));
    expect(await run(world, 1)).toMatchObject({ state: 'pending-approval', plan: { reason: 'words of Roy' } });
    const answer = await world.pipeline.inbox.command(typed('three', { requesterId: EVE }), 'rerun aaaaaaaaaa');
    expect(answer).toMatchObject({ kind: 'form', form: { name: 'again-reason', value: 'rerun:aaaaaaaaaa' } });
    expect(JSON.stringify(answer)).not.toContain('words of Roy"');
    expect(await submit(world, {})).toMatchObject({ kind: 'errors' });
    expect(await submit(world, { reason: 'mine' })).toEqual({ kind: 'taken' });
    expect(await run(world, 2)).toMatchObject({ request: { reason: 'mine' }, origin: { requesterId: 'U0EVE' } });
  });

  it('of a mention, which can open no form, is refused like a request without a reason', async () => {
    const world = await finished('web-1');
    world.policy = asking();
    await world.say('rerun aaaaaaaaaa', typed('two', { source: 'mention', requesterId: EVE, threadTs: '8.8' }));
    expect(await run(world, 1)).toMatchObject({ refusal: { code: 'reason_required' }, origin: { threadTs: '8.8' } });
  });

  it('repeats a batch as one', async () => {
    const policy = aPolicy({
      channels: { [asChannelId('C0SHOP')]: { rules: [aRule({ batch: { maxPods: 5, maxParallelism: 2 } })] } },
    });
    const world = new World({ policy });
    await world.say('--all --parallelism=2');
    await endAll(world);
    await world.clock.advance(5_000);
    expect(await run(world, 0)).toMatchObject({ state: 'finished' });
    await world.say('rerun aaaaaaaaaa', typed('two'));
    await world.clock.advance(1_000);
    const again = (await world.store.recent('C0SHOP', 1))[0];
    expect(again).toMatchObject({ request: { target: { kind: 'all' }, batch: { parallelism: 2 } } });
    expect(again?.id).not.toBe(world.runId);
    expect(again?.batch?.pods).toHaveLength(1);
  });
});

describe('Run again', () => {
  it('stands on the card and on the result, and works on both', async () => {
    const world = await finished('web-1');
    const card = world.thread.posts.find(({ meta }) => meta.kind === 'anchor');
    expect(buttonsOf(card?.message)).toContain('rerun');
    expect(buttonsOf(world.result())).toEqual(['rerun', 'copy-command', 'details']);
    expect(await press(world, 'rerun')).toEqual({ kind: 'nothing' });
    expect(await run(world, 1)).toMatchObject({ origin: { source: 'button', threadTs: '1.0' } });
    const { ref } = world.thread.posts.find(({ meta }) => meta.kind === 'result')!;
    await press(world, 'rerun', 'U0EVE', { messageTs: ref.ts });
    expect(await run(world, 2)).toMatchObject({ origin: { requesterId: 'U0EVE' } });
  });

  it('starts one run a person as long as that is open, however often they click', async () => {
    const world = await finished('web-1');
    await Promise.all([press(world, 'rerun'), press(world, 'rerun', 'U0ROY', { dedupeKey: 'again' })]);
    expect(textOf(await press(world, 'rerun', 'U0ROY', { dedupeKey: 'third' }))).toContain('already_asked');
    expect(world.cluster.launches).toHaveLength(2);
    await endAll(world);
    expect(await press(world, 'rerun', 'U0ROY', { dedupeKey: 'fourth' })).toEqual({ kind: 'nothing' });
    expect(world.cluster.launches).toHaveLength(3);
  });

  it.each([
    ['another message', { messageTs: '7.7' }],
    ['another channel', { channelId: 'C0OTHER' }],
    ['a run that is not there', { value: 'zzzzzzzzzz' }],
  ])('starts nothing from %s', async (_, over) => {
    const world = await finished('web-1');
    expect(textOf(await press(world, 'rerun', 'U0ROY', over))).toContain('button_stale');
    expect(world.cluster.launches).toHaveLength(1);
  });

  it('asks for a reason where the rule wants one, and takes no form of another channel', async () => {
    const world = await finished('web-1');
    world.policy = asking();
    expect(await press(world, 'rerun', 'U0EVE')).toMatchObject({ kind: 'form' });
    expect(textOf(await submit(world, { reason: 'mine' }, { channelId: 'C0OTHER' }))).toContain('button_stale');
    expect(await submit(world, { reason: 'mine' })).toEqual({ kind: 'taken' });
    expect(await run(world, 1)).toMatchObject({ request: { reason: 'mine' } });
  });
});

describe('Ask for it', () => {
  const refused = async (words: string, policy: Policy): Promise<World> => {
    const world = new World({ policy });
    await world.say(words);
    return world;
  };
  const told = (world: World) => world.thread.told[0]?.message;
  const click = (world: World, userId = 'U0ROY') => press(world, 'ask-for-it', userId, { messageTs: '99.9' });
  const send = (world: World, fields: Record<string, string>, userId = 'U0ROY') =>
    submit(world, fields, { userId, value: `ask-for-it:${world.runId}` });

  it('opens a form with the reason that lacks, and sends the same request with it', async () => {
    const world = await refused('web-1 --image=debian --env=DEBUG=1 -- ls', asking());
    expect(buttonsOf(told(world))).toEqual(['ask-for-it']);
    const answer = await click(world);
    expect(answer).toMatchObject({
      kind: 'form',
      form: { value: 'ask-for-it:aaaaaaaaaa', fields: [{ id: 'reason' }] },
    });
    expect(await send(world, {})).toMatchObject({ kind: 'errors' });
    expect(await send(world, { reason: 'checkout hangs' })).toEqual({ kind: 'taken' });
    await settle();
    expect(await run(world, 1)).toMatchObject({
      state: 'pending-approval',
      request: { env: [{ name: 'DEBUG', value: '1' }], command: ['ls'], reason: 'checkout hangs' },
    });
  });

  it('offers the profiles that the policy would let through, the strongest chosen', async () => {
    const approval = approvalTerms({ reason: 'required' });
    const rules = [
      aRule({ profiles: ['restricted'] }),
      aRule({ id: 'ask', classes: ['observe', 'intrusive'], profiles: ['general'], approval }),
    ];
    const policy = aPolicy({
      approvers: { sre: { users: [], usergroup: 'S0SRE' } },
      channels: { [asChannelId('C0SHOP')]: { rules } },
    });
    const world = await refused('web-1 --profile=sysadmin', policy);
    expect(buttonsOf(told(world))).toEqual(['ask-for-it']);
    const answer = await click(world);
    const [profile, reason] = answer.kind === 'form' ? answer.form.fields : [];
    expect(profile).toMatchObject({
      id: 'profile',
      initial: 'general',
      options: [
        { value: 'general', label: 'general (needs an approval)' },
        { value: 'restricted', label: 'restricted' },
      ],
    });
    expect(reason).toMatchObject({ id: 'reason', optional: true });
    expect(await send(world, { profile: 'general' })).toMatchObject({ kind: 'errors' });
    expect(await send(world, { profile: 'general', reason: 'it hangs' })).toEqual({ kind: 'taken' });
    await settle();
    expect(await run(world, 1)).toMatchObject({ state: 'pending-approval', plan: { profile: 'general' } });
  });

  it('says so when no profile would help', async () => {
    const rules = [aRule({ profiles: [] })];
    const world = await refused(
      'web-1 --profile=general',
      aPolicy({ channels: { [asChannelId('C0SHOP')]: { rules } } }),
    );
    expect(textOf(await click(world))).toContain('nothing_to_ask_for');
  });

  it('works for nobody else, and for no run that was not refused', async () => {
    const world = await refused('web-1', asking());
    expect(textOf(await click(world, 'U0EVE'))).toContain('button_stale');
    expect(textOf(await send(world, { reason: 'mine' }, 'U0EVE'))).toContain('button_stale');
    const open = await finished('web-1');
    expect(textOf(await click(open))).toContain('button_stale');
    expect(await run(world, 1)).toBeUndefined();
  });

  it('is not shown where nothing that one may ask for lacks', async () => {
    const world = new World();
    await world.say('web-2');
    expect(told(world)?.code).toBe('pod_not_found');
    expect(buttonsOf(told(world))).toEqual([]);
  });
});

describe('a hostile insider who clicks without end', () => {
  it.each(['rerun', 'run-anyway', 'ask-for-it'] as const)('has only so many requests planned: %s', async (action) => {
    const world = action === 'ask-for-it' ? new World({ policy: aPolicy() }) : await finished('web-1');
    if (action === 'ask-for-it') {
      const rules = [aRule({ profiles: ['restricted'] })];
      world.policy = aPolicy({ channels: { [asChannelId('C0SHOP')]: { rules } } });
      await world.say('web-1 --profile=sysadmin');
    } else if (action === 'run-anyway') await world.say('web-1', typed('again'));
    if (action !== 'ask-for-it') world.policy = asking();
    const [{ id: value } = { id: '' }] = await world.store.recent('C0SHOP', 1);
    const isOffer = action !== 'rerun';
    const click = (index: number) =>
      press(world, action, 'U0ROY', { value, dedupeKey: String(index), ...(isOffer && { messageTs: '9.9' }) });
    for (let index = 0; index < 6; index += 1) expect(await click(index)).toMatchObject({ kind: 'form' });
    const reads = world.cluster.calls.length;
    expect(textOf(await click(6))).toContain('limit_per_person');
    expect(world.cluster.calls).toHaveLength(reads);
  });

  it('nor by a form that lacks the reason', async () => {
    const world = new World({ policy: asking() });
    await world.say('web-1');
    const value = `ask-for-it:${world.runId}`;
    const send = () => submit(world, { profile: 'general' }, { userId: 'U0ROY', value });
    for (let index = 0; index < 6; index += 1) expect(await send()).toMatchObject({ kind: 'errors' });
    const reads = world.cluster.calls.length;
    expect(textOf(await send())).toContain('limit_per_person');
    expect(world.cluster.calls).toHaveLength(reads);
  });
});
