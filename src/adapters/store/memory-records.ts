import type { UserAndGroup } from '../../core/container/profiles.ts';
import type { RunId } from '../../core/ids.ts';
import type { Notes, Searches, Turn } from '../../flow/ports/store.ts';
import type { Clock } from '../../lib/clock.ts';

const MAX_KINDS = 1_000;
/** An identity stays known this long after it was last learnt. */
export const LEARNT_MS = 7 * 86_400_000;

interface Learnt {
  readonly identity: UserAndGroup;
  readonly untilMs: number;
}

/** The user and group that each kind of target runs as, in memory. Bounded: the 1,000 kinds learnt last. */
export class LearntIdentities {
  readonly #clock: Pick<Clock, 'elapsed'>;
  /** In the order in which they were last learnt. */
  readonly #kinds = new Map<string, Learnt>();

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
  }

  learn(kind: string, { uid, gid }: UserAndGroup): void {
    this.#kinds.delete(kind);
    this.#kinds.set(kind, { identity: { uid, gid }, untilMs: this.#clock.elapsed() + LEARNT_MS });
    const [oldest] = this.#kinds.keys();
    if (this.#kinds.size > MAX_KINDS && oldest !== undefined) this.#kinds.delete(oldest);
  }

  of(kind: string): UserAndGroup | undefined {
    const learnt = this.#kinds.get(kind);
    return learnt && this.#clock.elapsed() < learnt.untilMs ? learnt.identity : undefined;
  }
}

/** The least length of a channel's list before dropped runs are taken out of it. */
const MIN_COMPACTED = 64;

/** The runs of each channel in order of creation. Reading the newest costs what it returns, however long the history is. */
export class RunsByChannel<Entry extends { readonly number: number }> {
  readonly #entryOf: (id: RunId) => Entry | undefined;
  readonly #channels = new Map<string, { ids: RunId[]; live: number }>();

  constructor(entryOf: (id: RunId) => Entry | undefined) {
    this.#entryOf = entryOf;
  }

  add(channelId: string, id: RunId): void {
    const channel = this.#channels.get(channelId) ?? { ids: [], live: 0 };
    channel.ids.push(id);
    channel.live += 1;
    this.#channels.set(channelId, channel);
  }

  /** Call it once the run has no entry any more. */
  dropped(channelId: string): void {
    const channel = this.#channels.get(channelId);
    if (!channel) return;
    channel.live -= 1;
    if (channel.live === 0) this.#channels.delete(channelId);
    if (channel.ids.length < Math.max(MIN_COMPACTED, 2 * channel.live)) return;
    channel.ids = channel.ids.filter((id) => this.#entryOf(id) !== undefined);
  }

  /** The newest of all these channels, newest first. */
  newest(channels: Iterable<string>, count: number): readonly Entry[] {
    const found = [...new Set(channels)].flatMap((channelId) => this.#newestOf(channelId, count));
    return found.sort((one, other) => other.number - one.number).slice(0, count);
  }

  #newestOf(channelId: string, count: number): Entry[] {
    const { ids = [] } = this.#channels.get(channelId) ?? {};
    const found: Entry[] = [];
    for (let at = ids.length - 1; at >= 0 && found.length < count; at -= 1) {
      const id = ids[at];
      const entry = id && this.#entryOf(id);
      if (entry) found.push(entry);
    }
    return found;
  }
}

const MINUTE_MS = 60_000;

/** The creation times of runs under a quota's key, within the quota's time. */
export class RecentTimes {
  readonly #clock: Pick<Clock, 'now' | 'elapsed'>;
  readonly #times = new Map<string, readonly number[]>();

  constructor(clock: Pick<Clock, 'now' | 'elapsed'>) {
    this.#clock = clock;
  }

  add(key: string, windowMs: number): void {
    this.#times.set(key, [...this.of(key, windowMs), this.#clock.elapsed()]);
  }

  of(key: string, windowMs: number): readonly number[] {
    const since = this.#clock.elapsed() - windowMs;
    const times = (this.#times.get(key) ?? []).filter((atMs) => atMs > since);
    if (times.length === 0) this.#times.delete(key);
    return times;
  }

  /** The time at which fewer than `max` will be left, by the wall clock, for people; undefined: there are fewer now. */
  roomAtMs(key: string, { max, windowMs }: { readonly max: number; readonly windowMs: number }): number | undefined {
    const times = this.of(key, windowMs);
    const last = times[times.length - max];
    return last === undefined ? undefined : this.#clock.now() + last + windowMs - this.#clock.elapsed();
  }
}

const MAX_NOTES = 100;

/** Notes in memory. Bounded: 100 a run. Reading a run's notes removes them. */
export class MemoryNotes implements Notes {
  readonly #notes = new Map<RunId, readonly string[]>();

  async leave(id: RunId, note: string): Promise<void> {
    this.#notes.set(id, [...(this.#notes.get(id) ?? []), note].slice(-MAX_NOTES));
  }

  async read(id: RunId): Promise<readonly string[]> {
    const notes = this.#notes.get(id) ?? [];
    this.#notes.delete(id);
    return notes;
  }
}

const MAX_FOUND = 10_000;

/** Searches of one process. Bounded: the 10,000 runs found last. */
export class MemorySearches implements Searches {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #heldUntilMs = new Map<RunId, number>();
  readonly #foundUntilMs = new Map<RunId, number>();
  #turnsAtMs: readonly number[] = [];

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
  }

  async turn(id: RunId, { perMinute, heldMs }: { readonly perMinute: number; readonly heldMs: number }): Promise<Turn> {
    const nowMs = this.#clock.elapsed();
    for (const [held, untilMs] of this.#heldUntilMs) if (untilMs <= nowMs) this.#heldUntilMs.delete(held);
    if (this.#heldUntilMs.has(id)) return { kind: 'held' };
    this.#turnsAtMs = this.#turnsAtMs.filter((atMs) => atMs > nowMs - MINUTE_MS);
    const mustEnd = this.#turnsAtMs.at(-perMinute);
    if (this.#turnsAtMs.length >= perMinute && mustEnd !== undefined)
      return { kind: 'none-left', freeInMs: mustEnd + MINUTE_MS - nowMs };
    this.#turnsAtMs = [...this.#turnsAtMs, nowMs];
    this.#heldUntilMs.set(id, nowMs + heldMs);
    return { kind: 'yours' };
  }

  async found(id: RunId, forMs: number): Promise<void> {
    this.#foundUntilMs.delete(id);
    this.#foundUntilMs.set(id, this.#clock.elapsed() + forMs);
    const [oldest] = this.#foundUntilMs.keys();
    if (this.#foundUntilMs.size > MAX_FOUND && oldest !== undefined) this.#foundUntilMs.delete(oldest);
  }

  async wasFound(id: RunId): Promise<boolean> {
    return this.#clock.elapsed() < (this.#foundUntilMs.get(id) ?? 0);
  }
}
