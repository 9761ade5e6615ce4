import { setTimeout as pause } from 'node:timers/promises';
import { tagOf } from '../play/app/our-posts.ts';
import { type LocalCluster, startLocalCluster } from '../play/cluster/index.ts';
import { type LocalSlack, type StoredMessage, startLocalSlack } from '../play/slack/index.ts';
import { newKey, type RunningApp, startApp } from './app.ts';
import { addChannels, channelId, contextOf, PEOPLE, policyText } from './policy.ts';
import { type RedisServer, startRedis } from './redis.ts';

const NAMESPACE = 'bench';
const REACHED_LIMIT_MS = 60_000;
const FINISH_LIMIT_MS = 300_000;
/** Of single runs, a channel each; a batch needs one. */
const MAX_CHANNELS = 100;

/** What is wrong with a history in the end, by what Slack and the cluster hold. */
export interface Judgement {
  /** Anchors, results and containers that are missing. */
  readonly lost: number;
  /** … that are there once more. */
  readonly duplicates: number;
}

/** Several processes of the built program on one Redis, each run in a channel and a pod of its own. */
export class Fleet {
  readonly redis: RedisServer;
  readonly apps: RunningApp[] = [];
  readonly #slack: LocalSlack;
  readonly #cluster: LocalCluster;
  readonly #key = newKey();
  readonly #runs: number;

  private constructor(parts: { slack: LocalSlack; cluster: LocalCluster; redis: RedisServer; runs: number }) {
    this.#slack = parts.slack;
    this.#cluster = parts.cluster;
    this.redis = parts.redis;
    this.#runs = parts.runs;
  }

  static async open(runs: number): Promise<Fleet> {
    const [slack, cluster, redis] = await Promise.all([
      startLocalSlack({ team: (team) => addChannels(team, Math.min(runs, MAX_CHANNELS)) }),
      startLocalCluster({ kubeletDelayMs: 0 }),
      startRedis(),
    ]);
    for (let run = 0; run < runs; run += 1) cluster.addPod({ name: podOf(run), namespace: NAMESPACE });
    return new Fleet({ slack, cluster, redis, runs });
  }

  async start(): Promise<RunningApp> {
    const { kubeconfig } = this.#cluster;
    const context = contextOf(kubeconfig);
    const channels = Math.min(this.#runs, MAX_CHANNELS);
    const batch = { maxPods: this.#runs, maxParallelism: 10 };
    const policy = policyText({ context, namespace: NAMESPACE, image: 'debian:12-slim', channels, batch });
    const shared = { redisUrl: this.redis.url, key: this.#key };
    const app = await startApp({ slack: this.#slack, kubeconfig, policy, shared });
    this.apps.push(app);
    return app;
  }

  /** Asks for every run, spread over the processes that are up; resolves when all their containers are there. */
  async ask(seconds: number): Promise<void> {
    for (let run = 0; run < this.#runs; run += 1) {
      this.#slack.requestUrl = this.apps[run % this.apps.length]?.url;
      const text = `${podOf(run)} -n ${NAMESPACE} --image=debian -- sleep ${seconds}`;
      const user = PEOPLE[run % PEOPLE.length] ?? '';
      const { error } = await this.#slack.deliver.command({ user, channel: channelId(run), text });
      if (error !== undefined) throw new Error(`a command was answered with ${error}`);
    }
    while (this.#containers().some((count) => count === 0)) await pause(20);
  }

  /** Asks the first process for one batch over all pods; resolves when it has come to a quarter of them. */
  async askBatch(): Promise<void> {
    this.#slack.requestUrl = this.apps[0]?.url;
    const text = `--all -n ${NAMESPACE} --image=debian --parallelism=10 -- sleep 0.1`;
    const { error } = await this.#slack.deliver.command({ user: PEOPLE[0], channel: channelId(0), text });
    if (error !== undefined) throw new Error(`the batch was answered with ${error}`);
    await this.reached(this.#runs / 4);
  }

  /** Resolves when so many pods have a container, or after a minute. */
  async reached(pods: number): Promise<void> {
    const untilMs = performance.now() + REACHED_LIMIT_MS;
    while (this.launched < pods && performance.now() < untilMs) await pause(5);
  }

  /** Pods that have a container. */
  get launched(): number {
    return this.#containers().filter((count) => count > 0).length;
  }

  /** The same as `finish` for the one batch of `askBatch`. */
  async finishBatch(): Promise<Judgement> {
    await this.#slack.until(() => this.#posts('result').length > 0, FINISH_LIMIT_MS).catch(() => undefined);
    await Promise.all(this.apps.map((app) => app.stop()));
    return judge([this.#posts('anchor').length, this.#posts('result').length, ...this.#containers()]);
  }

  /** Waits until every thread has its result, or five minutes. */
  async finish(): Promise<Judgement> {
    const isTold = () => this.#runs === this.#posts('result').length;
    await this.#slack.until(isTold, FINISH_LIMIT_MS).catch(() => undefined);
    // Who still has something to say says it while it leaves.
    await Promise.all(this.apps.map((app) => app.stop()));
    return judge([this.#perChannel('anchor'), this.#perChannel('result'), this.#containers()].flat());
  }

  async close(): Promise<void> {
    await Promise.all(this.apps.map((app) => app.kill()));
    await Promise.all([this.#slack.stop(), this.#cluster.stop(), this.redis.stop()]);
  }

  #containers(): readonly number[] {
    return Array.from(
      { length: this.#runs },
      (_, run) => this.#cluster.pod(NAMESPACE, podOf(run))?.spec.ephemeralContainers?.length ?? 0,
    );
  }

  #posts(kind: 'anchor' | 'result'): readonly StoredMessage[] {
    const all = [...this.#slack.state.messages.values()].flatMap((channel) => [...channel.values()]);
    return all.filter((message) => tagOf(this.#slack.state, message)?.kind === kind);
  }

  #perChannel(kind: 'anchor' | 'result'): readonly number[] {
    const posts = this.#posts(kind);
    return Array.from(
      { length: this.#runs },
      (_, run) => posts.filter(({ channel }) => channel === channelId(run)).length,
    );
  }
}

/** Of how often each thing is there that must be there once. */
const judge = (counts: readonly number[]): Judgement => ({
  lost: counts.filter((count) => count === 0).length,
  duplicates: counts.reduce((sum, count) => sum + Math.max(0, count - 1), 0),
});

const podOf = (run: number): string => `pod-${1000 + run}`;
