import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { V1PodSpec } from '@kubernetes/client-node';
import { inject } from 'vitest';
import { tagOf } from '../../../play/app/our-posts.ts';
import { type LocalCluster, type LocalClusterOptions, startLocalCluster } from '../../../play/cluster/index.ts';
import type { LocalSlack, LocalSlackOptions, StoredMessage } from '../../../play/slack/index.ts';
import { Kube } from '../../e2e/kube.ts';
import type { BotProcess } from '../../support/program/bot-process.ts';
import { ProgramScene } from '../../support/program/program-scene.ts';
import { Others } from './others.ts';
import { SUITE_POLICY } from './policy.ts';

export interface WorldOptions {
  /** The text of a policy file. Default: the suite's. */
  readonly policy?: string;
  /** Default: in the bot's memory. */
  readonly store?: 'redis' | 'memory';
  readonly slack?: LocalSlackOptions;
  /** Of the cluster. */
  readonly cluster?: LocalClusterOptions;
}

/** How a command was answered. */
export type Answered =
  /** To its sender alone; nothing was started. */
  | { readonly kind: 'private'; readonly text: string }
  /** By a card with buttons that asks for an approval. */
  | { readonly kind: 'card'; readonly ts: string; readonly text: string }
  /** By a run without one: what the anchor and the result say. */
  | { readonly kind: 'ran'; readonly ts: string; readonly text: string };

export interface Asking {
  readonly user?: string;
  readonly channel?: string;
}

const SHOP = 'shop';
const ANSWER_MS = 20_000;

/** The whole built program in a process of its own, between a local Slack and a local cluster; both are looked at, the bot is not. */
export class AttackWorld {
  readonly slack: LocalSlack;
  readonly cluster: LocalCluster;
  readonly kube: Kube;
  readonly scene: ProgramScene;
  /** The replica that Slack sends to. */
  bot: BotProcess;
  readonly #directory: string;
  #others: Others | undefined;

  constructor(parts: { scene: ProgramScene; bot: BotProcess; cluster: LocalCluster; directory: string }) {
    this.scene = parts.scene;
    this.slack = parts.scene.slack;
    this.bot = parts.bot;
    this.cluster = parts.cluster;
    this.kube = new Kube(parts.cluster.kubeconfig);
    this.#directory = parts.directory;
  }

  /** A pod of `shop`, as the API server takes it; its one container `app` is a web server that runs as root, unless told otherwise. */
  async pod(name: string, spec: Partial<V1PodSpec> = {}): Promise<string> {
    await this.kube.pod(
      SHOP,
      { name, labels: { app: name } },
      { ...spec, containers: spec.containers ?? [{ name: 'app', image: 'nginx' }] },
    );
    return name;
  }

  /** A pod whose first process has this in its environment: what a command can print of it, a workload can have put there. */
  podThatHolds(name: string, text: string): string {
    this.cluster.addPod({
      namespace: SHOP,
      name,
      containers: [{ name: 'app', image: 'nginx', env: { HELD: `\n${text}\n` } }],
    });
    return name;
  }

  /** Types a command and waits for its answer. */
  async ask(words: string, { user = 'U0ROY', channel = 'C0SHOP' }: Asking = {}): Promise<Answered> {
    const known = new Set(this.slack.messages(channel).map(({ ts }) => ts));
    const privately = this.slack.ephemerals(user).length;
    const { error } = await this.slack.deliver.command({ user, channel, text: words });
    if (error !== undefined) throw new Error(`Slack saw ${error}: ${words.slice(0, 200)}`);
    return this.slack.until(() => this.#answer({ user, channel, known, privately }), ANSWER_MS);
  }

  /** The same, approved by Bob where it needs that; what was said at the end. */
  async askApproved(words: string, asking: Asking = {}): Promise<string> {
    const answered = await this.ask(words, asking);
    if (answered.kind !== 'card') return answered.text;
    await this.press('U0BOB', 'approve', answered.ts, asking.channel);
    return this.told(answered.ts, asking.channel);
  }

  press(user: string, actionId: string, ts: string, channel = 'C0SHOP') {
    return this.slack.deliver.action({ user, channel, ts, actionId });
  }

  /** What a run's anchor and thread say once the thread has its result. */
  async told(ts: string, channel = 'C0SHOP'): Promise<string> {
    return this.slack.until(() => this.#result(channel, ts), ANSWER_MS);
  }

  /** All that Slack shows and stores, files included. */
  async everything(): Promise<string> {
    const { messages, ephemerals, views } = this.slack.state;
    const channels = [...messages.values()].map((channel) => [...channel.values()]);
    const files = await Promise.all(this.slack.files().map((file) => file.content()));
    return [JSON.stringify([channels, ephemerals, [...views.values()]]), ...files.map(String)].join('\n');
  }

  /** What the bot put into a pod of `shop`, whoever asked. */
  containersOf(pod: string) {
    return (this.cluster.pod(SHOP, pod)?.spec.ephemeralContainers ?? []).map((container) => ({
      ...container,
      command: container.command?.join(' ') ?? '',
      requester: container.env?.find(({ name }) => name === 'KDEBUG_REQUESTER')?.value ?? '',
    }));
  }

  /** Privileged containers that nobody approved, in all pods: no rule of the suite's policy allows one. */
  elevatedWithoutApproval(): number {
    const granted = this.#grantedRuns();
    const isApproved = (env: Env): boolean =>
      variable(env, 'KDEBUG_APPROVERS') !== '' || granted.has(variable(env, 'KDEBUG_RUN'));
    return this.cluster
      .pods()
      .flatMap(({ spec }) => spec.ephemeralContainers ?? [])
      .filter(({ securityContext, env }) => securityContext?.privileged && !isApproved(env ?? [])).length;
  }

  /** The runs that the audit log says a grant let through; an attack on grants judges by itself what one covers. */
  #grantedRuns(): ReadonlySet<string> {
    const records = this.audit().map((line) => JSON.parse(line) as { step: string; run: string; facts: object });
    return new Set(records.filter(({ step, facts }) => step === 'grant' && 'grantOf' in facts).map(({ run }) => run));
  }

  /** The lines of the audit log. */
  audit(): readonly string[] {
    return readFileSync(this.#auditPath, 'utf8').split('\n').filter(Boolean);
  }

  /** Seconds of CPU that the bot has used, and bytes that it holds. */
  async cost(): Promise<{ readonly cpuSeconds: number; readonly bytes: number }> {
    const text = await (await fetch(`${this.bot.opsUrl}/metrics`)).text();
    const value = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
    return { cpuSeconds: value('process_cpu_seconds_total'), bytes: value('process_resident_memory_bytes') };
  }

  /** How many commands the store's Redis has been given. */
  async commandsOfStore(): Promise<number> {
    const client = this.scene.redis?.client();
    const stats = (await client?.info('stats')) ?? '';
    client?.disconnect();
    return Number(/total_commands_processed:(\d+)/.exec(stats)?.[1]);
  }

  /** An event that says that somebody wrote to the bot; it is acknowledged when this resolves. */
  async mention(user: string, text: string, channel = 'C0SHOP'): Promise<void> {
    const [ts, team] = [this.slack.state.nextTs(), this.slack.teamId];
    const event = { type: 'app_mention', user, ts, event_ts: ts, text, team, channel };
    const { error } = await this.slack.deliver.event(event);
    if (error !== undefined) throw new Error(`Slack saw ${error}`);
  }

  /** "Debug a pod" or "Apply as EphemeralJob" on a message that says this; it is acknowledged when this resolves. */
  async shortcut(callbackId: 'debug-pod' | 'apply-job', text: string, channel = 'C0SHOP'): Promise<void> {
    const { ts } = this.slack.deliver.say({ user: 'U0GINGER', channel, text });
    const { error } = await this.slack.deliver.shortcut({ user: 'U0ROY', callbackId, channel, ts });
    if (error !== undefined) throw new Error(`Slack saw ${error}`);
  }

  /** Kills the bot as a failed liveness probe does in the end, and starts another. */
  async crash(): Promise<void> {
    await this.bot.kill();
    this.bot = await this.scene.boot();
    this.scene.sendTo(this.bot);
  }

  async others(): Promise<Others> {
    if (this.#others) return this.#others;
    const { slack, bot } = this;
    const { parcel } = await slack.deliver.command({ user: 'U0ALICE', channel: 'C0SHOP', text: 'help' });
    this.#others = await Others.start({
      livezUrl: `${bot.opsUrl}/livez`,
      eventsUrl: bot.url ?? '',
      signingSecret: slack.signingSecret,
      help: parcel.payload,
    });
    return this.#others;
  }

  async close(): Promise<void> {
    this.#others?.stop();
    await this.scene.close();
    await this.cluster.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  get #auditPath(): string {
    return join(this.#directory, 'audit');
  }

  #answer(asked: {
    user: string;
    channel: string;
    known: ReadonlySet<string>;
    privately: number;
  }): Answered | undefined {
    const told = this.slack.ephemerals(asked.user)[asked.privately];
    if (told) return { kind: 'private', text: this.scene.textOf(told) };
    const anchor = this.slack
      .messages(asked.channel)
      .find(({ ts, botId }) => botId !== undefined && !asked.known.has(ts));
    if (!anchor) return undefined;
    const { ts } = anchor;
    if (hasButton(anchor, 'approve')) return { kind: 'card', ts, text: this.scene.textOf(anchor) };
    const text = this.#result(asked.channel, ts);
    return text === undefined ? undefined : { kind: 'ran', ts, text };
  }

  #result(channel: string, ts: string): string | undefined {
    const anchor = this.slack.message(channel, ts);
    const thread = this.slack.thread(channel, ts);
    const isTold = thread.some((message) => tagOf(this.slack.state, message)?.kind === 'result');
    return isTold ? [anchor, ...thread].map((message) => this.scene.textOf(message)).join('\n') : undefined;
  }
}

type Env = readonly { name: string; value?: string }[];
const variable = (env: Env, wanted: string): string => env.find(({ name }) => name === wanted)?.value ?? '';

export const hasButton = (message: StoredMessage | undefined, action: string): boolean =>
  JSON.stringify(message?.blocks ?? []).includes(`"action_id":"${action}"`);

export async function openWorld(options: WorldOptions): Promise<AttackWorld> {
  const { policy = SUITE_POLICY, store = 'memory', slack } = options;
  const cluster = await startLocalCluster({ kubeletDelayMs: 0, ...options.cluster });
  const directory = mkdtempSync(join(tmpdir(), 'kdebug-attack-'));
  try {
    cluster.addNamespace(SHOP);
    const env = { KDEBUG_AUDIT: join(directory, 'audit') };
    const program = { main: inject('main'), remove: () => {} };
    const { kubeconfig } = cluster;
    const scene = await ProgramScene.open({ program, kubeconfig, policy, store, env, ...(slack && { slack }) });
    const bot = await scene.boot();
    return new AttackWorld({ scene, bot, cluster, directory });
  } catch (error) {
    await cluster.stop();
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}
