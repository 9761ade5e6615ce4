import type { LocalCluster } from '../../../play/cluster/index.ts';
import type { RunStore } from '../../../src/flow/ports/store.ts';
import { Middle } from '../../adapters/store/redis/middle.ts';
import { RedisServer } from '../../adapters/store/redis/redis-server.ts';
import { aStore, Lines } from '../../adapters/store/redis/stores.ts';
import type { Tally } from './check.ts';
import { type Asked, historyOf, isTold, judgeHistory, markerOf, wasRefused } from './history.ts';
import { type SceneOptions, type ServerReplica, ServerScene } from './server-scene.ts';

/** As the composition root has it: work of a dead replica goes on within 5 s. */
const LEASE_MS = 3_000;
const PER_POD = 30;

/** One replica and its own way to Redis. */
export interface RedisReplica extends ServerReplica {
  readonly middle: Middle;
  readonly store: RunStore;
  readonly log: Lines;
}

export interface Command {
  readonly lines?: number;
  /** Shell words before those that print. */
  readonly before?: string;
  readonly image?: string;
  readonly user?: string;
  readonly flags?: string;
  readonly channel?: string;
}

/** Replicas with real stores on a real redis-server, each by a way of its own, between a local Slack and a local cluster. */
export class RedisScene {
  readonly servers: ServerScene;
  readonly redis: RedisServer;
  readonly replicas: RedisReplica[] = [];
  readonly asked: Asked[] = [];
  #asked = 0;
  readonly #cluster: LocalCluster;
  readonly #marks: string;

  private constructor(redis: RedisServer, servers: ServerScene, cluster: LocalCluster) {
    this.redis = redis;
    this.servers = servers;
    this.#cluster = cluster;
    this.#marks = servers.pod.slice(4);
  }

  static async open(
    cluster: LocalCluster,
    options: { readonly args?: readonly string[]; readonly scene?: Partial<SceneOptions> } = {},
  ): Promise<RedisScene> {
    const redis = await RedisServer.start(options.args);
    const servers = await ServerScene.open({ cluster, ...options.scene });
    return new RedisScene(redis, servers, cluster);
  }

  /** Opens, tells and judges a scene. */
  static async with(cluster: LocalCluster, tell: (scene: RedisScene) => Promise<void>): Promise<void> {
    const scene = await RedisScene.open(cluster);
    try {
      await tell(scene);
    } finally {
      await scene.close();
    }
  }

  async boot(url = this.redis.url): Promise<RedisReplica> {
    const middle = await Middle.to(Number(new URL(url).port));
    const log = new Lines();
    const store = await aStore(middle.url, { leaseMs: LEASE_MS, log }).catch((thrown: unknown) => {
      middle.close();
      throw thrown;
    });
    this.servers.store = store;
    const replica = Object.assign(await this.servers.boot(), { middle, store, log });
    this.replicas.push(replica);
    return replica;
  }

  /** As if by SIGKILL: nothing of it happens any more, and its connections are gone. */
  kill(replica: RedisReplica): void {
    replica.life.dead = true;
    replica.middle.close();
    void replica.stop();
  }

  get living(): readonly RedisReplica[] {
    return this.replicas.filter(({ life }) => !life.dead);
  }

  /** Sends what Slack delivers to this replica from now on. */
  deliverTo(replica: RedisReplica): void {
    this.servers.slack.requestUrl = replica.url;
  }

  /** Types a command that prints `lines` lines; more than an excerpt's make a file. */
  async ask(command: Command = {}): Promise<Asked> {
    const { lines = 2, before = '', image = 'debian', user = 'U0ROY', flags = '', channel } = command;
    this.#asked += 1;
    const marker = `mark-${this.#marks}x${this.#asked}`;
    // First, because a card shows only the beginning of a long command.
    const program = image === 'missing' ? '' : `-- sh -c 'echo ${marker}; ${before} seq 1 ${lines}; echo ${marker}'`;
    const words = `${this.#podFor(this.#asked)} -n shop --image=${image} --reason=${marker} ${flags} ${program}`;
    const { body, error } = await this.servers.type(words, user, channel);
    const answer = error === undefined ? (typeof body === 'string' ? body : JSON.stringify(body)) : undefined;
    const asked = { marker, answer, isLong: lines > 60 && image !== 'missing' };
    this.asked.push(asked);
    return asked;
  }

  /** A pod takes so many debug containers, then it is the next one's turn. */
  #podFor(asked: number): string {
    const name = asked <= PER_POD ? this.servers.pod : `${this.servers.pod}-${Math.floor(asked / PER_POD)}`;
    if (!this.#cluster.pod('shop', name)) this.#cluster.addPod({ namespace: 'shop', name });
    return name;
  }

  get #pods() {
    return this.#cluster.pods().filter(({ metadata }) => metadata.name.startsWith(this.servers.pod));
  }

  /** Waits until every command that was accepted has had its last word, or waits for people. */
  async told(): Promise<void> {
    await this.servers.slack
      .until(() => this.untold().length === 0)
      .catch((thrown: unknown) => {
        throw new Error(`not told: ${JSON.stringify(this.untold())}`, { cause: thrown });
      });
  }

  /** Debug containers in the scene's pods. */
  get containers(): number {
    return this.#pods.reduce((sum, { spec }) => sum + (spec.ephemeralContainers?.length ?? 0), 0);
  }

  judge(): Tally {
    return judgeHistory(this.asked, this.servers.slack, this.#pods);
  }

  async close(): Promise<void> {
    this.redis.thaw();
    await this.servers.close();
    for (const { store, middle } of this.replicas) {
      await store.close();
      middle.close();
    }
    await this.redis.stop();
  }

  /** Markers of commands that were accepted and have not had their last word. */
  untold(): readonly string[] {
    const { slack } = this.servers;
    const runs = [...historyOf(slack, this.#pods)];
    const byMarker = new Map(runs.map(([run, told]) => [markerOf(run, told, slack), told]));
    return this.asked.flatMap(({ marker, answer, isLong }) => {
      const told = byMarker.get(marker);
      if (told) return isTold(told, isLong) ? [] : [marker];
      return answer === '' && !wasRefused(slack, marker) ? [marker] : [];
    });
  }
}
