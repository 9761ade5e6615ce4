import { MemoryRunStore } from '../../../src/adapters/store/index.ts';
import type { ActionName } from '../../../src/core/actions.ts';
import type { Batch } from '../../../src/core/batch/batch.ts';
import { type Counts, countPods } from '../../../src/core/batch/pod-state.ts';
import type { Pod } from '../../../src/core/container/pod.ts';
import { asChannelId, asRunId, asUserId } from '../../../src/core/ids.ts';
import type { Policy, Rule } from '../../../src/core/policy/policy.ts';
import type { Run } from '../../../src/core/run/run.ts';
import type { Message } from '../../../src/core/say/message/message.ts';
import { DEFAULT_NAMES, withNames } from '../../../src/core/shown-names.ts';
import type { FlowDeps } from '../../../src/flow/context/deps.ts';
import type { RunStore } from '../../../src/flow/ports/store.ts';
import { RunSupervisor } from '../../../src/flow/supervisor.ts';
import { anOrigin, aPolicy, aRule } from '../../support/builders.ts';
import { FakeClock, settle } from '../../support/fake-clock.ts';
import { FakeThread } from '../support/fakes.ts';
import { World } from '../support/world.ts';
import { Fleet, podsOfWeb } from './fleet.ts';
import { type Death, Mortal } from './mortal.ts';

export const BATCH_RULE = aRule({ classes: ['observe', 'intrusive'], batch: { maxPods: 10_000, maxParallelism: 10 } });

/** The policy with these rules for the channel, and no hurry. */
export const policyOf = (...rules: readonly Rule[]): Policy => {
  const policy = aPolicy({ approvers: { sre: { users: [asUserId('U0BOB')] } } });
  return { ...policy, channels: { [asChannelId('C0SHOP')]: { name: '#shop', rules } } };
};

/** A fleet, a Slack and a store that outlive the bots that work on them. */
export class BatchWorld {
  readonly clock = new FakeClock();
  readonly fleet: Fleet;
  readonly thread = new FakeThread();
  /** What the bots have; `emptyStore` takes everything out of it. */
  readonly store: RunStore;
  #kept: RunStore;
  policy: Policy;
  bot: RunSupervisor;
  process: Mortal;
  readonly #world = new World();
  readonly directory = this.#world.directory;
  readonly metrics = this.#world.metrics;
  #bots = 0;
  #asked = 0;
  readonly #lives: { readonly bot: RunSupervisor; readonly process: Mortal }[] = [];

  constructor(pods: number | readonly Pod[], options: { readonly policy?: Policy; readonly death?: Death } = {}) {
    this.fleet = new Fleet(this.clock, typeof pods === 'number' ? podsOfWeb(pods) : pods);
    this.#kept = this.#emptyStore();
    this.store = new Proxy(this.#kept, {
      get: (_, name) => {
        if (name === 'notes') return this.#kept.notes;
        return (...args: unknown[]) => Reflect.get(this.#kept, name).apply(this.#kept, args);
      },
    });
    this.policy = options.policy ?? policyOf(BATCH_RULE);
    [this.bot, this.process] = this.#start(options.death);
  }

  /** The old process is dead; another one takes over when its leases have lapsed. */
  restart(death?: Death): void {
    this.process.die();
    this.another(death);
  }

  /** Another bot beside those that there are; it is asked from now on. */
  another(death?: Death): void {
    [this.bot, this.process] = this.#start(death);
  }

  #start(death: Death | undefined): readonly [RunSupervisor, Mortal] {
    const process = new Mortal(this.#deps(), death);
    const bot = new RunSupervisor(process.deps);
    bot.startAdopting();
    this.#lives.push({ bot, process });
    return [bot, process];
  }

  emptyStore(): void {
    this.#kept = this.#emptyStore();
  }

  #emptyStore(): RunStore {
    return new MemoryRunStore({ clock: this.clock, leaseMs: 3_500 });
  }

  /** Types a command; resolves with the private answer, once everything has run that waits for nothing. */
  async say(words: string): Promise<Message | undefined> {
    this.#asked += 1;
    const said = this.bot.inbox.command(anOrigin({ dedupeKey: `asked-${this.#asked}` }), words);
    const answer = await Promise.race([said, settle()]);
    await settle();
    return answer?.kind === 'message' ? withNames(answer.message, DEFAULT_NAMES) : undefined;
  }

  /** Clicks until it reaches the bot that has the batch: where another one has it, a person is asked to click again. */
  async click(action: ActionName, userId = 'U0ROY'): Promise<void> {
    for (const bot of this.#alive()) await this.#clickAt(bot, action, userId);
  }

  #alive(): readonly RunSupervisor[] {
    return this.#lives.filter(({ process }) => !process.isDead).map(({ bot }) => bot);
  }

  async #clickAt(bot: RunSupervisor, action: ActionName, userId: string): Promise<void> {
    const anchor = this.anchors[0]?.ref ?? { channelId: '', ts: '' };
    this.#asked += 1;
    const where = { teamId: 'T0TEAM', channelId: anchor.channelId, messageTs: anchor.ts };
    const answer = bot.inbox.action({ action, value: this.id, userId, dedupeKey: `click-${this.#asked}`, ...where });
    await settle();
    // Where another replica has the batch, it is asked for again for a second.
    const isThere = await Promise.race([answer.then(() => true), settle()]);
    if (!isThere) await this.clock.advance(1_100);
  }

  /** Of the run that was asked for first, and kept. */
  id = asRunId('aaaaaaaaaa');

  async run(): Promise<Run> {
    const run = await this.store.read(this.id);
    if (!run) throw new Error('the store has no run');
    return run;
  }

  async batch(): Promise<Batch> {
    const { batch } = await this.run();
    if (!batch) throw new Error('the run is no batch');
    return batch;
  }

  async counts(): Promise<Counts> {
    return countPods(await this.batch());
  }

  get anchors() {
    return this.thread.posts.filter(({ meta }) => meta.kind === 'anchor');
  }

  get results() {
    return this.thread.posts.filter(({ meta, files }) => meta.kind === 'result' && files.length === 0);
  }

  /** The messages in the thread that bring the files of a result. */
  get shares() {
    return this.thread.posts.filter(({ files }) => files.length > 0);
  }

  /** The text of the anchor, or of the result. */
  text(kind: 'anchor' | 'result'): string {
    return JSON.stringify(this.thread.posts.find(({ meta }) => meta.kind === kind)?.message ?? null);
  }

  /** The private answer that the requester got. */
  get told(): string {
    return JSON.stringify(this.thread.told[0]?.message ?? null);
  }

  #deps(): FlowDeps {
    this.#bots += 1;
    return {
      ...this.#world.deps(),
      clusters: { get: () => this.fleet },
      store: this.store,
      thread: this.thread,
      clock: this.clock,
      policies: { current: () => this.policy },
      owner: `replica-${this.#bots}`,
      seal: (plain) => Buffer.from(plain).toString('base64'),
      unseal: (sealed) => Buffer.from(sealed, 'base64').toString(),
    };
  }
}
