import { randomBytes } from 'node:crypto';
import { KdebugError } from '../../../core/errors.ts';
import type { Log, Metrics } from '../../../flow/ports/machine.ts';
import { RedisConnection } from './connection.ts';
import type { RedisAddress } from './connection-options.ts';
import { OPEN_MS, readServerFacts, refusedCommand } from './redis-facts.ts';
import { RedisRunStore } from './redis-run-store.ts';
import { ScriptRunner } from './script-runner.ts';
import { Records, SCHEMA, type Sealer } from './sealed-records.ts';

/**
 * Refuses a Redis that would lose runs or fail in mid-run. Checks its version and eviction policy, and tries every
 * command.
 * @throws KdebugError store_misconfigured, the detail saying what to change; store_unreachable
 */
async function checkRedis(connection: RedisConnection, scripts: ScriptRunner, log: Log): Promise<void> {
  const { version, oldest, isOld, isReplica, evictionPolicy, hasLuaHole } = await readServerFacts(connection);
  if (isOld) throw misconfigured(`Redis ${version} is too old: kdebug needs ${oldest} or newer`);
  if (evictionPolicy !== 'noeviction') {
    throw misconfigured(
      `maxmemory-policy is ${evictionPolicy}: when short of memory, Redis would drop runs; set it to noeviction (CONFIG SET maxmemory-policy noeviction)`,
    );
  }
  if (isReplica) throw misconfigured('REDIS_URL names a replica, which is read-only: name the primary');
  const refused = await refusedCommand(scripts);
  if (refused !== undefined) {
    throw misconfigured(
      `Redis does not let this user run ${refused.command}: ${refused.words}; give it the rights of docs/redis.md`,
    );
  }
  if (!hasLuaHole) return;
  log.warn('this Redis may have CVE-2025-49844: upgrade it, unless your distribution has patched it', { version });
}

const misconfigured = (detail: string): KdebugError => new KdebugError('store_misconfigured', { detail });

export interface RedisRunStoreOptions extends RedisAddress {
  /** First part of every key, in braces: `{kdebug}:`. Redis Cluster's hash tag, so all keys share a slot. */
  readonly keyPrefix: string;
  readonly sealer: Sealer;
  /** 32 bytes; hides names in the index. */
  readonly indexKey: Uint8Array;
  readonly log: Log;
  /** A settled run stays readable this long; read at each save. */
  readonly retentionMs: () => number;
  /** The life of a lease without `renew`; the default is 3 s. */
  readonly leaseMs?: number;
  /** Limit of settled runs, the oldest go first; the default is 100,000. */
  readonly maxSettled?: number;
  readonly metrics?: Pick<Metrics, 'apiCall'>;
}

/**
 * With a renewal and a scan for abandoned runs every second, another replica adopts a dead replica's runs within 4.5 s.
 */
const LEASE_MS = 3_000;

/**
 * Opens the store in Redis.
 * @throws KdebugError store_misconfigured (version, settings, rights, credentials, certificate: the detail says which,
 * and the remedy), store_unreachable without a connection within 5 s
 */
export async function openRedisRunStore(options: RedisRunStoreOptions): Promise<RedisRunStore> {
  const { log, sealer, indexKey, leaseMs = LEASE_MS, retentionMs, maxSettled = 100_000 } = options;
  const prefix = `{${options.keyPrefix}}:`;
  const records = new Records({ sealer, indexKey, prefix });
  const { metrics } = options;
  const connection = new RedisConnection(options, log, (...call) => metrics?.apiCall('redis', ...call));
  try {
    await connection.opened(OPEN_MS);
    await checkRedis(connection, new ScriptRunner(connection, { prefix, keyId: records.keyId, schema: SCHEMA }), log);
  } catch (thrown) {
    connection.close();
    throw thrown;
  }
  const writer = randomBytes(6).toString('hex');
  return new RedisRunStore({ connection, records, prefix, log, writer, leaseMs, retentionMs, maxSettled });
}
