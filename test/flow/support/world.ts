import { createMetrics } from '../../../src/adapters/metrics/index.ts';
import { createSeal } from '../../../src/adapters/seal/index.ts';
import { MemoryRunStore } from '../../../src/adapters/store/index.ts';
import { exportYaml, parseEphemeralJob } from '../../../src/config/job-file/parse-job.ts';
import type { ActionName } from '../../../src/core/actions.ts';
import { asRunId, type RunId } from '../../../src/core/ids.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import type { Run } from '../../../src/core/run/run.ts';
import type { Message } from '../../../src/core/say/message/message.ts';
import { DEFAULT_NAMES, withNames } from '../../../src/core/shown-names.ts';
import type { FlowDeps } from '../../../src/flow/context/deps.ts';
import type { Log, LogFields } from '../../../src/flow/ports/machine.ts';
import type { Click, Answer as PipelineAnswer } from '../../../src/flow/ports/slack.ts';
import type { RunStore } from '../../../src/flow/ports/store.ts';
import { RunSupervisor } from '../../../src/flow/supervisor.ts';
import { Turns } from '../../../src/lib/turns.ts';
import { anOrigin, aPolicy } from '../../support/builders.ts';
import { FakeClock, settle } from '../../support/fake-clock.ts';
import { FakeAudit, FakeCluster, FakeDirectory, FakeSpools, FakeThread, FakeToken } from './fakes.ts';

const SEAL = createSeal(Buffer.alloc(32, 1));

type Logged = { readonly level: keyof Log; readonly message: string; readonly fields?: LogFields | undefined };

const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567';

/** `aaaaaaaaaa`, `bbbbbbbbbb` …; from the thirty-third on with another end. */
function runIdOf(index: number): RunId {
  const letter = LETTERS[index % 32] ?? '';
  const turn = Math.floor(index / 32);
  return asRunId(turn === 0 ? letter.repeat(10) : `${letter.repeat(9)}${LETTERS[(index + turn) % 32]}`);
}

/** A whole bot on fakes: one cluster, one Slack, one store, a clock that only tests move. */
export class World {
  readonly clock: FakeClock;
  readonly cluster = new FakeCluster();
  readonly thread = new FakeThread();
  readonly token = new FakeToken();
  readonly directory = new FakeDirectory();
  readonly audit = new FakeAudit();
  readonly store: RunStore;
  policy: Policy;
  readonly pipeline: RunSupervisor;
  readonly runId = asRunId('aaaaaaaaaa');
  readonly logged: Logged[] = [];
  readonly metrics: ReturnType<typeof createMetrics>;
  #ids = 0;
  readonly #say =
    (level: keyof Log) =>
    (message: string, fields?: LogFields): void =>
      void this.logged.push({ level, message, fields });

  constructor(options: { readonly policy?: Policy; readonly store?: RunStore; readonly clock?: FakeClock } = {}) {
    this.clock = options.clock ?? new FakeClock();
    this.metrics = createMetrics({ clock: this.clock, ofProcess: false });
    this.policy = options.policy ?? aPolicy();
    this.store = options.store ?? new MemoryRunStore({ clock: this.clock });
    this.pipeline = new RunSupervisor(this.deps());
  }

  /** Sends a command as Slack would, and lets everything run that waits for nothing. The answer has the default names. */
  async say(words: string, origin = anOrigin()): Promise<Message | undefined> {
    const answer = await this.pipeline.inbox.command(origin, words);
    await settle();
    return answer.kind === 'message' ? withNames(answer.message, DEFAULT_NAMES) : undefined;
  }

  async run(): Promise<Run> {
    const run = await this.store.read(this.runId);
    if (!run) throw new Error('the store has no run');
    return run;
  }

  /** Clicks a button of the run's card. */
  async click(userId: string, action: ActionName, over: Partial<Click> = {}): Promise<PipelineAnswer> {
    const anchor = this.thread.posts[0]?.ref ?? { channelId: '', ts: '' };
    const answer = await this.pipeline.inbox.action({
      action,
      value: this.runId,
      teamId: 'T0TEAM',
      userId,
      channelId: anchor.channelId,
      messageTs: anchor.ts,
      dedupeKey: `${userId}-${action}`,
      ...over,
    });
    await settle();
    return withNames(answer, DEFAULT_NAMES);
  }

  /** The private answer that a person got, as text. */
  get refusal(): string {
    return JSON.stringify(this.thread.told[0]?.message ?? null);
  }

  anchor(): Message | undefined {
    return this.thread.posts.find(({ meta }) => meta.kind === 'anchor')?.message;
  }

  result(): Message | undefined {
    return this.thread.posts.find(({ meta }) => meta.kind === 'result')?.message;
  }

  /** What the pipeline stands on; for tests of one part of it. */
  deps(): FlowDeps {
    return {
      clusters: { get: () => this.cluster },
      store: this.store,
      thread: this.thread,
      token: this.token,
      directory: this.directory,
      audit: this.audit,
      spools: new FakeSpools(),
      turns: new Turns(this.clock),
      policies: { current: () => this.policy },
      clock: this.clock,
      ids: { runId: () => runIdOf(this.#ids++) },
      manifests: { read: parseEphemeralJob, write: exportYaml },
      log: { debug: () => {}, info: this.#say('info'), warn: this.#say('warn'), error: this.#say('error') },
      metrics: this.metrics,
      seal: SEAL.seal,
      unseal: SEAL.open,
      owner: 'replica-1',
    };
  }
}
