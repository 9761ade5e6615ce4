import type { Redis } from 'ioredis';
import { toKdebugError } from '../../../src/core/errors.ts';
import { until } from '../../adapters/store/redis/redis-server.ts';
import type { RedisReplica, RedisScene } from '../support/redis-scene.ts';

/** What a mishap needs of the soak. */
export interface Ground {
  readonly scene: RedisScene;
  /** Numbers in [0, 1), by the seed. */
  readonly random: () => number;
  readonly pause: (ms: number) => Promise<void>;
  /** What stands in the store alone is about to be gone: requests that wait for people. */
  readonly forget: () => void;
}

export interface Mishap {
  readonly name: string;
  /** How often, beside the others. */
  readonly weight: number;
  /** Resolves when it is over. Two with a lock of the same name do not happen at once. */
  readonly lock?: 'store' | 'replica';
  happen(ground: Ground): Promise<void>;
}

const pick = <Value>(random: () => number, values: readonly Value[]): Value =>
  values[Math.floor(random() * values.length)] as Value;

const oneOf = ({ living }: RedisScene, random: () => number): RedisReplica | undefined =>
  living[Math.floor(random() * living.length)];

const METHODS = [
  'chat.postMessage',
  'chat.update',
  'conversations.replies',
  'conversations.history',
  'files.getUploadURLExternal',
  'upload',
  'files.completeUploadExternal',
  'chat.postEphemeral',
  'response_url',
];

const slack = (kind: string, weight: number): Mishap => ({
  name: `slack ${kind}`,
  weight,
  happen: async ({ scene, random }) => {
    const times = 1 + Math.floor(random() * 2);
    scene.servers.slack.faults.queue({ method: pick(random, METHODS), kind, times, ms: 500, retryAfterSeconds: 1 });
  },
});

const API = [{ resource: 'pods/ephemeralcontainers' }, { resource: 'pods/log' }, { resource: 'pods' }, {}];

const cluster = (name: string, weight: number, fault: (random: () => number) => Parameters<FaultQueue>[0]): Mishap => ({
  name: `cluster ${name}`,
  weight,
  happen: async ({ scene, random }) => {
    scene.servers.cluster.faults.queue({ match: pick(random, API), ...fault(random) });
  },
});

type FaultQueue = RedisScene['servers']['cluster']['faults']['queue'];

/** As Kubernetes does with one that could not start, because Redis was away just then. */
async function boot({ scene, pause }: Ground): Promise<RedisReplica> {
  for (let tries = 20; ; tries -= 1) {
    try {
      return await scene.boot();
    } catch (thrown) {
      if (tries === 0 || toKdebugError(thrown).code !== 'store_unreachable') throw thrown;
    }
    await pause(500);
  }
}

async function killOne(ground: Ground): Promise<void> {
  const { scene, random, pause } = ground;
  const replica = oneOf(scene, random);
  if (!replica) return;
  scene.kill(replica);
  await pause(random() * 3_000);
  await boot(ground);
}

async function killAll(ground: Ground): Promise<void> {
  const { scene, random, pause } = ground;
  const count = scene.living.length;
  for (const replica of scene.living) scene.kill(replica);
  await pause(random() * 2_000);
  for (let left = count; left > 0; left -= 1) await boot(ground);
}

/** As a rolling update does: the one that goes gives its runs back, and another comes. */
async function rollOne(ground: Ground): Promise<void> {
  const { scene, random } = ground;
  const leaver = oneOf(scene, random);
  if (!leaver) return;
  scene.deliverTo(await boot(ground));
  await leaver.pipeline.drain(2_000);
  scene.kill(leaver);
}

async function freeze({ scene, random, pause }: Ground): Promise<void> {
  scene.redis.freeze();
  await pause(200 + random() * 5_000);
  scene.redis.thaw();
  await allAnswer(scene);
}

/** With its append-only file, so that it has everything again. */
async function restart({ scene, random, pause }: Ground): Promise<void> {
  await scene.redis.kill();
  await pause(random() * 2_000);
  await scene.redis.start();
  await allAnswer(scene);
}

async function empty({ scene, pause, forget }: Ground): Promise<void> {
  // What a dead replica left stands in Redis alone until another has taken it: both at once is more than anybody promises.
  await pause(6_000);
  forget();
  await command(scene, (redis) => redis.flushall());
  forget();
  await pause(3_000);
}

const forgetScripts = ({ scene }: Ground): Promise<void> => command(scene, (redis) => redis.script('FLUSH'));

/** A Redis that is gone just now is not asked again. */
async function command(scene: RedisScene, send: (redis: Redis) => Promise<unknown>): Promise<void> {
  const redis = scene.redis.client();
  redis.on('error', () => {});
  await send(redis).catch(() => undefined);
  redis.disconnect();
}

/** Answers that were on their way are lost; what was asked may have been done. */
async function loseAnswers({ scene, random }: Ground): Promise<void> {
  const middle = oneOf(scene, random)?.middle;
  if (!middle) return;
  let left = 1 + Math.floor(random() * 3);
  middle.onReply = (piece) => {
    if (left <= 0) return piece;
    left -= 1;
    return 'cut';
  };
}

/** One replica cannot reach Redis for a while; the others can. */
async function cutOff({ scene, random, pause }: Ground): Promise<void> {
  const replica = oneOf(scene, random);
  if (!replica) return;
  replica.middle.refusing = true;
  replica.middle.cut();
  await pause(random() * 6_000);
  replica.middle.refusing = false;
}

const allAnswer = (scene: RedisScene): Promise<void> =>
  until(async () => {
    const answers = await Promise.allSettled(scene.living.map(({ store }) => store.check()));
    return answers.every(({ status }) => status === 'fulfilled');
  });

export const MISHAPS: readonly Mishap[] = [
  { name: 'kill one', weight: 8, lock: 'replica', happen: killOne },
  { name: 'kill all', weight: 2, lock: 'replica', happen: killAll },
  { name: 'roll one', weight: 3, lock: 'replica', happen: rollOne },
  { name: 'redis frozen', weight: 3, lock: 'store', happen: freeze },
  { name: 'redis restarted', weight: 2, lock: 'store', happen: restart },
  { name: 'redis emptied', weight: 1, lock: 'replica', happen: empty },
  { name: 'redis forgets scripts', weight: 2, lock: 'store', happen: forgetScripts },
  { name: 'redis answers lost', weight: 4, happen: loseAnswers },
  { name: 'redis cut off from one', weight: 3, happen: cutOff },
  slack('ratelimited', 4),
  slack('http_500', 3),
  slack('http_503', 2),
  slack('reset_before', 3),
  slack('reset_after_commit', 5),
  slack('hang', 2),
  slack('hang_after_commit', 4),
  slack('truncated_json', 3),
  slack('slow', 3),
  cluster('429', 3, (random) => ({
    kind: 'status',
    status: 429,
    retryAfterSeconds: 1,
    times: 1 + Math.floor(random() * 3),
  })),
  cluster('500', 3, () => ({ kind: 'status', status: 500 })),
  cluster('503', 2, (random) => ({ kind: 'status', status: 503, times: 1 + Math.floor(random() * 3) })),
  cluster('409', 2, () => ({ kind: 'status', status: 409 })),
  cluster('reset before', 3, () => ({ kind: 'reset-before' })),
  cluster('reset after commit', 5, () => ({ kind: 'reset-after-commit' })),
  cluster('slow', 2, (random) => ({ kind: 'delay', ms: random() * 1_500 })),
  cluster('log cut', 4, (random) => ({ kind: 'cut-log', afterBytes: Math.floor(random() * 600), match: {} })),
  cluster('watch closed', 2, (random) => ({
    kind: 'close-watch',
    how: pick(random, ['clean', 'reset']),
    afterEvents: Math.floor(random() * 4),
    match: {},
  })),
  cluster('watch gone', 2, () => ({ kind: 'gone-410', match: {} })),
  cluster('watch garbage', 2, () => ({ kind: 'garbage-watch-line', match: {} })),
  {
    name: 'cluster drops connections',
    weight: 2,
    happen: async ({ scene }) => scene.servers.cluster.dropConnections(),
  },
];
