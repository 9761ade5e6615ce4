import { randomBytes } from 'node:crypto';
import type { Log } from '../../../flow/ports/machine.ts';
import { RedisConnection } from './connection.ts';
import type { RedisPlace } from './connection-options.ts';
import { Records, SCHEMA, type Sealer } from './records.ts';
import { RedisRunStore } from './redis-run-store.ts';
import { ScriptRunner } from './script-runner.ts';
import { checkRedis } from './start-checks.ts';

export interface RedisRunStoreOptions extends RedisPlace {
  /** First part of every key, in braces: `{kdebug}:`. The braces are Redis Cluster's hash tag, so that all keys are in one slot. */
  readonly keyPrefix: string;
  readonly sealer: Sealer;
  /** 32 bytes; hides names in the index. */
  readonly indexKey: Uint8Array;
  readonly log: Log;
  /** How long a settled run can still be read; asked for at each save. */
  readonly retentionMs: () => number;
  /** How long a claim holds without `renew`; the default is 3 s. */
  readonly leaseMs?: number;
  /** At most so many settled runs are kept, the oldest go first; the default is 100,000. */
  readonly maxSettled?: number;
}

/** How long the first connection may take. */
const OPEN_MS = 5_000;
/** With a renewal and a look for abandoned runs every second, those of a dead replica are adopted within 4.5 s. */
const LEASE_MS = 3_000;

/**
 * Runs in Redis. @throws KdebugError store_misconfigured (version, settings, rights, credentials, certificate: the detail says
 * which, and what to do), store_unreachable when there is no connection within 5 s
 */
export async function openRedisRunStore(options: RedisRunStoreOptions): Promise<RedisRunStore> {
  const { log, sealer, indexKey, leaseMs = LEASE_MS, retentionMs, maxSettled = 100_000 } = options;
  const prefix = `{${options.keyPrefix}}:`;
  const records = new Records({ sealer, indexKey, prefix });
  const connection = new RedisConnection(options, log);
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
