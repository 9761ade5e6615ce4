import { describe, expect, it } from 'vitest';
import { asUserId } from '../../src/core/ids.ts';
import { anOrigin, aPolicy, approvalTerms, aTermination } from '../support/builders.ts';
import { settle } from '../support/fake-clock.ts';
import { textOf } from '../support/plain-message.ts';
import { BATCH_RULE, BatchWorld, policyOf } from './batch/batch-world.ts';
import { World } from './support/world.ts';

const FOR_ONE = { redact: [], retentionMs: 604_800_000, deliverTo: 'requester' } as const;
const LINE = 'a private line';
const LONG = `${LINE}\n`.repeat(500);

async function ended(world: World, log: string): Promise<void> {
  world.cluster.log = log;
  world.cluster.report({ terminated: aTermination() });
  await settle();
}

const inChannel = ({ thread }: World): string =>
  JSON.stringify(thread.posts.filter(({ place }) => place.channelId === 'C0SHOP').map(({ message }) => message));

describe('where the policy delivers to the requester', () => {
  it('the result, then its file, go to a direct message, and the channel sees the outcome without a line of output', async () => {
    const world = new World({ policy: aPolicy({ output: FOR_ONE }) });
    await world.say('web-1 --image=debian -- id');
    await ended(world, LONG);
    expect(world.thread.posts.map(({ meta, place }) => [meta.kind, place])).toEqual([
      ['anchor', { channelId: 'C0SHOP' }],
      ['result', { channelId: 'D-U0ROY' }],
      ['result', { channelId: 'D-U0ROY' }],
    ]);
    expect(textOf(world.result())).toContain(LINE);
    expect(world.thread.files.map(({ place }) => place)).toEqual([{ channelId: 'D-U0ROY' }]);
    expect(inChannel(world)).toContain('Succeeded after');
    expect(inChannel(world)).toContain('by direct message');
    expect(inChannel(world)).not.toContain(LINE);
  });

  it('a result whose answer got lost is found in the direct message, not posted again', async () => {
    const world = new World({ policy: aPolicy({ output: FOR_ONE }) });
    await world.say('web-1');
    world.thread.faults.add('post', 'slack_unanswered', 'after');
    await ended(world, LINE);
    await world.clock.advance(3_000);
    expect(world.thread.posts.map(({ meta }) => meta.kind)).toEqual(['anchor', 'result']);
    expect((await world.run()).delivery).toMatchObject({ result: { channelId: 'D-U0ROY' }, closed: true });
  });

  it('a rejection is no output: it stays in the thread', async () => {
    const approval = approvalTerms();
    const world = new World({ policy: { ...policyOf({ ...BATCH_RULE, approval }), output: FOR_ONE } });
    await world.say('web-1');
    await world.click('U0ROY', 'cancel');
    expect((await world.run()).state).toBe('cancelled');
    expect(world.thread.posts.map(({ place }) => place.channelId)).toEqual(['C0SHOP', 'C0SHOP']);
  });

  it('who did not ask is shown the run without its log', async () => {
    const world = new World({ policy: aPolicy({ output: FOR_ONE }) });
    await world.say('web-1 --image=debian -- id');
    await ended(world, LONG);
    const shownTo = async (person: string) =>
      JSON.stringify(
        await world.say(`logs ${world.runId}`, anOrigin({ dedupeKey: person, requesterId: asUserId(person) })),
      );
    expect(await shownTo('U0ROY')).toContain(LINE);
    expect(await shownTo('U0EVE')).toContain('Succeeded after');
    expect(await shownTo('U0EVE')).not.toContain(LINE);
  });

  it('the same holds for a batch: its dashboard stays, its result and files do not', async () => {
    const world = new BatchWorld(2, { policy: { ...policyOf(BATCH_RULE), output: FOR_ONE } });
    await world.say('-l app=web --parallelism=2');
    await world.clock.advance(60_000);
    expect(world.thread.posts.map(({ meta, place }) => [meta.kind, place.channelId])).toEqual([
      ['anchor', 'C0SHOP'],
      ['result', 'D-U0ROY'],
      ['result', 'D-U0ROY'],
    ]);
    expect(world.thread.files.map(({ place }) => place.channelId)).toEqual(['D-U0ROY', 'D-U0ROY']);
  });
});
