import { describe, expect, it } from 'vitest';
import { asChannelId, asRunId, asUserId } from '../../../src/core/ids.ts';
import type { Run } from '../../../src/core/run/run.ts';
import {
  anOrigin,
  aPlan,
  aPolicy,
  approvalTerms,
  aRule,
  aRun,
  aTermination,
  START_MS,
} from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { textOf } from '../../support/plain-message.ts';
import { BATCH_RULE, BatchWorld, policyOf } from '../batch/batch-world.ts';
import { World } from '../support/world.ts';

const APPROVED_RULE = aRule({ approval: approvalTerms() });

/** Three channels; `sre` (U0BOB) approves for the second. */
const POLICY = aPolicy({
  approvers: { sre: { users: [asUserId('U0BOB')] }, closed: { users: [], channel: 'C0CLOSED' } as never },
  channels: {
    [asChannelId('C0SHOP')]: { rules: [aRule()] },
    [asChannelId('C0PAY')]: { rules: [APPROVED_RULE] },
    [asChannelId('C0SECRET')]: { rules: [aRule()] },
  },
});

const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567';
const idOf = (index: number) => asRunId(`aaaaaaaa${LETTERS[Math.floor(index / 32)]}${LETTERS[index % 32]}`);

async function has(world: World, index: number, parts: Partial<Run> & { channel?: string; by?: string } = {}) {
  const { channel = 'C0SHOP', by = 'U0ROY', ...over } = parts;
  const origin = anOrigin({
    dedupeKey: String(index),
    channelId: asChannelId(channel),
    requesterId: asUserId(by),
    receivedAtMs: START_MS + index * 1_000,
  });
  const anchor = { channelId: channel, ts: `${index}.0` };
  await world.store.create(
    aRun({
      id: idOf(index),
      origin,
      state: 'running',
      plan: aPlan({ podName: `web-${index}` }),
      delivery: { anchor },
      ...over,
    }),
    'one',
  );
}

const listed = async (world: Pick<World, 'say'>, words: string, person = 'U0ROY'): Promise<string> =>
  textOf(await world.say(words, anOrigin({ dedupeKey: `${words} ${person}`, requesterId: asUserId(person) })));

const rowsOf = (shown: string): readonly string[] => shown.match(/shop\/web-\d+/g) ?? [];

describe('list shows', () => {
  it('the newest ten runs of this channel, and how to see the next ones', async () => {
    const world = new World({ policy: POLICY });
    for (let index = 0; index < 13; index += 1) await has(world, index);
    await has(world, 13, { channel: 'C0PAY' });
    const first = await listed(world, 'list');
    expect(first).toContain('Last 10 runs in this channel');
    expect(rowsOf(first)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3].map((index) => `shop/web-${index}`));
    expect(first).toContain('More: /kdebug list --page=2');
    const second = await listed(world, 'list --page=2');
    expect(rowsOf(second)).toEqual(['shop/web-2', 'shop/web-1', 'shop/web-0']);
    expect(second).not.toContain('More:');
    expect(await listed(world, 'list --page=3')).toContain('Page 3: no more runs in this channel');
  });

  it('what came of each, who wanted it, and a link to its card', async () => {
    const world = new World();
    await world.say('web-1 --image=debian -- id');
    world.cluster.report({ terminated: aTermination() });
    await settle();
    const message = await world.say('list', anOrigin({ dedupeKey: 'two' }));
    const shown = textOf(message);
    expect(shown).toContain('shop/web-1: Succeeded · debian · U0ROY · ');
    expect(JSON.stringify(message)).toContain('https://local.slack.com/archives/C0SHOP/p10');
  });

  it('a batch by its command, with how many runs succeeded', async () => {
    const world = new BatchWorld(2, { policy: policyOf(BATCH_RULE) });
    await world.say('-l app=web --parallelism=2');
    await world.clock.advance(60_000);
    expect(textOf(await world.say('list'))).toContain(
      '🏁 /kdebug -l app=web --parallelism=2: Succeeded, 2 of 2 runs succeeded',
    );
  });

  it('no link where Slack gives none in time', async () => {
    const world = new World();
    await has(world, 1);
    world.thread.faults.add('permalink', 'slack_unanswered');
    const message = await world.say('list');
    expect(textOf(message)).toContain('shop/web-1: Running');
    expect(JSON.stringify(message)).not.toContain('"link"');
  });
});

describe('list finds', () => {
  it('the runs of one person', async () => {
    const world = new World({ policy: POLICY });
    await has(world, 1);
    await has(world, 2, { by: 'U0BOB' });
    const shown = await listed(world, 'list --mine');
    expect(shown).toContain('Latest of your runs in this channel');
    expect(rowsOf(shown)).toEqual(['shop/web-1']);
  });

  it('runs by pod and outcome, a page at a time', async () => {
    const world = new World({ policy: POLICY });
    for (let index = 0; index < 40; index += 1)
      await has(world, index, index % 2 ? { state: 'finished', outcome: { kind: 'timed-out' } } : {});
    const first = await listed(world, 'list --outcome=timed-out');
    expect(first).toContain('Last 10 runs in this channel, outcome timed-out');
    expect(rowsOf(first)[0]).toBe('shop/web-39');
    expect(first).toContain('/kdebug list --outcome=timed-out --page=2');
    expect(rowsOf(await listed(world, 'list --outcome=timed-out --page=2'))).toHaveLength(10);
    expect(rowsOf(await listed(world, 'list --pod=web-3 --outcome=running'))).toEqual(
      [38, 36, 34, 32, 30].map((index) => `shop/web-${index}`),
    );
    expect(await listed(world, 'list --pod=cart')).toContain('No runs in this channel, pod cart.');
  });

  it('nothing older than the newest 200, and says so', async () => {
    const world = new World({ policy: POLICY });
    for (let index = 0; index < 210; index += 1) await has(world, index);
    expect(await listed(world, 'list --pod=web-205')).toContain('Only the newest 200 runs were searched');
    expect(rowsOf(await listed(world, 'list --pod=web-5', 'U0EVE'))).not.toContain('shop/web-5');
  });
});

describe('list --all', () => {
  const everywhere = async (): Promise<World> => {
    const world = new World({ policy: POLICY });
    await has(world, 1);
    await has(world, 2, { channel: 'C0PAY', by: 'U0EVE' });
    await has(world, 3, { channel: 'C0SECRET' });
    return world;
  };

  it('shows an approver the channels that they approve for, and names each', async () => {
    const shown = await listed(await everywhere(), 'list --all', 'U0BOB');
    expect(shown).toContain('Last 2 runs in the channels that you approve for');
    expect(shown).toContain('C0PAY');
    expect(rowsOf(shown)).toEqual(['shop/web-2', 'shop/web-1']);
  });

  it('refuses who approves for no channel (list_all_not_approver)', async () => {
    const shown = await listed(await everywhere(), 'list --all');
    expect(shown).toContain('list_all_not_approver');
    expect(shown).toContain('/kdebug list --mine --all');
    expect(rowsOf(shown)).toEqual([]);
  });

  it('refuses while Slack does not say who approves', async () => {
    const world = await everywhere();
    world.policy = { ...POLICY, approvers: { sre: { users: [], usergroup: 'S0SRE' } as never } };
    world.directory.faults.add('members', 'slack_unreachable');
    const shown = await listed(world, 'list --all', 'U0BOB');
    expect(shown).toContain('slack_unreachable');
    expect(rowsOf(shown)).toEqual([]);
  });

  it('shows everybody their own runs in every channel', async () => {
    const shown = await listed(await everywhere(), 'list --mine --all');
    expect(shown).toContain('Last 2 of your runs in every channel');
    expect(rowsOf(shown)).toEqual(['shop/web-3', 'shop/web-1']);
  });

  it('is bounded for each person, and a plain list is not', async () => {
    const world = await everywhere();
    for (let count = 0; count < 6; count += 1) await listed(world, 'list --all');
    expect(await listed(world, 'list --all')).toContain('limit_per_person');
    expect(rowsOf(await listed(world, 'list'))).toEqual(['shop/web-1']);
  });
});

describe('what is for the requester alone', () => {
  it('gives others the outcome without the verdict', async () => {
    const policy = { ...POLICY, output: { redact: [], retentionMs: 604_800_000, deliverTo: 'requester' } as const };
    const world = new World({ policy });
    const verdict = { line: 'Memory at 95% of its limit.', findings: [] };
    await has(world, 1, { state: 'finished', outcome: { kind: 'succeeded' }, verdict });
    expect(await listed(world, 'list')).toContain('Memory at 95% of its limit');
    const others = await listed(world, 'list', 'U0EVE');
    expect(others).toContain('shop/web-1: Succeeded');
    expect(others).not.toContain('Memory');
  });
});

it('a store that does not answer in time gets one sentence (lookup_late)', async () => {
  const world = new World();
  world.store.recent = () => new Promise(() => {});
  const answer = world.pipeline.inbox.command(anOrigin(), 'list');
  await world.clock.advance(2_000);
  expect(textOf(await answer)).toContain('lookup_late');
});

describe('a search for problems', () => {
  const verdict = { findings: [{ code: 'oom', rank: 1, text: 'out of memory', next: 'more' }] } as never;
  const done = { state: 'finished', outcome: { kind: 'succeeded' }, verdict } as const;

  it('tells nobody else the verdict of a run whose output is private', async () => {
    const policy = aPolicy({ ...POLICY, output: { ...POLICY.output, deliverTo: 'requester' } });
    const world = new World({ policy });
    await has(world, 1, done);
    expect(rowsOf(await listed(world, 'list --outcome=problems', 'U0EVE'))).toEqual([]);
    expect(rowsOf(await listed(world, 'list --outcome=problems'))).toEqual(['shop/web-1']);
  });

  it('finds it where everybody may read it', async () => {
    const world = new World({ policy: POLICY });
    await has(world, 1, done);
    expect(rowsOf(await listed(world, 'list --outcome=problems', 'U0EVE'))).toEqual(['shop/web-1']);
  });
});
