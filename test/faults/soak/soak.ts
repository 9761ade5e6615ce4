import { random } from '../../../bench/random.ts';
import { startLocalCluster } from '../../../play/cluster/index.ts';
import type { StoredMessage } from '../../../play/slack/index.ts';
import type { Tally } from '../support/check.ts';
import { type Command, RedisScene } from '../support/redis-scene.ts';
import { type Ground, MISHAPS, type Mishap } from './mishaps.ts';

export interface SoakOptions {
  readonly seed: number;
  readonly seconds: number;
  readonly replicas?: number;
}

export interface SoakFindings {
  readonly tally: Tally;
  readonly commands: number;
  readonly accepted: number;
  readonly refused: number;
  readonly unanswered: number;
  readonly votes: number;
  /** Cards whose request was only in a store that was emptied. */
  readonly forgotten: number;
  readonly mishaps: ReadonlyMap<string, number>;
  /** What was asked of Slack about the runs that something is wrong with, and what befell the servers, in order. */
  readonly story: readonly string[];
}

/** After the last mishap everything must have had its last word within this. */
const CALM_MS = 120_000;

/** People who ask and decide, and what befalls the servers meanwhile, all at random by one seed. */
export async function soak({ seed, seconds, replicas = 3 }: SoakOptions): Promise<SoakFindings> {
  const cluster = await startLocalCluster({ kubeletDelayMs: 20 });
  const scene = await RedisScene.open(cluster, {
    args: ['--appendonly', 'yes', '--appendfsync', 'always'],
    scene: { slack: { rates: { postBurst: 20, extraPerMinute: 1_000 } }, slackTimeoutMs: 1_500 },
  });
  try {
    for (let count = 0; count < replicas; count += 1) await scene.boot();
    const life = new SoakLife(scene, seed);
    await life.live(seconds * 1_000);
    await life.calm(CALM_MS);
    return life.findings();
  } finally {
    await scene.close();
    await cluster.stop();
  }
}

class SoakLife {
  readonly #scene: RedisScene;
  readonly #random: () => number;
  readonly #mishaps = new Map<string, number>();
  readonly #befallen: { readonly atMs: number; readonly text: string }[] = [];
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #locks = new Set<string>();
  /** Cards of requests that nobody holds but a store that was emptied. */
  readonly #forgotten = new Set<string>();
  /** What went wrong with the soak itself. */
  readonly #troubles: string[] = [];
  #votes = 0;
  #isCalm = false;

  constructor(scene: RedisScene, seed: number) {
    this.#scene = scene;
    this.#random = random(seed);
  }

  async live(ms: number): Promise<void> {
    const endsAtMs = performance.now() + ms;
    while (performance.now() < endsAtMs) {
      await sleep(50 + this.#random() * 450);
      const deed = this.#random();
      if (deed < 0.5) this.#start(this.#ask());
      else if (deed < 0.65) this.#start(this.#decide());
      else this.#befall();
    }
    this.#isCalm = true;
  }

  /** No more mishaps; what people can decide is decided, and the rest is waited for. */
  async calm(ms: number): Promise<void> {
    await Promise.all(this.#underWay);
    this.#scene.redis.thaw();
    this.#scene.servers.slack.faults.clear();
    this.#scene.servers.cluster.faults.clear();
    const endsAtMs = performance.now() + ms;
    while (performance.now() < endsAtMs && (this.#scene.untold().length > 0 || this.#waiting().length > 0)) {
      const [card] = this.#waiting();
      if (card) await this.#press(card, 'U0BOB', 'approve');
      await sleep(300);
    }
    // A second word would come within these.
    await sleep(3_000);
  }

  findings(): SoakFindings {
    const { asked } = this.#scene;
    const tally = this.#scene.judge();
    for (const trouble of this.#troubles) tally.wrong(trouble);
    return {
      tally,
      commands: asked.length,
      accepted: asked.filter(({ answer }) => answer === '').length,
      refused: asked.filter(({ answer }) => answer !== undefined && answer !== '').length,
      unanswered: asked.filter(({ answer }) => answer === undefined).length,
      votes: this.#votes,
      forgotten: this.#forgotten.size,
      mishaps: this.#mishaps,
      story: tally.broken.length === 0 ? [] : this.#storyOf(tally.broken.join()),
    };
  }

  #storyOf(broken: string): readonly string[] {
    const runs = broken.match(/\b[a-z2-7]{10}\b/g) ?? [];
    const calls = this.#scene.servers.slack.requests().flatMap(({ method, args, atMs, status, error = '' }) => {
      const words = JSON.stringify(args);
      const about = runs.find((run) => words.includes(run));
      const isLook = method.startsWith('conversations.') || method.startsWith('files.');
      return about || isLook
        ? [{ atMs, text: `${about ?? ''} ${method} ${status} ${error} ${words.slice(0, 160)}` }]
        : [];
    });
    const all = [...calls, ...this.#befallen].sort((a, b) => a.atMs - b.atMs);
    return all.map(({ atMs, text }) => `${new Date(atMs).toISOString().slice(14, 23)} ${text}`);
  }

  #start(work: Promise<unknown>): void {
    const noted = work.catch((thrown: unknown) => this.#troubles.push(String(thrown)));
    this.#underWay.add(noted);
    void noted.then(() => this.#underWay.delete(noted));
  }

  /** To any replica that lives, as a load balancer does. */
  #route(): void {
    const { living } = this.#scene;
    const replica = living[Math.floor(this.#random() * living.length)];
    if (replica) this.#scene.deliverTo(replica);
  }

  async #ask(): Promise<void> {
    this.#route();
    await this.#scene.ask(this.#command());
  }

  #command(): Command {
    const chance = this.#random();
    const channel = pick(this.#random, ['C0SHOP', 'C0OPS']);
    const before = this.#random() < 0.4 ? `sleep ${(this.#random() * 3).toFixed(1)};` : '';
    const lines = this.#random() < 0.5 ? 120 : 3;
    if (chance < 0.25)
      return { channel, before, lines, image: 'debugger', user: 'U0THURSTON', flags: '--profile=sysadmin' };
    if (chance < 0.32) return { channel, image: 'missing' };
    if (chance < 0.38) return { channel, flags: '--no-such-flag' };
    return { channel, before, lines, user: pick(this.#random, ['U0ROY', 'U0JONAS', 'U0GINGER']) };
  }

  /** One or two people press a button of a card, at once and at different replicas. */
  async #decide(): Promise<void> {
    const card = pick(this.#random, this.#waiting());
    if (!card) return;
    const presses = [this.#press(card, 'U0BOB', pick(this.#random, ['approve', 'approve', 'approve', 'reject']))];
    if (this.#random() < 0.4) presses.push(this.#press(card, 'U0ALICE', pick(this.#random, ['approve', 'reject'])));
    if (this.#random() < 0.1) presses.push(this.#press(card, 'U0THURSTON', 'cancel'));
    await Promise.all(presses);
  }

  #waiting(): readonly StoredMessage[] {
    const anchors = this.#scene.servers.posts('anchor');
    return anchors.filter(({ text, ts }) => text.includes('Approval needed') && !this.#forgotten.has(ts));
  }

  async #press(card: StoredMessage, user: string, actionId: string): Promise<void> {
    this.#votes += 1;
    this.#route();
    const { channel, ts } = card;
    await this.#scene.servers.slack.deliver.action({ user, channel, ts, actionId }).catch(() => undefined);
  }

  #befall(): void {
    const mishap = this.#drawn();
    if (this.#isCalm || (mishap.lock && this.#locks.has(mishap.lock))) return;
    this.#mishaps.set(mishap.name, (this.#mishaps.get(mishap.name) ?? 0) + 1);
    this.#befallen.push({ atMs: Date.now(), text: `-- ${mishap.name}` });
    this.#start(this.#happen(mishap));
  }

  async #happen(mishap: Mishap): Promise<void> {
    const { lock = '' } = mishap;
    this.#locks.add(lock);
    const forget = (): void => {
      for (const { ts } of this.#waiting()) this.#forgotten.add(ts);
    };
    const ground: Ground = { scene: this.#scene, random: this.#random, pause: sleep, forget };
    try {
      await mishap.happen(ground);
    } finally {
      this.#locks.delete(lock);
      this.#befallen.push({ atMs: Date.now(), text: `-- ${mishap.name} is over` });
    }
  }

  #drawn(): Mishap {
    let left = this.#random() * MISHAPS.reduce((sum, { weight }) => sum + weight, 0);
    const found = MISHAPS.find(({ weight }) => {
      left -= weight;
      return left < 0;
    });
    return found ?? (MISHAPS[0] as Mishap);
  }
}

const pick = <Value>(next: () => number, values: readonly Value[]): Value =>
  values[Math.floor(next() * values.length)] as Value;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
