import { expect } from 'vitest';
import { tagOf } from '../../play/app/our-posts.ts';
import type { LocalCluster } from '../../play/cluster/index.ts';
import type { Delivery } from '../../play/slack/index.ts';
import { isSettled } from '../../src/core/run/life-cycle.ts';
import { sampleOf } from '../support/sample.ts';
import { slackOutage } from './slack-outage.ts';
import type { Board } from './support/board.ts';
import {
  ASKING,
  containersIn,
  ELSEWHERE,
  HELD,
  LONG,
  letEnd,
  type Mishap,
  scenesOn,
  toldOnce,
  toldPrivately,
  wordsOf,
} from './support/in-scene.ts';
import type { ServerScene } from './support/server-scene.ts';

const FOR_EVER = Number.POSITIVE_INFINITY;

/** F20 to F28 of the matrix, on the real adapters between the local Slack and the local cluster. */
export function slackFaults(board: Board, cluster: () => LocalCluster): void {
  const inScene = scenesOn(cluster);

  board.fault(
    'F20',
    'a command that is delivered four times, minutes apart and to another replica: one run',
    inScene(async (scene) => {
      await scene.boot();
      const first = await scene.type(`${scene.pod} ${LONG}`);
      const again = (attempt: number) =>
        scene.slack.deliver.again(first, { retry: { attempt, reason: 'http_timeout' } });
      await again(1);
      await scene.skipToEnd();
      await scene.boot();
      for (const attempt of [2, 3]) {
        await scene.clock.skip(attempt * 60_000);
        expect((await again(attempt)).status).toBe(200);
      }
      await scene.clock.skip(5_000);
      await toldOnce(scene);
    }),
  );

  for (const [seconds, method] of sampleOf('waits that Slack asks for', WAITS, 3))
    board.fault(
      'F21',
      `429 with Retry-After ${seconds} s for ${method}: no earlier call, others go on, all is told`,
      inScene(async (scene) => {
        scene.slack.faults.queue({ method, kind: 'ratelimited', retryAfterSeconds: seconds });
        await scene.boot();
        await scene.type(`${scene.pod} ${LONG}`);
        await scene.slack.until(() => scene.slack.faults.hits === 1);
        // Neither another channel nor another method waits with it.
        await anotherChannelSpeaks(scene);
        await scene.skipToEnd();
        await toldOnce(scene);
        expectPatience(scene, method, seconds * 1_000);
      }),
    );

  for (const kind of [
    'http_500',
    'http_503',
    'reset_before',
    'reset_after_commit',
    'truncated_json',
    'hang',
    'hang_after_commit',
  ])
    board.fault(
      'F22',
      `${kind} at any call that says something: looked up before it is said again, told once`,
      inScene(
        async (scene) => {
          for (const method of SAYING) scene.slack.faults.queue({ method, kind });
          await scene.boot();
          await scene.type(`${scene.pod} ${HELD}`);
          await scene.skipUntil(async () => scene.posts('anchor').length === 1);
          await letEnd(scene);
          await scene.skipToEnd();
          expect(scene.slack.faults.hits).toBe(SAYING.length);
          await toldOnce(scene);
        },
        // Long enough for an honest answer on a busy machine.
        { slackTimeoutMs: 1_500 },
      ),
    );

  slackOutage(board, cluster);

  for (const error of ['token_revoked', 'invalid_auth', 'account_inactive'])
    board.fault(
      'F24',
      `${error}: an alarm, few calls, and all is told once there is a good token`,
      inScene(async (scene) => {
        const first = await scene.boot();
        await scene.type(`${scene.pod} ${HELD}`);
        await scene.reach('running');
        scene.slack.faults.queue({ method: '*', kind: error, times: FOR_EVER });
        await letEnd(scene);
        await scene.skipUntil(async () => (await scene.run())?.state === 'finished');
        const before = scene.slack.requests().length;
        for (let minute = 0; minute < 10; minute += 1) await scene.clock.skip(60_000);
        expect(scene.slack.requests().length - before).toBeLessThan(30);
        expect(scene.logged).toContainEqual(
          expect.objectContaining({ level: 'error', reason: 'slack_token_rejected' }),
        );
        expect((await scene.run())?.delivery.closed).toBeUndefined();
        // The new token comes with a new process.
        first.life.dead = true;
        scene.slack.faults.clear();
        await scene.settle();
        await toldOnce(scene);
      }),
    );

  for (const [error, close] of CLOSINGS)
    board.fault(
      'F25',
      `${error} while the run goes on: the result goes to the requester alone`,
      inScene(async (scene) => {
        await scene.boot();
        await scene.type(`${scene.pod} ${HELD}`);
        await scene.slack.until(() => scene.posts('anchor').length === 1);
        close(scene);
        await letEnd(scene);
        await scene.skipToEnd();
        const [result] = scene.posts('result');
        expect(scene.posts('result')).toHaveLength(1);
        expect(scene.slack.team.channels[result?.channel ?? '']).toMatchObject({ kind: 'im', user: 'U0ROY' });
        expect(scene.slack.files()).toHaveLength(1);
        expect(scene.audit.entries.map(({ step }) => step)).toContain('outcome');
      }),
    );

  board.fault(
    'F25',
    'Slack takes the result nowhere: it is told privately, on record as lost, and the run is let go',
    inScene(async (scene) => {
      await scene.boot();
      await scene.type(`${scene.pod} ${HELD}`);
      await scene.slack.until(() => scene.posts('anchor').length === 1);
      Object.assign(scene.slack.team.channels.C0SHOP ?? {}, { is_archived: true });
      scene.slack.faults.queue({ method: 'conversations.open', kind: 'user_disabled', times: FOR_EVER });
      await letEnd(scene);
      const outcomes = () => scene.audit.entries.filter(({ step }) => step === 'outcome').length;
      await scene.skipToEnd();
      expect([scene.posts('result'), outcomes()]).toEqual([[], 1]);
      expect((await scene.run())?.delivery.lost).toBe('slack_channel_closed');
      expect(toldPrivately(scene)).toContain('Succeeded');
      expect(scene.logged).toContainEqual(
        expect.objectContaining({ level: 'error', message: 'Slack refused the result, sent privately' }),
      );
    }),
  );

  board.fault(
    'F25',
    'somebody deletes the anchor: the result stands alone in the channel',
    inScene(async (scene) => {
      await scene.boot();
      await scene.type(`${scene.pod} ${HELD}`);
      const { ts } = await scene.slack.until(() => scene.posts('anchor')[0]);
      scene.slack.state.channelMessages('C0SHOP').delete(ts);
      await letEnd(scene);
      await scene.skipToEnd();
      expect(scene.posts('anchor')).toEqual([]);
      expect(scene.posts('result')).toEqual([expect.objectContaining({ channel: 'C0SHOP' })]);
      expect(scene.slack.files()).toHaveLength(1);
    }),
  );

  board.fault(
    'F25',
    'the app was installed anew, so the anchor is not ours to change any more: the result comes all the same',
    inScene(async (scene) => {
      await scene.boot();
      await scene.type(`${scene.pod} ${HELD}`);
      await scene.slack.until(() => scene.posts('anchor').length === 1);
      scene.slack.faults.queue({ method: 'chat.update', kind: 'cant_update_message', times: FOR_EVER });
      await letEnd(scene);
      await scene.skipToEnd();
      expect(scene.posts('result')).toEqual([expect.objectContaining({ channel: 'C0SHOP' })]);
      expect(scene.slack.files()).toHaveLength(1);
    }),
  );

  for (const [name, mishap, mostLost] of sampleOf('mishaps of Socket Mode', MISHAPS, 2))
    board.fault(
      'F26',
      `${name}: every command that was taken is one run, and all come through again`,
      inScene(
        async (scene) => {
          const replica = await scene.boot();
          await scene.slack.until(() => scene.slack.sockets.count === 2);
          const burst = (first: number) =>
            Promise.all([0, 1, 2, 3].map((n) => scene.type(`${scene.pod} -n shop -- echo ${first + n}`)));
          const [before, during] = await Promise.all([burst(0), typedDuring(scene, mishap(scene))]);
          await scene.skipUntil(async () => replica.ready() && scene.slack.sockets.count === 2, 50);
          const since = await burst(4);
          expect(since.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
          const all = [...before, ...during, ...since];
          const taken = all.filter(({ status }) => status === 200).length;
          expect(all.length - taken).toBeLessThanOrEqual(mostLost);
          const runs = await everyRunTold(scene);
          expect(runs).toBeGreaterThanOrEqual(taken);
          expect(runs).toBeLessThanOrEqual(all.length);
        },
        { transport: 'socket' },
      ),
    );

  for (const error of ['msg_too_long', 'msg_blocks_too_long', 'invalid_blocks'])
    board.fault(
      'F27',
      `${error}: said ever more simply, until Slack takes it`,
      inScene(async (scene) => {
        for (const method of ['chat.postMessage', 'chat.update'])
          scene.slack.faults.queue({ method, kind: error, times: 2 });
        scene.slack.faults.queue({ method: 'files.completeUploadExternal', kind: error, times: 2 });
        await scene.boot();
        await scene.type(`${scene.pod} ${HELD}`);
        await scene.skipUntil(async () => scene.posts('anchor').length === 1);
        await letEnd(scene);
        await scene.skipToEnd();
        expect(scene.slack.faults.hits).toBe(6);
        await toldOnce(scene);
        expect(wordsOf(scene, 'result')).toContain('Succeeded');
      }),
    );

  for (const [method, error] of [
    ['files.getUploadURLExternal', 'snippet_too_large'],
    ['files.getUploadURLExternal', 'file_uploads_disabled'],
    ['files.completeUploadExternal', 'file_update_failed'],
  ] as const)
    board.fault(
      'F27',
      `${error} at ${method}: the result stands without its file, and says so`,
      inScene(async (scene) => {
        scene.slack.faults.queue({ method, kind: error, times: FOR_EVER });
        await scene.boot();
        await scene.type(`${scene.pod} ${LONG}`);
        await scene.skipToEnd();
        await toldOnce(scene, { files: 0 });
        expect(wordsOf(scene, 'result')).toContain('200');
        expect(wordsOf(scene, 'result')).toContain('could not');
      }),
    );

  board.fault(
    'F28',
    'a person with a new id is nobody until the groups and users know the id',
    inScene(async (scene) => {
      await scene.boot();
      await scene.type(`${scene.pod} ${ASKING}`, 'U0THURSTON');
      const anchor = await scene.slack.until(() => scene.posts('anchor')[0]);
      const { team } = scene.slack;
      const { U0BOB: bob } = team.users;
      if (!bob) throw new Error('there is no Bob');
      team.users.W0BOB = { ...bob, id: 'W0BOB' };
      delete team.users.U0BOB;
      team.channels.C0SHOP?.members.push('W0BOB');
      await scene.press('W0BOB', 'approve', anchor.ts);
      expect(containersIn(scene)).toBe(0);
      Object.assign(team.usergroups.S0SRE ?? {}, { users: ['W0BOB'] });
      // Slack's event about the group may be lost; its members are known for a minute.
      await scene.clock.skip(60_000);
      await scene.press('W0BOB', 'approve', anchor.ts);
      await scene.skipToEnd();
      await toldOnce(scene, { files: 0 });
      const [container] = scene.cluster.pod('shop', scene.pod)?.spec.ephemeralContainers ?? [];
      expect(container?.env).toContainEqual({ name: 'KDEBUG_APPROVERS', value: 'W0BOB' });
    }),
  );

  board.fault(
    'F28',
    'a channel with a new id has no rules until the policy names it, whatever its name',
    inScene(async (scene) => {
      await scene.boot();
      const { channels } = scene.slack.team;
      if (!channels.C0SHOP) throw new Error('there is no channel');
      channels.C0MOVED = { ...channels.C0SHOP, id: 'C0MOVED' };
      await scene.type(`${scene.pod} ${LONG}`, 'U0ROY', 'C0MOVED');
      await scene.skipUntil(async () => toldPrivately(scene).includes('channel'));
      expect(containersIn(scene)).toBe(0);
      expect(scene.posts('anchor')).toEqual([]);
      expect((await scene.run())?.state ?? 'denied').toBe('denied');
    }),
  );
}

/** What happens to the two connections of a replica; how many people Slack may have to tell that kdebug did not answer. */
const WAITS = [1, 30, 120].flatMap((seconds) =>
  (['chat.postMessage', 'chat.update', 'files.completeUploadExternal'] as const).map(
    (method) => [seconds, method] as const,
  ),
);

const MISHAPS: readonly (readonly [string, Mishap, number])[] = [
  ['Slack recycles one connection', ({ slack }) => slack.sockets.refresh(2_000, 0), 1],
  ['Slack recycles both', ({ slack }) => slack.sockets.refresh(2_000), 1],
  [
    'both are cut, and the next tries fail with 500, 409 and a reset',
    async ({ slack }) => {
      slack.faults.queue({ method: 'apps.connections.open', kind: 'http_500', times: 2 });
      slack.faults.queue({ method: 'apps.connections.open', kind: 'reset_before' });
      slack.faults.queue({ method: 'socket', kind: 'http_409' });
      slack.sockets.kill();
    },
    FOR_EVER,
  ],
  ['Socket Mode is switched off for a moment', async ({ slack }) => slack.sockets.disableLink(), FOR_EVER],
  [
    'one is half-open: nothing that we say on it arrives',
    async ({ slack }) => {
      const before = slack.sockets.opened;
      const thaw = slack.sockets.freeze(0);
      // Its replacement; the frozen one itself may be gone by then, or not.
      await slack.until(() => slack.sockets.opened > before, 25_000);
      thaw();
    },
    FOR_EVER,
  ],
];

/** Commands one after the other, at most twenty, until the mishap is over. */
async function typedDuring(scene: ServerScene, mishap: Promise<void>): Promise<Delivery[]> {
  const deliveries: Delivery[] = [];
  let isOver = false;
  const end = mishap.finally(() => {
    isOver = true;
  });
  do deliveries.push(await scene.type(`${scene.pod} -n shop -- printf ${deliveries.length}`));
  while (!isOver && deliveries.length < MAX_TYPED);
  await end;
  return deliveries;
}

const MAX_TYPED = 20;

/** Every run that the bot holds has one container, one anchor and one result; how many there are. */
async function everyRunTold(scene: ServerScene): Promise<number> {
  const runs = await scene.skipUntil(async () => {
    const all = await scene.store.recent('C0SHOP', 50);
    return all.every(isSettled) && all;
  });
  const own = (kind: 'anchor' | 'result') =>
    scene
      .posts(kind)
      .map((post) => tagOf(scene.slack.state, post)?.run)
      .sort();
  const ids = runs.map(({ id }) => id).sort();
  expect(own('anchor')).toEqual(ids);
  expect(own('result')).toEqual(ids);
  expect(containersIn(scene)).toBe(ids.length);
  return ids.length;
}

/** Every call by which something is said to people. */
const SAYING = [
  'chat.postMessage',
  'chat.update',
  'files.getUploadURLExternal',
  'upload',
  'files.completeUploadExternal',
] as const;

const CLOSINGS: readonly (readonly [string, (scene: ServerScene) => void])[] = [
  ['is_archived', (scene) => void Object.assign(scene.slack.team.channels.C0SHOP ?? {}, { is_archived: true })],
  ['not_in_channel', (scene) => void Object.assign(scene.slack.team.channels.C0SHOP ?? {}, { members: ['U0ROY'] })],
  ['channel_not_found', (scene) => void delete scene.slack.team.channels.C0SHOP],
];

async function anotherChannelSpeaks(scene: ServerScene): Promise<void> {
  const pod = `${scene.pod}-too`;
  scene.cluster.addPod({ namespace: 'shop', name: pod });
  await scene.type(`${pod} -n shop --image=debian -- id`, 'U0ROY', ELSEWHERE);
  await scene.slack.until(() => scene.slack.messages(ELSEWHERE).length > 0);
}

/** Between a refusal and the next call of the method (a post: in that channel) lies at least what Slack asked for. */
function expectPatience(scene: ServerScene, method: string, ms: number): void {
  const calls = scene.slack
    .requests(method)
    .filter(({ args }) => args.channel !== ELSEWHERE && args.channel_id !== ELSEWHERE);
  const refused = calls.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(1);
  for (const refusal of refused) {
    const next = calls[calls.indexOf(refusal) + 1];
    expect((next?.atMs ?? 0) - refusal.atMs).toBeGreaterThanOrEqual(ms);
  }
}
