import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { tagOf } from '../../../play/app/our-posts.ts';
import type { LocalCluster } from '../../../play/cluster/index.ts';
import {
  type LocalSlack,
  type LocalSlackOptions,
  type StoredMessage,
  startLocalSlack,
} from '../../../play/slack/index.ts';
import { KubernetesCluster } from '../../../src/adapters/kubernetes/cluster.ts';
import { LAUNCH_TIMES, type LaunchTimes } from '../../../src/adapters/kubernetes/launch.ts';
import { createMetrics } from '../../../src/adapters/metrics/index.ts';
import { createSeal } from '../../../src/adapters/seal/index.ts';
import { createSlack } from '../../../src/adapters/slack/index.ts';
import { createSpools } from '../../../src/adapters/spool/index.ts';
import { MemoryRunStore } from '../../../src/adapters/store/index.ts';
import { randomIds } from '../../../src/adapters/system/index.ts';
import { exportYaml, parseEphemeralJob } from '../../../src/config/job-file/parse-job.ts';
import { loadPolicy } from '../../../src/config/load-policy.ts';
import { asRunId } from '../../../src/core/ids.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import { isSettled } from '../../../src/core/run/life-cycle.ts';
import type { Run } from '../../../src/core/run/run.ts';
import type { Clusters } from '../../../src/flow/ports/cluster.ts';
import type { Log } from '../../../src/flow/ports/machine.ts';
import type { RunStore } from '../../../src/flow/ports/store.ts';
import { RunSupervisor } from '../../../src/flow/supervisor.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { Turns } from '../../../src/lib/turns.ts';
import { FakeAudit } from '../../flow/support/fakes.ts';
import { type CrashPoint, Effects, type Life } from './effects.ts';
import { recorded } from './recorder.ts';
import { SkippingClock } from './skipping-clock.ts';

const CHANNEL = 'C0SHOP';

const POLICY = `version: 1
clusters:
  test: { context: local, default: true }
identity: { mode: serviceAccount }
approvers:
  sre: { usergroup: S0SRE }
images:
  debian: { image: "debian:12-slim", class: observe, command: allowed }
  debugger: { image: "registry.example.com/debugger:1.4", class: elevated, command: allowed }
  missing: { image: "registry.example.com/no/such:1", class: observe }
defaultImage: debian
channels:
  ${CHANNEL}: &rules
    rules:
      - { id: look, clusters: [test], namespaces: [shop], classes: [observe, intrusive, elevated], profiles: [restricted, baseline, general] }
      - id: attach
        clusters: [test]
        namespaces: [shop]
        classes: [elevated]
        profiles: [sysadmin]
        approval: { from: [sre], count: 1, expires: 15m }
  C0OPS: *rules
limits: { startDeadline: 60s, runsPerUserPerMinute: 10000, runsPerUser: 10000, pendingApprovalsPerUser: 10000, ephemeralContainersPerPodAndUser: 100, runsPerChannel: 10000, runsPerCluster: 10000, ephemeralContainersPerPod: 50 }
`;

/** Times a lease holds here; a crash moves the store's clock past it, so nobody waits for it. */
const LEASE_MS = 4_000;
/** What the servers need at most to answer what has just been asked of them. */
const ANSWERS_MS = 8;
const MAX_SKIPS = 4_000;

export interface ServerReplica {
  readonly life: Life;
  readonly pipeline: RunSupervisor;
  /** Where it takes Slack's HTTP requests. */
  readonly url: string;
  /** Whether Slack's requests can arrive. */
  ready(): boolean;
  stop(): Promise<void>;
}

export interface SceneOptions {
  readonly cluster: LocalCluster;
  readonly crashes?: readonly CrashPoint[];
  readonly slack?: LocalSlackOptions;
  readonly policy?: string;
  /** Default: one in memory, shared by all replicas of the scene. */
  readonly store?: RunStore;
  /** How replicas hear of Slack. Default: signed HTTP. */
  readonly transport?: 'http' | 'socket';
  /** Default: the cluster's admin. */
  readonly kubeconfig?: string;
  readonly launchTimes?: Partial<LaunchTimes>;
  /** Default: a new one. */
  readonly clock?: SkippingClock;
  /** Patience for one call of Slack's Web API. */
  readonly slackTimeoutMs?: number;
}

/** The real flow and the real adapters, any number of replicas in this process, between a local Slack and a local cluster. */
export class ServerScene {
  readonly slack: LocalSlack;
  readonly cluster: LocalCluster;
  readonly effects: Effects;
  readonly audit = new FakeAudit();
  readonly clock: SkippingClock;
  /** What replicas complained of: warnings and errors. */
  readonly logged: { readonly level: 'warn' | 'error'; readonly message: string; readonly reason: string }[] = [];
  /** Every word about the causes of that. */
  readonly details: string[] = [];
  readonly replicas: ServerReplica[] = [];
  readonly pod: string;
  store: RunStore;
  policy: Policy;
  runId: string | undefined;
  readonly #directory: string;
  readonly #key = randomBytes(32);
  readonly #options: SceneOptions;
  #storeSkewMs = 0;

  private constructor(slack: LocalSlack, clock: SkippingClock, options: SceneOptions) {
    this.slack = slack;
    this.clock = clock;
    this.cluster = options.cluster;
    this.#options = options;
    this.effects = new Effects(options.crashes ?? [], () => 0);
    this.store = options.store ?? this.newStore();
    this.#directory = mkdtempSync(join(tmpdir(), 'kdebug-fault-'));
    writeFileSync(join(this.#directory, 'policy.yaml'), options.policy ?? POLICY);
    writeFileSync(join(this.#directory, 'kubeconfig'), options.kubeconfig ?? options.cluster.kubeconfig, {
      mode: 0o600,
    });
    const loaded = loadPolicy(join(this.#directory, 'policy.yaml'));
    if (loaded.kind === 'invalid') throw new Error(loaded.problems.join('\n'));
    this.policy = loaded.policy;
    this.pod = `pod-${randomBytes(4).toString('hex')}`;
    this.cluster.addPod({ namespace: 'shop', name: this.pod });
  }

  static async open(options: SceneOptions): Promise<ServerScene> {
    const clock = options.clock ?? new SkippingClock();
    return new ServerScene(await startLocalSlack({ now: () => clock.now(), ...options.slack }), clock, options);
  }

  /** An empty store on a clock of its own. */
  newStore(): RunStore {
    return new MemoryRunStore({
      clock: { now: () => this.clock.now() + this.#storeSkewMs, elapsed: () => this.clock.elapsed() },
      leaseMs: LEASE_MS,
    });
  }

  /** Puts other credentials where the replicas read theirs. */
  renewKubeconfig(kubeconfig: string): void {
    writeFileSync(join(this.#directory, 'kubeconfig'), kubeconfig, { mode: 0o600 });
  }

  /** As if every lease had lapsed. */
  lapse(): void {
    this.#storeSkewMs += LEASE_MS + 1;
  }

  /** Starts one more replica, on a machine whose clock is `skewMs` ahead; Slack sends to it from now on. */
  async boot(skewMs = 0): Promise<ServerReplica> {
    const life: Life = { index: this.replicas.length, dead: false };
    const clock = this.#clockOf(life, skewMs);
    const clusters = this.#clusters(clock);
    const slack = createSlack({
      botToken: this.slack.botToken,
      apiUrl: this.slack.apiUrl,
      transport:
        this.#options.transport === 'socket'
          ? { kind: 'socket', appToken: this.slack.appToken }
          : { kind: 'http', signingSecret: this.slack.signingSecret, port: 0 },
      log: this.#log,
      clock,
      ...(this.#options.slackTimeoutMs !== undefined && { timeoutMs: this.#options.slackTimeoutMs }),
    });
    const seal = createSeal(this.#key);
    const deps = {
      clusters,
      store: this.store,
      thread: slack.thread,
      token: slack.token,
      directory: slack.directory,
      audit: this.audit,
      spools: createSpools(),
      turns: new Turns(clock),
      policies: { current: () => this.policy },
      clock,
      ids: { runId: () => this.#noted(randomIds.runId()) },
      manifests: { read: parseEphemeralJob, write: exportYaml },
      log: this.#log,
      metrics: createMetrics({ clock, ofProcess: false }),
      seal: seal.seal,
      unseal: seal.open,
      owner: `replica-${life.index}`,
    };
    const pipeline = new RunSupervisor(recorded(deps, this.effects, life));
    await slack.start(pipeline.inbox);
    const url = `http://127.0.0.1:${slack.port()}/slack/events`;
    const stop = async (): Promise<void> => {
      const wasAlive = !life.dead;
      if (wasAlive) await pipeline.drain(0);
      life.dead = true;
      await Promise.allSettled([slack.stop(), clusters.close()]);
    };
    const replica = { life, pipeline, url, stop, ready: () => slack.ready() };
    this.replicas.push(replica);
    if (this.#options.transport !== 'socket') this.slack.requestUrl = url;
    pipeline.startAdopting();
    return replica;
  }

  readonly #log: Log = {
    debug: () => {},
    info: () => {},
    warn: (message, fields) => void this.#note('warn', message, fields),
    error: (message, fields) => void this.#note('error', message, fields),
  };

  #note(level: 'warn' | 'error', message: string, fields: object | undefined): void {
    this.logged.push({ level, message, reason: String(Reflect.get(fields ?? {}, 'reason') ?? '') });
    this.details.push(inspect(fields));
  }

  /** A dead one is only cleared away, without patience for what it was about. */
  #clockOf(life: Life, skewMs: number): Clock {
    const { clock } = this;
    return {
      now: () => clock.now() + skewMs,
      elapsed: () => clock.elapsed(),
      after: (ms, wake) => clock.after(life.dead ? 0 : ms, wake),
    };
  }

  #clusters(clock: Clock): Clusters & { close(): Promise<void> } {
    const cluster = new KubernetesCluster({
      name: 'test',
      source: {
        cluster: { context: 'local', inCluster: false, default: true },
        kubeconfigPath: join(this.#directory, 'kubeconfig'),
      },
      log: this.#log,
      clock,
      version: '0.0.0',
      launchTimes: { ...LAUNCH_TIMES, ...this.#options.launchTimes },
    });
    return { get: () => cluster, close: () => cluster.close() };
  }

  #noted<Id extends string>(id: Id): Id {
    this.runId ??= id;
    return id;
  }

  async run(): Promise<Run | undefined> {
    return this.runId === undefined ? undefined : this.store.read(asRunId(this.runId));
  }

  type(words: string, user = 'U0ROY', channel = CHANNEL) {
    return this.slack.deliver.command({ user, channel, text: words });
  }

  press(user: string, actionId: string, ts: string) {
    return this.slack.deliver.action({ user, channel: CHANNEL, ts, actionId });
  }

  /** Posts of ours in the channel and in its threads. */
  posts(kind: 'anchor' | 'result'): readonly StoredMessage[] {
    const all = Object.keys(this.slack.team.channels).flatMap((channel) => [
      ...this.slack.state.channelMessages(channel).values(),
    ]);
    return all.filter((message) => tagOf(this.slack.state, message)?.kind === kind);
  }

  /** Waits until the run is told wholly, starting a replica whenever there is none alive. */
  async settle(limitMs = 20_000, each: () => Promise<void> = async () => {}): Promise<void> {
    const untilMs = Date.now() + limitMs;
    while (Date.now() < untilMs) {
      if (this.replicas.every(({ life }) => life.dead)) {
        this.lapse();
        await this.boot();
      }
      await each();
      const run = await this.run();
      if (!run || isSettled(run)) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`not settled: ${JSON.stringify(await this.run()).slice(0, 600)}`);
  }

  /** Skips time in steps, with room for the servers' answers between, until `look` finds what it looks for. */
  async skipUntil<Found>(look: () => Promise<Found | undefined | false>, stepMs = 500): Promise<Found> {
    for (let skips = 0; skips < MAX_SKIPS; skips += 1) {
      const found = await look();
      if (found !== undefined && found !== false) return found;
      await new Promise((resolve) => setTimeout(resolve, ANSWERS_MS));
      await this.clock.skip(stepMs);
    }
    throw new Error(`not seen: ${look.toString()}: ${JSON.stringify(await this.run())?.slice(0, 900)}`);
  }

  /** Skips on until the run is told wholly. */
  async skipToEnd(stepMs?: number): Promise<Run> {
    return this.skipUntil(async () => {
      const run = await this.run();
      return run && isSettled(run) && run;
    }, stepMs);
  }

  /** Waits until the run is in this state, in the servers' own time. */
  async reach(state: Run['state'], limitMs = 10_000): Promise<Run> {
    const untilMs = Date.now() + limitMs;
    while (Date.now() < untilMs) {
      const run = await this.run();
      if (run?.state === state) return run;
      await new Promise((resolve) => setTimeout(resolve, ANSWERS_MS));
    }
    throw new Error(`${state} was not reached: ${JSON.stringify(await this.run())?.slice(0, 900)}`);
  }

  async close(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.stop()));
    await this.slack.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
