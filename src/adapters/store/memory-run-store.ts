import type { UserAndGroup } from '../../core/container/profiles.ts';
import { KdebugError } from '../../core/errors.ts';
import type { RunId } from '../../core/ids.ts';
import { countedAs, dueAtMs, isSettled, isUnattended } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import type { CreateResult, ForeignLease, Lease, Quota, RunStore } from '../../flow/ports/store.ts';
import type { Clock } from '../../lib/clock.ts';
import { defined, frozenCopy } from '../../lib/object.ts';
import { LearntIdentities, MemoryNotes, MemorySearches, RecentTimes, RunsByChannel } from './memory-records.ts';

export interface MemoryRunStoreOptions {
  readonly clock: Pick<Clock, 'now' | 'elapsed'>;
  /** The life of a lease without `renew`; the default is 30 s. */
  readonly leaseMs?: number;
  /** A settled run stays readable this long, now; the default is 7 days, as the policy's `output.retention`. */
  readonly retentionMs?: () => number;
  /** Limit of settled runs, the oldest go first; the default is 10,000. Those that alerts began have a quarter of it to themselves. */
  readonly maxSettled?: number;
}

interface Entry {
  run: Run;
  /** Rises with every run. */
  readonly number: number;
  /** This and the next times are of `clock.elapsed`. */
  readonly bornMs: number;
  fence: number;
  owner: string | undefined;
  leaseEndsMs: number;
  settledAtMs: number;
  readonly quotas: readonly Quota[];
}

/**
 * Runs in memory: for one replica, tests and play. The process's end loses everything. Open runs are never dropped;
 * number and age bound the settled ones, and their dedupe keys go with them. Returned runs are frozen.
 */
export class MemoryRunStore implements RunStore {
  readonly notes = new MemoryNotes();
  readonly searches: MemorySearches;
  readonly #clock: MemoryRunStoreOptions['clock'];
  readonly #leaseMs: number;
  readonly #retentionMs: () => number;
  readonly #maxSettled: number;
  /** In order of creation. */
  readonly #open = new Map<RunId, Entry>();
  /** In order of settling: what people asked for, and what alerts began, which must not push that out. */
  readonly #settled = { ofPeople: new Map<RunId, Entry>(), unattended: new Map<RunId, Entry>() };
  readonly #byDedupeKey = new Map<string, RunId>();
  readonly #byChannel = new RunsByChannel((id) => this.#entry(id));
  readonly #recent: RecentTimes;
  readonly #identities: LearntIdentities;
  #created = 0;
  #lastFence = 0;
  #closed = false;

  constructor(options: MemoryRunStoreOptions) {
    const { clock } = options;
    this.#clock = clock;
    this.searches = new MemorySearches(clock);
    this.#recent = new RecentTimes(clock);
    this.#identities = new LearntIdentities(clock);
    this.#leaseMs = options.leaseMs ?? 30_000;
    this.#retentionMs = options.retentionMs ?? (() => 7 * 86_400_000);
    this.#maxSettled = options.maxSettled ?? 10_000;
  }

  async create(run: Run, owner: string, quotas: readonly Quota[] = []): Promise<CreateResult> {
    this.#mustBeOpen();
    this.#dropOld();
    const known = this.#byDedupeKey.get(run.origin.dedupeKey);
    if (known !== undefined) return this.#answerForKnown(known, run.id, owner);
    if (this.#entry(run.id)) throw new KdebugError('internal_error', { detail: `the run id ${run.id} is taken` });
    const limited = this.#limit(quotas);
    if (limited) return limited;
    this.#created += 1;
    const lease = { fence: 0, owner: undefined, leaseEndsMs: 0 };
    const born = { number: this.#created, bornMs: this.#clock.elapsed() };
    const entry: Entry = { run: frozenCopy(run), ...born, ...lease, settledAtMs: 0, quotas };
    for (const { key, windowMs } of quotas) if (windowMs !== undefined) this.#recent.add(key, windowMs);
    const fence = this.#lease(entry, owner);
    this.#open.set(run.id, entry);
    this.#byDedupeKey.set(run.origin.dedupeKey, run.id);
    this.#byChannel.add(run.origin.channelId, run.id);
    this.#moveIfSettled(entry);
    return { kind: 'created', fence };
  }

  async read(id: RunId): Promise<Run | undefined> {
    this.#mustBeOpen();
    this.#dropOld();
    return this.#entry(id)?.run;
  }

  async idOf(dedupeKey: string): Promise<RunId | undefined> {
    this.#mustBeOpen();
    this.#dropOld();
    return this.#byDedupeKey.get(dedupeKey);
  }

  async lease(id: RunId, owner: string): Promise<Lease | ForeignLease | undefined> {
    this.#mustBeOpen();
    const entry = this.#open.get(id);
    if (!entry) return undefined;
    if (this.#isHeld(entry) && entry.owner !== owner) return { fence: entry.fence, endsAtMs: entry.leaseEndsMs };
    return { run: entry.run, fence: this.#lease(entry, owner) };
  }

  async granting(channelId: string): Promise<readonly Run[]> {
    this.#mustBeOpen();
    const runs = [...this.#open.values()].map(({ run }) => run);
    return runs
      .filter((run) => run.grant !== undefined && run.origin.channelId === channelId)
      .slice(-20)
      .reverse();
  }

  async claim(owner: string, limit: number): Promise<readonly Lease[]> {
    this.#mustBeOpen();
    // By the wall clock: the run records when it is due.
    const now = this.#clock.now();
    const leases: Lease[] = [];
    for (const entry of this.#open.values()) {
      if (leases.length >= limit) break;
      if (this.#isHeld(entry) || dueAtMs(entry.run) > now) continue;
      leases.push({ run: entry.run, fence: this.#lease(entry, owner) });
    }
    return leases;
  }

  async renew(owner: string): Promise<void> {
    this.#mustBeOpen();
    const leaseEndsMs = this.#clock.elapsed() + this.#leaseMs;
    for (const entry of this.#open.values()) if (entry.owner === owner) entry.leaseEndsMs = leaseEndsMs;
  }

  async save(run: Run, fence: number): Promise<'saved' | 'stale' | 'limited'> {
    this.#mustBeOpen();
    const entry = this.#entry(run.id);
    if (entry?.fence !== fence) return 'stale';
    if (this.#isPendingFull(entry, run)) return 'limited';
    entry.run = frozenCopy(run);
    if (entry.owner !== undefined) entry.leaseEndsMs = this.#clock.elapsed() + this.#leaseMs;
    this.#moveIfSettled(entry);
    return 'saved';
  }

  async release(id: RunId, fence: number): Promise<void> {
    this.#mustBeOpen();
    const entry = this.#entry(id);
    if (entry?.fence === fence) entry.owner = undefined;
  }

  async learn(kind: string, identity: UserAndGroup): Promise<void> {
    this.#mustBeOpen();
    this.#identities.learn(kind, identity);
  }

  async learnt(kind: string): Promise<UserAndGroup | undefined> {
    this.#mustBeOpen();
    return this.#identities.of(kind);
  }

  async recent(channels: string | readonly string[], limit: number, skip = 0): Promise<readonly Run[]> {
    this.#mustBeOpen();
    this.#dropOld();
    const entries = this.#byChannel.newest([channels].flat(), skip + limit);
    return entries.slice(skip).map(({ run }) => run);
  }

  async pending(): ReturnType<RunStore['pending']> {
    this.#mustBeOpen();
    const since = [...this.#open.values()].flatMap(({ run, bornMs }) => (countedAs(run) === 'pending' ? [bornMs] : []));
    return { count: since.length, oldestMs: Math.max(0, ...since.map((atMs) => this.#clock.elapsed() - atMs)) };
  }

  async check(): Promise<void> {
    this.#mustBeOpen();
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #isHeld(entry: Entry): boolean {
    return entry.owner !== undefined && entry.leaseEndsMs > this.#clock.elapsed();
  }

  #limit(quotas: readonly Quota[]): CreateResult | undefined {
    for (const { key, code, per, max, windowMs } of quotas) {
      if (per === 'pending') continue;
      const count = windowMs === undefined ? this.#count(key, 'open') : this.#recent.of(key, windowMs).length;
      if (count < max) continue;
      const retryAtMs = windowMs === undefined ? undefined : this.#recent.roomAtMs(key, { max, windowMs });
      return { kind: 'limited', code, count, ...defined({ retryAtMs }) };
    }
    return undefined;
  }

  /** A run that already waits for approval does not count twice. */
  #isPendingFull({ run: before, quotas }: Entry, run: Run): boolean {
    if (countedAs(run) !== 'pending' || countedAs(before) === 'pending') return false;
    return quotas.some(({ key, per, max }) => per === 'pending' && this.#count(key, 'pending') >= max);
  }

  #count(key: string, per: 'open' | 'pending'): number {
    let count = 0;
    for (const { run, quotas } of this.#open.values())
      if (countedAs(run) === per && quotas.some((quota) => quota.key === key && quota.per === per)) count += 1;
    return count;
  }

  #entry(id: RunId): Entry | undefined {
    return this.#open.get(id) ?? this.#settled.ofPeople.get(id) ?? this.#settled.unattended.get(id);
  }

  /** A repeat after a lost answer gets its own lease back; another request gets the id of the first run. */
  #answerForKnown(known: RunId, requested: RunId, owner: string): CreateResult {
    const entry = this.#entry(known);
    if (known === requested && entry?.owner === owner) return { kind: 'created', fence: entry.fence };
    return { kind: 'duplicate', runId: known };
  }

  #lease(entry: Entry, owner: string): number {
    // Starts at the clock, as in Redis, so no fence of an earlier process repeats.
    this.#lastFence = Math.max(this.#lastFence + 1, this.#clock.now());
    entry.fence = this.#lastFence;
    entry.owner = owner;
    entry.leaseEndsMs = this.#clock.elapsed() + this.#leaseMs;
    return entry.fence;
  }

  #moveIfSettled(entry: Entry): void {
    if (!isSettled(entry.run) || !this.#open.delete(entry.run.id)) return;
    entry.settledAtMs = this.#clock.elapsed();
    this.#settled[isUnattended(entry.run) ? 'unattended' : 'ofPeople'].set(entry.run.id, entry);
    this.#dropOld();
  }

  #dropOld(): void {
    const { ofPeople, unattended } = this.#settled;
    this.#dropFrom(ofPeople, this.#maxSettled);
    this.#dropFrom(unattended, this.#maxSettled / 4);
  }

  #dropFrom(settled: Map<RunId, Entry>, most: number): void {
    const expired = this.#clock.elapsed() - this.#retentionMs();
    for (const { run, settledAtMs } of settled.values()) {
      if (settled.size <= most && settledAtMs > expired) return;
      settled.delete(run.id);
      this.#byDedupeKey.delete(run.origin.dedupeKey);
      this.#byChannel.dropped(run.origin.channelId);
    }
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new KdebugError('store_unreachable', { detail: 'the store is closed' });
  }
}
