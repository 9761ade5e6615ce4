import { createMetrics } from '../../../src/adapters/metrics/index.ts';
import { MemoryRunStore } from '../../../src/adapters/store/index.ts';
import { exportYaml, parseEphemeralJob } from '../../../src/config/job-file/parse-job.ts';
import type { ActionName } from '../../../src/core/actions.ts';
import type { ContainerStatus } from '../../../src/core/container/pod.ts';
import { asRunId } from '../../../src/core/ids.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import { isSettled } from '../../../src/core/run/life-cycle.ts';
import type { LogCompleteness, Run } from '../../../src/core/run/run.ts';
import type { FlowDeps } from '../../../src/flow/context/deps.ts';
import type { LaunchRequest, LaunchResult, LogRequest, LogSink } from '../../../src/flow/ports/cluster.ts';
import type { Log, Spools } from '../../../src/flow/ports/machine.ts';
import type { Answer } from '../../../src/flow/ports/slack.ts';
import type { RunStore } from '../../../src/flow/ports/store.ts';
import { RunSupervisor } from '../../../src/flow/supervisor.ts';
import { Turns } from '../../../src/lib/turns.ts';
import { FakeAudit, FakeCluster, FakeDirectory, FakeSpools, FakeThread, FakeToken } from '../../flow/support/fakes.ts';
import { anOrigin, aTermination, START_MS } from '../../support/builders.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { type CrashPoint, Effects, type Life } from './effects.ts';
import { recorded } from './recorder.ts';

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** What the kubelet makes of a launched container. */
export type Fate =
  | { readonly kind: 'ends'; readonly exitCode: number; readonly log: string | Buffer; readonly endedMs?: number }
  /** Runs on and on. */
  | { readonly kind: 'stays' }
  | { readonly kind: 'cannot-start' };

/** Times of the simulated kubelet, from the launch. */
const STARTED_MS = 300;
const ENDED_MS = 2_500;

/** A cluster whose kubelet acts by itself: it starts a launched container, and ends it. */
class LivingCluster extends FakeCluster {
  readonly clock: FakeClock;
  fate: Fate = { kind: 'ends', exitCode: 0, log: longLog() };
  /** How often a launch was asked for, of which only one may do anything. */
  asked = 0;
  /** When the kubelet says that the container began. */
  startedAtMs: number | undefined;

  constructor(clock: FakeClock) {
    super();
    this.clock = clock;
  }

  override async launch(request: LaunchRequest): Promise<LaunchResult> {
    const before = this.launches.length;
    const answer = await super.launch(request);
    if (!request.dryRun) this.asked += 1;
    if (this.launches.length > before) this.#live();
    return answer;
  }

  #live(): void {
    const at = (ms: number) => new Date(this.clock.now() + ms).toISOString();
    const report = (ms: number, status: Partial<ContainerStatus>) => {
      this.clock.after(ms, () => this.report(status));
    };
    const { fate } = this;
    if (fate.kind === 'cannot-start') {
      report(STARTED_MS, {
        waiting: {
          reason: 'ImagePullBackOff',
          message: 'Back-off pulling image "x": ErrImagePull: failed to resolve reference "x": not found',
        },
      });
      return;
    }
    const startedAt = at(STARTED_MS);
    this.startedAtMs = Date.parse(startedAt);
    report(STARTED_MS, { running: { startedAt } });
    if (fate.kind === 'stays') return;
    const { exitCode, endedMs = ENDED_MS } = fate;
    const reason = exitCode === 0 ? 'Completed' : 'Error';
    report(endedMs, { terminated: aTermination({ startedAt, finishedAt: at(endedMs), exitCode, reason }) });
  }

  override async collectLog(request: LogRequest, sink: LogSink): Promise<LogCompleteness> {
    const log = Buffer.from(this.fate.kind === 'ends' ? this.fate.log : '');
    const third = Math.ceil(log.length / 3);
    const aborted = new Promise<'aborted'>((resolve) =>
      request.signal.addEventListener('abort', () => resolve('aborted')),
    );
    if (log.length > 0) await sink.write(log.subarray(0, third));
    if ((await Promise.race([request.ended, aborted])) === 'aborted') return this.completeness;
    for (const piece of [log.subarray(third, 2 * third), log.subarray(2 * third)])
      if (piece.length > 0) await sink.write(piece);
    return this.completeness;
  }
}

/** Longer than an excerpt, so that a file goes with it. */
export const longLog = (): string => Array.from({ length: 120 }, (_, line) => `line ${line}\n`).join('');

/** What people do, and what is to come of it. */
export interface Story {
  readonly name: string;
  readonly policy: Policy;
  readonly fate: Fate;
  /** Clicked on the card by that person, as often as it takes. */
  readonly click?: { readonly userId: string; readonly action: ActionName } | undefined;
  readonly expected: Expected;
}

export interface Expected {
  readonly state: Run['state'];
  readonly outcome?: string;
  readonly containers: 0 | 1;
  readonly anchors: 0 | 1;
  readonly files: number;
  /** The end of the name of a file that the requester alone gets, in a message of its own. */
  readonly alone?: string;
  /** Words that the last state of the anchor must have. */
  readonly anchor?: string;
  readonly result?: string;
  /** The channel where result and file stand; else the anchor's thread. */
  readonly resultIn?: string;
  readonly approver?: string;
}

/** `aaaaaaaaaa`, `bbbbbbbbbb` … for the first ten. */
const runIdOf = (index: number) => {
  const digits = index < 10 ? String(index).repeat(10) : String(index).padStart(10, '0');
  return asRunId(digits.replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? ''));
};

/** Slack shows its own error when there was no answer by then. */
const ACK_MS = 3_000;
const STEP_MS = 500;
const LIMIT_MS = 200_000;

export interface LivingReplica {
  readonly life: Life;
  readonly pipeline: RunSupervisor;
}

/** The real flow, any number of replicas of it, over one store, one cluster and one Slack in memory; time moves on demand. */
export class PortScene {
  readonly clock = new FakeClock();
  readonly cluster = new LivingCluster(this.clock);
  readonly thread = new FakeThread();
  readonly audit = new FakeAudit();
  readonly logged: string[] = [];
  spools: Spools = new FakeSpools();
  readonly directory = new FakeDirectory();
  readonly effects: Effects;
  /** The run that is judged; of several ids that were made for one command, the first. */
  runId = asRunId('aaaaaaaaaa');
  store: RunStore;
  policy: Policy;
  /** Whether the person was told that the command was taken. */
  acknowledged = false;
  replicas: LivingReplica[] = [];
  readonly #story: Story;
  #ids = 0;

  constructor(story: Story, crashes: readonly CrashPoint[] = []) {
    this.#story = story;
    this.policy = story.policy;
    this.cluster.fate = story.fate;
    this.effects = new Effects(crashes, () => this.clock.now());
    this.store = new MemoryRunStore({ clock: this.clock, leaseMs: 4_000 });
  }

  /** Starts one more replica, as a restart does. */
  boot(): LivingReplica {
    const life: Life = { index: this.replicas.length, dead: false };
    const replica = { life, pipeline: new RunSupervisor(recorded(this.#deps(life.index), this.effects, life)) };
    this.replicas.push(replica);
    replica.pipeline.startAdopting();
    return replica;
  }

  get living(): LivingReplica {
    const found = this.replicas.findLast(({ life }) => !life.dead);
    return found ?? this.boot();
  }

  /** Types the command once; nobody repeats it. */
  async type(words = 'web-1 --image=autodiagnose'): Promise<Answer | undefined> {
    const answer = await this.#answered(this.living.pipeline.inbox.command(anOrigin(), words));
    this.acknowledged = answer !== undefined;
    return answer;
  }

  /** Tells the whole story, with a new replica for each that dies. */
  async play(): Promise<void> {
    this.boot();
    await this.type();
    await this.goOn();
  }

  /** Until everything is told. */
  async goOn(): Promise<void> {
    const untilMs = this.clock.now() + LIMIT_MS;
    while (this.clock.now() < untilMs) {
      const { pipeline } = this.living;
      await this.#clickIfAsked(pipeline);
      await this.clock.advance(STEP_MS);
      if (await this.#isOver()) return;
    }
    throw new Error(`not over after ${LIMIT_MS} ms: ${JSON.stringify(await this.store.read(this.runId))}`);
  }

  /** Lets time pass until `state` is reached. */
  async reach(state: Run['state']): Promise<void> {
    for (let tries = 0; tries < 400 && (await this.run())?.state !== state; tries += 1) await this.clock.advance(100);
    const run = await this.run();
    if (run?.state !== state) throw new Error(`${state} was not reached: ${JSON.stringify(run)}`);
  }

  /** A click on the run's card, at the newest living replica or the one given. */
  click(userId: string, action: ActionName, pipeline = this.living.pipeline): Promise<Answer | undefined> {
    return this.#answered(this.press(userId, action, pipeline));
  }

  /** The same, without letting time pass. */
  press(userId: string, action: ActionName, pipeline: RunSupervisor): Promise<Answer> {
    const anchor = this.thread.posts.find(({ meta }) => meta.kind === 'anchor')?.ref;
    const click = { action, value: this.runId, teamId: 'T0TEAM', userId, messageTs: anchor?.ts ?? '' };
    return pipeline.inbox.action({
      ...click,
      channelId: anchor?.channelId ?? '',
      dedupeKey: `${userId}-${action}-${this.clock.now()}`,
    });
  }

  /** The run's words in Slack. */
  words(kind: 'anchor' | 'result'): string {
    const posts = this.thread.posts.filter(({ meta }) => meta.kind === kind);
    return posts.map(({ message }) => JSON.stringify(message)).join('\n');
  }

  run(): Promise<Run | undefined> {
    return this.store.read(this.runId);
  }

  async #isOver(): Promise<boolean> {
    const run = await this.run();
    const { life, pipeline } = this.living;
    if (run) return isSettled(run) && pipeline.active === 0 && !life.dead;
    return this.clock.now() > START_MS + 20_000;
  }

  async #clickIfAsked(pipeline: RunSupervisor): Promise<void> {
    const { click } = this.#story;
    const isAsked = this.thread.posts.some(({ meta }) => meta.kind === 'anchor');
    if (!click || !isAsked || (await this.run())?.state !== 'pending-approval') return;
    await this.click(click.userId, click.action, pipeline);
  }

  /** The answer, or undefined when Slack's patience is over. */
  async #answered(answer: Promise<Answer>): Promise<Answer | undefined> {
    const box: { answer?: Answer } = {};
    void answer.then((value) => {
      box.answer = value;
    });
    for (let waited = 0; box.answer === undefined && waited < ACK_MS; waited += 100) await this.clock.advance(100);
    return box.answer;
  }

  #deps(index: number): FlowDeps {
    return {
      clusters: { get: () => this.cluster },
      store: this.store,
      thread: this.thread,
      token: new FakeToken(),
      directory: this.directory,
      audit: this.audit,
      spools: this.spools,
      turns: new Turns(this.clock),
      policies: { current: () => this.policy },
      clock: this.clock,
      ids: { runId: () => runIdOf(this.#ids++) },
      manifests: { read: parseEphemeralJob, write: exportYaml },
      log: { ...silent, error: (message) => void this.logged.push(message) },
      metrics: createMetrics({ clock: this.clock, ofProcess: false }),
      seal: (plain) => `sealed:${Buffer.from(plain).toString('base64url')}`,
      unseal: (sealed) =>
        sealed.startsWith('sealed:') ? Buffer.from(sealed.slice(7), 'base64url').toString() : undefined,
      owner: `replica-${index}`,
    };
  }
}
