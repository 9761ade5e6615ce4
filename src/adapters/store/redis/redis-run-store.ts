import type { UserAndGroup } from '../../../core/container/profiles.ts';
import { KdebugError, toKdebugError } from '../../../core/errors.ts';
import { asRunId, type RunId } from '../../../core/ids.ts';
import type { Run } from '../../../core/run/run.ts';
import type { Log } from '../../../flow/ports/machine.ts';
import type { CreateResult, ForeignLease, Lease, Quota, RunStore } from '../../../flow/ports/store.ts';
import { defined } from '../../../lib/object.ts';
import type { RedisConnection } from './connection.ts';
import { HeldLeases } from './held-leases.ts';
import { RedisIdentities, RedisNotes } from './redis-notes.ts';
import { RedisSearches } from './redis-searches.ts';
import { type ScriptResult, ScriptRunner } from './script-runner.ts';
import { CLAIM, LEASE, RELEASE, RENEW } from './scripts/leases.ts';
import { CREATE, LIST, PENDING, SAVE } from './scripts/runs.ts';
import { indexFields, type Records, SCHEMA } from './sealed-records.ts';
import { UnconfirmedCreates } from './unconfirmed-creates.ts';

export interface RedisRunStoreParts {
  readonly connection: RedisConnection;
  readonly records: Records;
  /** With the hash tag and the colon. */
  readonly prefix: string;
  readonly log: Log;
  /** Unique among all stores that ever used these keys. */
  readonly writer: string;
  readonly leaseMs: number;
  readonly retentionMs: () => number;
  readonly maxSettled: number;
}

/** First part of a quota's key. */
const kindOfQuota = ({ per, windowMs = 0 }: Quota): string =>
  ({ open: 'count', pending: 'pending', window: `window:${windowMs}` })[per];
/** Leases in one call of `renew`, so that no call blocks Redis for long. */
const RENEWED_AT_ONCE = 500;
/** A record that does not open is skipped this long. */
const SET_ASIDE_MS = 600_000;
/** After an outage every lease has lapsed: gives the other replicas time to renew theirs before this one claims. */
const CLAIMS_AFTER_RECOVERY_MS = 1_500;

/**
 * Runs in Redis, for any number of replicas. Every atomic change is one script, one round trip, and repeatable. Every
 * method ends within 1.8 s and throws `store_unreachable`; reading a record, also `store_record_unreadable`.
 */
export class RedisRunStore implements RunStore {
  readonly notes: RedisNotes;
  readonly searches: RedisSearches;
  readonly #at: RedisRunStoreParts;
  readonly #scripts: ScriptRunner;
  readonly #held = new HeldLeases();
  readonly #doubtful: UnconfirmedCreates;
  readonly #identities: RedisIdentities;
  #saves = 0;

  constructor(parts: RedisRunStoreParts) {
    this.#at = parts;
    const { connection, records, prefix, log } = parts;
    this.#scripts = new ScriptRunner(connection, { prefix, keyId: records.keyId, schema: SCHEMA, log });
    this.#identities = new RedisIdentities(parts);
    this.#doubtful = new UnconfirmedCreates(this.#scripts);
    this.notes = new RedisNotes(this.#scripts, records, connection);
    this.searches = new RedisSearches(this.#scripts, records, connection, prefix);
    connection.onRecovery(() => this.#doubtful.withdraw());
  }

  async create(run: Run, owner: string, quotas: readonly Quota[] = []): Promise<CreateResult> {
    await this.#doubtful.forget(run.id);
    const answer = await this.#create(run, owner, quotas).catch((thrown: unknown) => {
      // Only for new runs: a later state, restored to an emptied store, may already have started something.
      if (run.state === 'received' && toKdebugError(thrown).facts.maybeDone) this.#doubtful.add(run.id, owner);
      throw thrown;
    });
    const [first, second, third] = answer.rest;
    switch (answer.word) {
      case 'created':
        this.#held.add(run.id, owner, Number(first));
        return { kind: 'created', fence: Number(first) };
      case 'duplicate':
        return { kind: 'duplicate', runId: asRunId(String(first)) };
      case 'limited': {
        const retryAtMs = Number(second);
        const code = quotas[Number(first)]?.code ?? 'too_busy';
        return {
          kind: 'limited',
          code,
          count: Number(third),
          ...defined({ retryAtMs: retryAtMs > 0 ? retryAtMs : undefined }),
        };
      }
      default:
        throw new KdebugError('internal_error', { detail: `the run id ${run.id} is taken` });
    }
  }

  #create(run: Run, owner: string, quotas: readonly Quota[]): Promise<ScriptResult> {
    const { records, leaseMs, retentionMs, maxSettled } = this.#at;
    const dedupe = records.name('dedupe', run.origin.dedupeKey);
    const names = quotas.map((quota) => `${kindOfQuota(quota)}:${records.name('quota', quota.key)}`);
    const { class: state, grant, parkedUntilMs } = indexFields(run);
    const index = [state, grant, parkedUntilMs, records.name('channel', run.origin.channelId), dedupe];
    const limits = quotas.map(({ max }) => max);
    return this.#scripts.run(
      CREATE,
      [`run:${run.id}`, `dedupe:${dedupe}`, ...names],
      [run.id, owner, leaseMs, records.seal(run), ...index, retentionMs(), maxSettled, ...limits],
    );
  }

  async read(id: RunId): Promise<Run | undefined> {
    const { connection, prefix, records } = this.#at;
    const [data, keyId, schema] = await connection.call('hmget', (redis) =>
      redis.hmget(`${prefix}run:${id}`, 'data', 'key', 'schema'),
    );
    if (data === null || data === undefined) return undefined;
    if (keyId !== records.keyId)
      throw new KdebugError('store_record_unreadable', { detail: `run ${id}: sealed with another key` });
    if (Number(schema) > SCHEMA)
      throw new KdebugError('store_record_unreadable', { detail: `run ${id}: newer schema` });
    return records.open(id, data);
  }

  async idOf(dedupeKey: string): Promise<RunId | undefined> {
    const { connection, prefix, records } = this.#at;
    const key = `${prefix}dedupe:${records.name('dedupe', dedupeKey)}`;
    const id = await connection.call('get', (redis) => redis.get(key));
    return id === null ? undefined : asRunId(id);
  }

  async lease(id: RunId, owner: string): Promise<Lease | ForeignLease | undefined> {
    const { word, rest } = await this.#scripts.run(
      LEASE,
      [`run:${id}`, 'leases', 'waiting'],
      [id, owner, this.#at.leaseMs],
    );
    if (word === 'foreign')
      throw new KdebugError('store_record_unreadable', { detail: `run ${id}: another key, or newer schema` });
    if (word === 'held') return { fence: Number(rest[0]), endsAtMs: Number(rest[1]) };
    return word === 'leased' ? this.#leased(id, owner, rest) : undefined;
  }

  async granting(channelId: string): Promise<readonly Run[]> {
    return this.#list([`grants:${this.#at.records.name('channel', channelId)}`], 20, 0);
  }

  async claim(owner: string, limit: number): Promise<readonly Lease[]> {
    if (limit <= 0 || this.#at.connection.sinceRecoveryMs < CLAIMS_AFTER_RECOVERY_MS) return [];
    const { rest } = await this.#scripts.run(CLAIM, ['leases', 'waiting'], [owner, this.#at.leaseMs, limit]);
    const leases: Lease[] = [];
    for (let index = 0; index < rest.length; index += 3) {
      const id = String(rest[index]);
      const lease = await this.#claimed(id, owner, rest.slice(index + 1, index + 3));
      if (lease) leases.push(lease);
    }
    return leases;
  }

  /** One tampered record must not stop the adoption of the others. */
  async #claimed(id: string, owner: string, answer: readonly unknown[]): Promise<Lease | undefined> {
    try {
      return this.#leased(id, owner, answer);
    } catch (thrown) {
      this.#at.log.error('skipped unreadable record while claiming', { runId: id, reason: toKdebugError(thrown).code });
      await this.#release(id, Number(answer[0]), SET_ASIDE_MS);
      return undefined;
    }
  }

  #leased(id: string, owner: string, [fence, data]: readonly unknown[]): Lease {
    const run = this.#at.records.open(id, String(data));
    this.#held.add(id, owner, Number(fence));
    return { run, fence: Number(fence) };
  }

  async renew(owner: string): Promise<void> {
    const held = this.#held.of(owner);
    for (let from = 0; from < held.length; from += RENEWED_AT_ONCE) {
      const some = held.slice(from, from + RENEWED_AT_ONCE);
      const pairs = some.flatMap(({ id, fence }) => [id, fence]);
      const { rest } = await this.#scripts.run(RENEW, ['leases'], [this.#at.leaseMs, ...pairs]);
      const lost = new Set(rest.map(String));
      for (const { id, fence } of some) if (lost.has(id)) this.#held.drop(id, fence);
    }
  }

  async save(run: Run, fence: number): Promise<'saved' | 'stale' | 'limited'> {
    const { records, writer, leaseMs, retentionMs, maxSettled } = this.#at;
    this.#saves += 1;
    const { class: state, grant, parkedUntilMs } = indexFields(run);
    const index = [state, grant, parkedUntilMs];
    const { word } = await this.#scripts.run(
      SAVE,
      [`run:${run.id}`],
      [run.id, fence, writer, this.#saves, records.seal(run), ...index, retentionMs(), maxSettled, leaseMs],
    );
    if (word === 'limited') return word;
    if (word !== 'saved' || state === 'settled') this.#held.drop(run.id, fence);
    if (word !== 'saved') return 'stale';
    records.saved(run);
    return 'saved';
  }

  async release(id: RunId, fence: number): Promise<void> {
    // Drop first: if Redis misses the release, the lease is not renewed and lapses.
    this.#held.drop(id, fence);
    await this.#release(id, fence, 0);
  }

  async #release(id: string, fence: number, asideMs: number): Promise<void> {
    await this.#scripts.run(RELEASE, [`run:${id}`, 'leases', 'waiting'], [id, fence, asideMs]);
  }

  async recent(channels: string | readonly string[], limit: number, skip = 0): Promise<readonly Run[]> {
    const names = [...new Set([channels].flat())].map((channelId) => this.#at.records.name('channel', channelId));
    return this.#list(
      names.flatMap((channel) => [`open:${channel}`, `history:${channel}`]),
      limit,
      skip,
    );
  }

  /** Skips what does not open: one tampered record must not hide the others. */
  async #list(keys: readonly string[], limit: number, skip: number): Promise<readonly Run[]> {
    if (keys.length === 0 || limit <= 0) return [];
    const { rest } = await this.#scripts.run(LIST, keys, [limit, skip]);
    return rest.flatMap((id, index) => (index % 2 ? [] : this.#opened(String(id), String(rest[index + 1]))));
  }

  #opened(id: string, data: string): Run | [] {
    try {
      return this.#at.records.open(id, data);
    } catch (thrown) {
      this.#at.log.error('left unreadable record out of list', { runId: id, reason: toKdebugError(thrown).code });
      return [];
    }
  }

  learn(kind: string, identity: UserAndGroup): Promise<void> {
    return this.#identities.learn(kind, identity);
  }

  learnt(kind: string): Promise<UserAndGroup | undefined> {
    return this.#identities.of(kind);
  }

  async pending(): ReturnType<RunStore['pending']> {
    const { rest } = await this.#scripts.run(PENDING, ['awaiting'], []);
    return { count: Number(rest[0]), oldestMs: Number(rest[1]) };
  }

  async check(): Promise<void> {
    await this.#at.connection.call('ping', (redis) => redis.ping());
  }

  async close(): Promise<void> {
    this.#at.connection.close();
  }
}
