import { describe, expect, it } from 'vitest';
import { view } from '../../../src/adapters/slack/views/view.ts';
import { asChannelId, asUserId } from '../../../src/core/ids.ts';
import { DIRECT, type Policy } from '../../../src/core/policy/policy.ts';
import type { Origin } from '../../../src/core/request/origin.ts';
import type { Message } from '../../../src/core/say/message/message.ts';
import { DEFAULT_NAMES, withNames } from '../../../src/core/shown-names.ts';
import { aNotification, anAlertPolicy } from '../../support/alerts.ts';
import { anOrigin, aPolicy, approvalTerms, aRule, aTermination } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { textOf } from '../../support/plain-message.ts';
import { BATCH_RULE, BatchWorld, policyOf } from '../batch/batch-world.ts';
import { World } from '../support/world.ts';

const SRE = { usergroup: 'S0SRE', users: [] };
const LONG_LOG = 'line\n'.repeat(500);
const approving = (): Policy => policyOf({ ...BATCH_RULE, approval: approvalTerms() });
const inDirectMessages = (): Policy =>
  aPolicy({
    approvers: { sre: SRE },
    channels: { [DIRECT]: { members: SRE, rules: [aRule({ classes: ['observe', 'intrusive'] })] } },
  });
const privately = (): Policy => aPolicy({ output: { ...aPolicy().output, deliverTo: 'requester' } });

async function ended(world: World, terminated = aTermination()): Promise<void> {
  world.cluster.log = LONG_LOG;
  world.cluster.report({ terminated });
  await settle();
}

async function started(words = 'web-1'): Promise<World> {
  const world = new World();
  await world.say(words);
  return world;
}

const results = ({ thread }: Pick<World, 'thread'>) => thread.posts.filter(({ meta }) => meta.kind === 'result');
const shares = ({ thread }: Pick<World, 'thread'>): number => thread.calls.filter((call) => call === 'share').length;

describe('a result that is longer than its excerpt', () => {
  it('is one message: its words and the whole log, in the thread of its card', async () => {
    const world = await started('web-1 --image=debian -- id');
    await ended(world);
    expect(results(world)).toMatchObject([{ place: { threadTs: '1.0' }, files: [`kdebug-${world.runId}.log`] }]);
    expect(textOf(results(world)[0]?.message)).toContain('all in the attached file');
    expect((await world.run()).delivery).toMatchObject({
      result: { ts: '2.0' },
      files: { [`kdebug-${world.runId}.log`]: 'F1' },
      closed: true,
    });
    expect(world.thread.calls.filter((call) => ['post', 'update', 'share'].includes(call))).toEqual([
      'post',
      'update',
      'share',
    ]);
  });

  it.each(['before', 'after'] as const)('is there once when its answer got lost %s it was shown', async (when) => {
    const world = await started();
    world.thread.faults.add('share', 'slack_unanswered', when);
    await ended(world);
    await world.clock.advance(120_000);
    expect(results(world)).toHaveLength(1);
    expect(world.thread.files).toHaveLength(1);
    expect((await world.run()).delivery).toMatchObject({
      files: { [`kdebug-${world.runId}.log`]: 'F1' },
      closed: true,
    });
  });

  it('goes without its file, and says so, when Slack takes no file', async () => {
    const world = await started();
    world.thread.faults.add('share', 'slack_refused');
    await ended(world);
    expect(results(world)).toMatchObject([{ files: [] }]);
    expect(textOf(results(world)[0]?.message)).toContain('could not be shared as a file (Slack refused it)');
    expect((await world.run()).delivery).toMatchObject({
      filesLost: { [`kdebug-${world.runId}.log`]: 'slack_refused' },
      closed: true,
    });
    expect(shares(world)).toBe(1);
  });

  it('does not wait for ever for an upload that is never answered: the words go alone, and say so', async () => {
    const world = await started();
    for (let n = 0; n < 50; n += 1) world.thread.faults.add('share', 'slack_unanswered');
    await ended(world);
    await world.clock.advance(30_000);
    expect(results(world)).toMatchObject([{ files: [] }]);
    expect(textOf(results(world)[0]?.message)).toContain('could not be shared as a file (Slack did not answer)');
    expect([shares(world), (await world.run()).delivery.closed]).toEqual([3, true]);
  });

  it('keeps its file through a time when Slack answers nothing at all', async () => {
    const world = await started();
    for (let n = 0; n < 6; n += 1) world.thread.faults.add('share', 'slack_unanswered');
    for (let n = 0; n < 4; n += 1) world.thread.faults.add('post', 'slack_unanswered');
    await ended(world);
    await world.clock.advance(600_000);
    expect(results(world)).toMatchObject([{ files: [`kdebug-${world.runId}.log`] }]);
    expect((await world.run()).delivery.filesLost).toBeUndefined();
  });
});

describe('a result that notifies somebody', () => {
  const FROM_BOB = { channelId: asChannelId('D0BOB'), requesterId: asUserId('U0BOB') };
  const OF_SUCCESS = /^🏁 web-1: Succeeded$/;
  const FAILED = aTermination({ exitCode: 3, reason: 'Error' });
  const phone = (message: Message) => view(withNames(message, { ...DEFAULT_NAMES, nameOf: () => 'Roy' })).text;

  /** Of a quick success, asked for elsewhere than with a slash command in a channel. */
  async function fine(origin: Partial<Origin>, policy: Policy = aPolicy()): Promise<World> {
    const world = new World({ policy });
    await world.say('web-1 --image=debian -- id', anOrigin(origin));
    await ended(world);
    return world;
  }

  /** Its look ended well, with a long log. */
  async function alerted(): Promise<World> {
    const world = new World({ policy: anAlertPolicy() });
    await world.pipeline.alerts.receive('shop', aNotification());
    await settle();
    await ended(world);
    return world;
  }

  /** Of a run that ended so, whether or not the policy wants an approval, or private output. */
  async function told(termination = FAILED, policy?: Policy): Promise<World> {
    const world = new World(policy === undefined ? {} : { policy });
    await world.say('web-1 --image=debian -- id');
    await world.click('U0BOB', 'approve');
    await ended(world, termination);
    await world.clock.advance(60_000);
    return world;
  }

  it.each<readonly [string, RegExp, () => Promise<World>]>([
    ['it failed', /^❌ Roy, web-1: the run failed with exit code 3$/, () => told()],
    ['people approved it', /^🏁 Roy, web-1: succeeded$/, () => told(aTermination(), approving())],
    ['it is for one alone', /^❌ web-1: The run failed with exit code 3$/, () => told(FAILED, privately())],
    ['it is in a direct message', OF_SUCCESS, () => fine(FROM_BOB, inDirectMessages())],
    ['it is in a group message', OF_SUCCESS, () => fine({ inGroupMessage: true })],
    ['it stands below a mention', OF_SUCCESS, () => fine({ source: 'mention', threadTs: '5.0' })],
    ['it stands below the message of a shortcut', OF_SUCCESS, () => fine({ source: 'shortcut', threadTs: '5.0' })],
    ['it is of an alert', OF_SUCCESS, alerted],
  ])('where %s, has its words on a phone, and its file follows', async (_why, words, play) => {
    const world = await play();
    const [said, file] = results(world);
    expect(said?.files).toEqual([]);
    expect(said && phone(said.message)).toMatch(words);
    expect(file).toMatchObject({ files: [`kdebug-${world.runId}.log`], place: said?.place });
    expect(file && phone(file.message)).toBe(`Full log of web-1, run ${world.runId}`);
    expect(results(world)).toHaveLength(2);
  });

  it('says so when Slack takes no file', async () => {
    const world = await started('web-1 --image=debian -- id');
    world.thread.faults.add('share', 'slack_refused');
    await ended(world, FAILED);
    await world.clock.advance(60_000);
    expect(results(world)).toHaveLength(1);
    expect(textOf(results(world)[0]?.message)).toContain('could not be shared as a file (Slack refused it)');
  });
});

describe('an end that came late', () => {
  it('changes the result, and its log follows with a few words', async () => {
    const world = await started('web-1 --image=debian --timeout=1s -- sleep 5');
    world.cluster.report({ running: { startedAt: new Date(world.clock.now()).toISOString() } });
    await settle();
    await world.clock.advance(5_000);
    expect((await world.run()).outcome?.kind).toBe('timed-out');
    await ended(world);
    await world.clock.advance(60_000);
    expect(results(world).map(({ files }) => files)).toEqual([[], [`kdebug-${world.runId}-late.log`]]);
    expect(textOf(results(world)[0]?.message)).toContain('line');
    expect(textOf(results(world)[1]?.message)).toContain('which finished late');
  });

  it('is said anew, with its log, where the earlier result may not be changed', async () => {
    const world = await started('web-1 --image=debian --timeout=1s -- sleep 5');
    world.cluster.report({ running: { startedAt: new Date(world.clock.now()).toISOString() } });
    await settle();
    await world.clock.advance(5_000);
    for (let n = 0; n < 2; n += 1) world.thread.faults.add('update', 'slack_refused');
    await ended(world);
    await world.clock.advance(60_000);
    expect(results(world).map(({ files }) => files)).toEqual([[], [`kdebug-${world.runId}-late.log`]]);
    expect(textOf(results(world)[1]?.message)).toContain('Succeeded');
  });
});

describe('the end of a batch', () => {
  it('is said in words first, then come the index and logs, and the table', async () => {
    const world = new BatchWorld(2);
    await world.say('-l app=web --parallelism=1');
    await world.clock.advance(60_000);
    const { id, delivery } = await world.run();
    const files = [`kdebug-batch-${id}.txt`, `kdebug-batch-${id}.csv`];
    expect(results(world)).toMatchObject([
      { files: [], place: { threadTs: '1.0' } },
      { files, place: { threadTs: '1.0' } },
    ]);
    expect(Object.keys(delivery.files ?? {})).toHaveLength(2);
  });

  it('says that its files are lost when Slack takes none', async () => {
    const world = new BatchWorld(2);
    world.thread.faults.add('share', 'slack_refused');
    await world.say('-l app=web --parallelism=1');
    await world.clock.advance(60_000);
    expect(results(world)).toMatchObject([{ files: [] }]);
    expect(textOf(results(world)[0]?.message)).toContain('could not be shared (Slack refused it)');
  });
});
