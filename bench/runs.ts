import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ask } from '../play/app/conversation.ts';
import { type LocalSlack, startLocalSlack } from '../play/slack/index.ts';
import { type RunningApp, startApp } from './app.ts';
import { debugWaitLogs, type KubectlPlace } from './kubectl.ts';
import { KubeletWatch } from './kubelet-watch.ts';
import { addChannels, channelId, contextOf, PEOPLE, policyText } from './policy.ts';
import type { Scene } from './scene.ts';

/** One run, from the command to the last word about it. */
export interface Timed {
  readonly ms: number;
  /** What the cluster took of it. */
  readonly clusterMs: number;
  readonly cpuMs: number;
}

export interface Series {
  readonly own: readonly Timed[];
  readonly kubectl: readonly Timed[];
  /** A run; undefined where nobody counts. */
  readonly ownCalls: number | undefined;
  readonly kubectlCalls: number | undefined;
  /** Calls that the first runs of a process make for all later ones: lists, watches, namespaces. */
  readonly sharedCalls: number | undefined;
  readonly slackCalls: number;
  /** Channels that kdebug had not seen before: one call each, then it remembers them. */
  readonly slackLookups: number;
}

export interface SeriesOptions {
  readonly runs: number;
  /** 0 where there is no kubectl. */
  readonly kubectlRuns: number;
  /** Before each run up to so much, at random, so that the kubelet is met in every phase. */
  readonly mostPauseMs: number;
}

/** Slack takes 50 updates of messages a minute, and a run needs one: an application serves so many, then a fresh one goes on. */
const RUNS_OF_AN_APP = 40;
/** Runs first, not counted, one for each person: connections are made, people and namespaces are read, code is compiled. */
const WARM_UP_RUNS = PEOPLE.length;

/** Runs one after another on the same pods: ours, then kubectl's. */
export async function timeRuns(scene: Scene, options: SeriesOptions): Promise<Series> {
  const watch = await KubeletWatch.open(scene.kubeconfig, scene.namespace);
  const kubectl = new KubectlSide(scene, watch);
  const parts: OwnPart[] = [];
  try {
    if (options.kubectlRuns > 0) await kubectl.run();
    const kubectlCallsBefore = scene.calls('kubectl');
    const timed: Timed[] = [];
    for (let left = options.runs; left > 0; left -= RUNS_OF_AN_APP) {
      const side = await OwnSide.start(scene, watch);
      try {
        parts.push(await side.series(Math.min(left, RUNS_OF_AN_APP), options.mostPauseMs));
      } finally {
        await side.stop();
      }
    }
    for (let run = 0; run < options.kubectlRuns; run += 1) {
      await pause(Math.random() * options.mostPauseMs);
      timed.push(await kubectl.run());
    }
    return seriesOf(parts, timed, callsSince(scene.calls('kubectl'), kubectlCallsBefore));
  } finally {
    watch.close();
    kubectl.close();
  }
}

interface OwnPart {
  readonly timed: readonly Timed[];
  readonly calls: number | undefined;
  readonly sharedCalls: number | undefined;
  readonly slackCalls: number;
  readonly slackLookups: number;
}

const callsSince = (now: number | undefined, before: number | undefined): number | undefined =>
  now === undefined || before === undefined ? undefined : now - before;

function seriesOf(parts: readonly OwnPart[], kubectl: readonly Timed[], kubectlCalls: number | undefined): Series {
  const own = parts.flatMap(({ timed }) => timed);
  const total = (of: (part: OwnPart) => number | undefined): number | undefined =>
    parts.reduce<number | undefined>((sum, part) => {
      const more = of(part);
      return sum === undefined || more === undefined ? undefined : sum + more;
    }, 0);
  const each = (calls: number | undefined, runs: number): number | undefined =>
    calls === undefined || runs === 0 ? undefined : calls / runs;
  return {
    own,
    kubectl,
    ownCalls: each(
      total(({ calls }) => calls),
      own.length,
    ),
    kubectlCalls: each(kubectlCalls, kubectl.length),
    sharedCalls: parts[0]?.sharedCalls,
    slackCalls: (total(({ slackCalls }) => slackCalls) ?? 0) / own.length,
    slackLookups: (total(({ slackLookups }) => slackLookups) ?? 0) / own.length,
  };
}

/** kdebug: the built program between a local Slack and the scene's cluster. */
class OwnSide {
  readonly #scene: Scene;
  readonly #watch: KubeletWatch;
  readonly #slack: LocalSlack;
  readonly #app: RunningApp;
  #run = 0;

  private constructor(scene: Scene, watch: KubeletWatch, slack: LocalSlack, app: RunningApp) {
    this.#scene = scene;
    this.#watch = watch;
    this.#slack = slack;
    this.#app = app;
  }

  static async start(scene: Scene, watch: KubeletWatch): Promise<OwnSide> {
    const channels = RUNS_OF_AN_APP + WARM_UP_RUNS;
    const { kubeconfig, namespace, image } = scene;
    const slack = await startLocalSlack({ team: (team) => addChannels(team, channels) });
    try {
      const policy = policyText({ context: contextOf(kubeconfig), namespace, image, channels });
      return new OwnSide(scene, watch, slack, await startApp({ slack, kubeconfig, policy }));
    } catch (error) {
      await slack.stop();
      throw error;
    }
  }

  async series(runs: number, mostPauseMs: number): Promise<OwnPart> {
    const callsBefore = this.#scene.calls('kdebug/');
    for (let run = 0; run < WARM_UP_RUNS; run += 1) await this.#one();
    const callsWarm = this.#scene.calls('kdebug/');
    const slackBefore = this.#slackCalls;
    const lookupsBefore = this.#slackLookups;
    const timed: Timed[] = [];
    for (let run = 0; run < runs; run += 1) {
      await pause(Math.random() * mostPauseMs);
      timed.push(await this.#one());
    }
    const shared = callsSince(callsWarm, callsBefore);
    return {
      timed,
      calls: callsSince(this.#scene.calls('kdebug/'), callsWarm),
      sharedCalls: shared === undefined ? undefined : shared - 2 * WARM_UP_RUNS,
      slackCalls: this.#slackCalls - slackBefore,
      slackLookups: this.#slackLookups - lookupsBefore,
    };
  }

  async stop(): Promise<void> {
    await this.#app.stop();
    await this.#slack.stop();
  }

  get #slackCalls(): number {
    const all = [...this.#slack.requestCounts.values()].reduce((sum, count) => sum + count, 0);
    return all - this.#slackLookups;
  }

  get #slackLookups(): number {
    return this.#slack.requestCounts.get('conversations.info') ?? 0;
  }

  async #one(): Promise<Timed> {
    const index = this.#run;
    this.#run += 1;
    const { pods, namespace } = this.#scene;
    const words = `${pods[index % pods.length]} -n ${namespace} --image=debian --target=app --profile=general -- echo hello ${index}`;
    const endedBefore = new Set(this.#watch.ended);
    const cpuBefore = this.#app.cpuMs;
    const startMs = performance.now();
    const user = PEOPLE[index % PEOPLE.length] ?? '';
    const answer = await ask(this.#slack, { user, channel: channelId(index), words });
    const ms = performance.now() - startMs;
    if (answer.kind !== 'thread' || !answer.anchor.includes('Succeeded') || !answer.result.includes('hello'))
      throw new Error(`the run did not succeed: ${JSON.stringify(answer)}`);
    const container = this.#watch.ended.find((name) => !endedBefore.has(name)) ?? '';
    return { ms, clusterMs: this.#watch.ownMs(container), cpuMs: this.#app.cpuMs - cpuBefore };
  }
}

/** The shell loop on the same cluster. */
class KubectlSide {
  readonly #scene: Scene;
  readonly #watch: KubeletWatch;
  readonly #directory = mkdtempSync(join(tmpdir(), 'kdebug-bench-'));
  readonly #place: KubectlPlace;
  #run = 0;

  constructor(scene: Scene, watch: KubeletWatch) {
    this.#scene = scene;
    this.#watch = watch;
    const kubeconfigPath = join(this.#directory, 'kubeconfig');
    writeFileSync(kubeconfigPath, scene.kubeconfig, { mode: 0o600 });
    const cacheDirectory = join(this.#directory, 'cache');
    this.#place = { kubeconfigPath, cacheDirectory, namespace: scene.namespace };
  }

  async run(): Promise<Timed> {
    const { pods, image } = this.#scene;
    const name = `debugger-${this.#run}`;
    const pod = pods[this.#run % pods.length] ?? '';
    this.#run += 1;
    const { ms, cpuMs } = await debugWaitLogs(this.#place, { pod, name, image });
    return { ms, clusterMs: this.#watch.ownMs(name), cpuMs };
  }

  close(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
