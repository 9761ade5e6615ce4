import { expect } from 'vitest';
import type { ActionName, FormName } from '../../src/core/actions.ts';
import { asChannelId } from '../../src/core/ids.ts';
import type { Run } from '../../src/core/run/run.ts';
import type { Answer, SubmitAnswer } from '../../src/flow/ports/slack.ts';
import type { RunSupervisor } from '../../src/flow/supervisor.ts';
import { anOrigin, aPod, aPolicy, approvalTerms, aRule, START_MS } from '../support/builders.ts';
import { textOf } from '../support/plain-message.ts';
import type { Board } from './support/board.ts';
import { type Fate, type LivingReplica, PortScene } from './support/port-scene.ts';
import { APPROVED, MAIN } from './support/stories.ts';

/** What a person does, at the replica that their request reaches. */
type Deed = (scene: PortScene, at: RunSupervisor) => Promise<Answer | SubmitAnswer>;

const clicks =
  (userId: string, action: ActionName): Deed =>
  (scene, at) =>
    scene.press(userId, action, at);

const types =
  (userId: string, words: string): Deed =>
  ({ runId }, { inbox }) =>
    inbox.command(anOrigin({ dedupeKey: words, requesterId: userId as never }), words.replace('ID', runId));

const submits =
  (userId: string, name: FormName, value: string, fields: Readonly<Record<string, string>>): Deed =>
  (scene, { inbox }) =>
    inbox.submit({
      name,
      value: value.replace('ID', scene.runId),
      teamId: 'T0TEAM',
      ...{ userId, channelId: 'C0SHOP', fields, dedupeKey: value, receivedAtMs: START_MS },
    });

/** The audit log's word of a deed that counted. */
interface Counted {
  readonly kind: string;
  readonly verdict: string;
}

interface Verb {
  readonly name: string;
  readonly deed: Deed;
  readonly counted: Counted;
  /** What is true of the run once the deed has counted. */
  readonly isDone: (run: Run) => boolean;
}

const gone = ({ state }: Run): boolean => state === 'cancelled';
const isVoted = ({ approval }: Run): boolean => approval?.votes.length === 1;
const onRequest: readonly Verb[] = [
  { name: 'approve', deed: clicks('U0BOB', 'approve'), counted: said('approve', 'granted'), isDone: isVoted },
  {
    name: 'approve for 30 min',
    deed: clicks('U0BOB', 'approve-grant'),
    counted: said('approve', 'granted'),
    isDone: (run) => isVoted(run) && run.grant !== undefined,
  },
  { name: 'reject', deed: clicks('U0BOB', 'reject'), counted: said('reject', 'rejected'), isDone: isVoted },
  {
    name: 'reject with a reason, by the form',
    deed: submits('U0BOB', 'vote-reason', 'reject:ID', { reason: 'not now' }),
    counted: said('reject', 'rejected'),
    isDone: isVoted,
  },
  { name: 'withdraw', deed: clicks('U0ROY', 'cancel'), counted: said('cancel', 'cancelled'), isDone: gone },
  { name: 'withdraw, typed', deed: types('U0ROY', 'stop ID'), counted: said('cancel', 'cancelled'), isDone: gone },
];

const isStopped = ({ stop }: Run): boolean => stop?.byUserId === 'U0ROY';
const onRun: readonly Verb[] = [
  { name: 'stop', deed: clicks('U0ROY', 'stop'), counted: said('request', 'allowed'), isDone: isStopped },
  { name: 'stop, typed', deed: types('U0ROY', 'stop ID'), counted: said('request', 'allowed'), isDone: isStopped },
];

const onBatch: readonly Verb[] = [
  {
    name: 'pause',
    deed: clicks('U0ROY', 'pause'),
    counted: said('pause', 'allowed'),
    isDone: ({ batch }) => batch?.paused?.byUserId === 'U0ROY',
  },
  {
    name: 'pause, typed',
    deed: types('U0ROY', 'batch ID pause'),
    counted: said('pause', 'allowed'),
    isDone: ({ batch }) => batch?.paused?.byUserId === 'U0ROY',
  },
  {
    name: 'resize, by the form',
    deed: submits('U0ROY', 'resize-batch', 'ID', { parallelism: '3', replicas: '' }),
    counted: said('scale', 'allowed'),
    isDone: ({ batch }) => batch?.parallelism === 3,
  },
  {
    name: 'cancel',
    deed: clicks('U0ROY', 'cancel'),
    counted: said('cancel', 'allowed'),
    isDone: ({ batch }) => batch?.closed !== undefined,
  },
];

function said(kind: string, verdict: string): Counted {
  return { kind, verdict };
}

const approving = aPolicy({
  approvers: { sre: { usergroup: 'S0SRE', users: [] } },
  channels: {
    [asChannelId('C0SHOP')]: { rules: [aRule({ id: 'attach', approval: approvalTerms({ grants: 'allowed' }) })] },
  },
});
const batches = aPolicy({
  channels: { [asChannelId('C0SHOP')]: { rules: [aRule({ batch: { maxPods: 50, maxParallelism: 5 } })] } },
});

/** F57 of the matrix: whoever holds a run dies right before somebody changes it. */
export function verbFaults(board: Board): void {
  for (const others of [1, 2])
    board.fault(
      'F57',
      `the holder is killed right before a click, with ${others} more: each verb counts once, and nobody is told to click again`,
      async () => {
        for (const verb of onRequest) await counts(verb, await requested(others));
        for (const verb of onRun) await counts(verb, await running(others));
        for (const verb of onBatch) await counts(verb, await inBatch(others));
        const end = said('end', 'ended');
        const isDone = ({ grant }: Run) => grant?.endedBy === 'U0ALICE';
        const verb = { name: 'end the grant', deed: clicks('U0ALICE', 'end-grant'), counted: end, isDone };
        await counts(verb, await granted(others));
      },
    );

  board.fault('F57', 'a holder that lives and keeps the run is said to be busy, and nothing is changed', async () => {
    const { scene, at } = await requested(1);
    await scene.clock.advance(5_000);
    // It works on the run, and renews what it holds.
    await scene.store.lease(scene.runId, 'busy');
    const renew = (): void => {
      void scene.store.renew('busy');
      scene.clock.after(1_000, renew);
    };
    scene.clock.after(1_000, renew);
    expect(textOf(await heard(scene, clicks('U0BOB', 'approve')(scene, at)))).toContain('run_elsewhere');
    expect(await scene.run()).toMatchObject({ state: 'pending-approval', approval: { votes: [] } });
  });

  board.fault(
    'F57',
    'a click whose replica adopts the run at the same moment: one hold goes on with the run',
    async () => {
      const fate = { kind: 'ends', exitCode: 0, log: 'short\n', endedMs: 20_000 } as const;
      const { scene, at } = await running(1, fate);
      const { store } = scene;
      const [claim, lease] = [store.claim.bind(store), store.lease.bind(store)];
      let claimed = (): void => {};
      const afterClaim = new Promise<void>((resolve) => {
        claimed = resolve;
      });
      store.lease = (id, owner) => afterClaim.then(() => lease(id, owner));
      store.claim = async (owner, limit) => {
        const leases = await claim(owner, limit);
        if (leases.length > 0) claimed();
        return leases;
      };
      await heard(scene, clicks('U0ROY', 'stop')(scene, at));
      await scene.goOn();
      expect(await scene.run()).toMatchObject({ state: 'finished', stop: { byUserId: 'U0ROY' } });
      expect(scene.thread.posts.filter(({ meta }) => meta.kind === 'result')).toHaveLength(1);
    },
  );
}

interface Killed {
  readonly scene: PortScene;
  /** The replica that the person's request reaches. */
  readonly at: RunSupervisor;
}

/** Kills the holder, which has not released the run. */
function killed(scene: PortScene, [holder, ...rest]: readonly LivingReplica[]): Killed {
  if (holder) holder.life.dead = true;
  const at = rest[0]?.pipeline;
  if (!at) throw new Error('no other replica');
  return { scene, at };
}

const replicas = (scene: PortScene, others: number): readonly LivingReplica[] =>
  Array.from({ length: others + 1 }, () => scene.boot());

/** A request whose card is posted; its holder dies where it was about to release it. */
async function requested(others: number): Promise<Killed> {
  const story = { ...APPROVED, policy: approving, click: undefined };
  const scene = new PortScene(story, [{ replica: 0, effect: 'store.release#1', when: 'before' }]);
  const first = scene.boot();
  await scene.type();
  await scene.reach('pending-approval');
  for (let waited = 0; scene.effects.hits === 0 && waited < 50; waited += 1) await scene.clock.advance(100);
  expect(scene.effects.hits).toBe(1);
  return killed(scene, [first, ...replicas(scene, others - 1)]);
}

async function running(others: number, fate: Fate = { kind: 'stays' }): Promise<Killed> {
  const scene = new PortScene({ ...MAIN, fate });
  const first = scene.boot();
  await scene.type();
  await scene.reach('running');
  return killed(scene, [first, ...replicas(scene, others - 1)]);
}

async function inBatch(others: number): Promise<Killed> {
  const scene = new PortScene({ ...MAIN, policy: batches, fate: { kind: 'stays' } });
  scene.cluster.siblings = [aPod({ metadata: { name: 'web-2', uid: 'uid-2' } })];
  const first = scene.boot();
  await scene.type('-l app=web --parallelism=1 --image=autodiagnose');
  await scene.reach('running');
  await scene.clock.advance(2_500);
  return killed(scene, [first, ...replicas(scene, others - 1)]);
}

async function granted(others: number): Promise<Killed> {
  const scene = new PortScene({ ...APPROVED, policy: approving, fate: { kind: 'stays' }, click: undefined });
  const first = scene.boot();
  await scene.type();
  await scene.reach('pending-approval');
  await scene.clock.advance(1_000);
  await scene.click('U0BOB', 'approve-grant');
  await scene.reach('running');
  return killed(scene, [first, ...replicas(scene, others - 1)]);
}

/** In Slack's 3 s there is an answer, or the promise of one. */
async function heard(scene: PortScene, answering: Promise<Answer | SubmitAnswer>): Promise<Answer | SubmitAnswer> {
  const first = await within(scene, answering, 3_000);
  return first.kind === 'later' ? within(scene, first.answer as Promise<Answer | SubmitAnswer>, 5_000) : first;
}

async function within<Value>(scene: PortScene, promised: Promise<Value>, ms: number): Promise<Value> {
  const box: { value?: Value } = {};
  void promised.then((value) => {
    box.value = value;
  });
  for (let waited = 0; box.value === undefined && waited < ms; waited += 100) await scene.clock.advance(100);
  if (box.value === undefined) throw new Error(`no answer in ${ms} ms`);
  return box.value;
}

async function counts({ name, deed, counted, isDone }: Verb, { scene, at }: Killed): Promise<void> {
  const answer = textOf(await heard(scene, deed(scene, at)));
  expect({ name, answer }).not.toEqual({ name, answer: expect.stringContaining('run_elsewhere') });
  await scene.clock.advance(5_000);
  const records = scene.audit.entries.filter(
    ({ facts }) => facts.kind === counted.kind && facts.verdict === counted.verdict,
  );
  const run = await scene.run();
  expect({ name, answer, isDone: run && isDone(run), records: records.length }).toEqual({
    name,
    answer,
    isDone: true,
    records: 1,
  });
}
