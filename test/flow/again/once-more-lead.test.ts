import { expect, it } from 'vitest';
import type { Pod } from '../../../src/core/container/pod.ts';
import { asChannelId, asRunId } from '../../../src/core/ids.ts';
import type { Rule } from '../../../src/core/policy/policy.ts';
import {
  aCrashingPod,
  anOrigin,
  anOriginal,
  aPolicy,
  approvalTerms,
  aRule,
  aStatus,
  START_MS,
} from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { World } from '../support/world.ts';

const LABEL = 'Run it once more';
const DIGEST = `shop@sha256:${'a'.repeat(64)}`;
const AGAIN = aRule({ id: 'again', classes: ['elevated'], profiles: [], approval: approvalTerms() });

function loops(change: (status: Pod['status']['containerStatuses'][number]) => object = () => ({})): Pod {
  const pod = aCrashingPod(START_MS);
  const statuses = pod.status.containerStatuses.map((status) => ({ ...status, imageID: DIGEST, ...change(status) }));
  return { ...pod, status: { ...pod.status, containerStatuses: statuses } };
}

async function answered(rules: readonly Rule[] = [aRule(), AGAIN], pod = loops()): Promise<World> {
  const sre = { usergroup: 'S0SRE', users: [] };
  const world = new World({
    policy: aPolicy({ channels: { [asChannelId('C0SHOP')]: { rules } }, approvers: { sre } }),
  });
  world.cluster.setPod(pod);
  world.cluster.originalNow = anOriginal();
  await world.say('web-1', anOrigin());
  return world;
}

const lead = (world: World) =>
  world
    .result()
    ?.parts.flatMap((part) => (part.kind === 'actions' ? part.buttons : []))
    .find(({ action }) => action === 'next-image');

const click = async (world: World) => {
  const ref = world.thread.posts.find(({ meta }) => meta.kind === 'result')?.ref;
  const answer = await world.click('U0ROY', 'next-image', { channelId: 'C0SHOP', messageTs: ref?.ts ?? '' });
  await settle();
  return answer;
};

it('an answer about a crash loop leads to a second run, which is decided for whoever clicks', async () => {
  const world = await answered();
  expect(world.cluster.launches).toHaveLength(0);
  expect(lead(world)).toMatchObject({ label: LABEL });
  expect(await click(world)).toEqual({ kind: 'nothing' });
  expect(await world.store.read(asRunId('bbbbbbbbbb'))).toMatchObject({
    state: 'pending-approval',
    origin: { source: 'button', requesterId: 'U0ROY' },
    request: { onceMore: { withoutEnv: [] }, targetContainer: { kind: 'named', name: 'web' } },
    plan: { image: DIGEST, podName: 'web-1' },
  });
});

it.each<[string, readonly Rule[], Pod]>([
  ['no rule of the channel has an approval for it', [aRule({ classes: ['observe', 'elevated'] })], loops()],
  ['the rule with an approval has another class', [aRule(), { ...AGAIN, classes: ['intrusive'] }], loops()],
  ['the rule is about another namespace', [aRule(), { ...AGAIN, namespaces: ['other'] }], loops()],
  [
    'the container runs',
    [aRule(), AGAIN],
    loops(({ waiting: _, ...status }) => ({ ...status, waiting: undefined, running: { startedAt: '' } })),
  ],
])('it does not where %s', async (_, rules, pod) => {
  expect(lead(await answered(rules, pod))?.label).not.toBe(LABEL);
});

it('a click is refused once the container runs again', async () => {
  const world = await answered();
  const { waiting: _, ...up } = aStatus({ imageID: DIGEST, running: { startedAt: new Date(START_MS).toISOString() } });
  const pod = loops();
  world.cluster.setPod({ ...pod, status: { ...pod.status, containerStatuses: [up] } });
  await click(world);
  expect(await world.store.read(asRunId('bbbbbbbbbb'))).toMatchObject({
    state: 'denied',
    refusal: { code: 'once_more_running' },
  });
});
