import { randomBytes } from 'node:crypto';
import { KdebugError } from '../../../core/errors.ts';
import type { Log } from '../../../flow/ports/machine.ts';
import { RedisConnection } from './connection.ts';
import type { RedisAddress } from './connection-options.ts';
import { RedisRunStore } from './redis-run-store.ts';
import { ScriptRunner } from './script-runner.ts';
import { script } from './scripts/script.ts';
import { Records, SCHEMA, type Sealer } from './sealed-records.ts';

type Version = readonly [number, number, number];

/** The oldest line with the Lua fixes, and the first whose ZRANGE knows REV. */
const OLDEST: Version = [6, 2, 0];
/** First release of each line without CVE-2025-49844 (Lua, use after free); later lines never had it. */
const MENDED: readonly Version[] = [
  [6, 2, 20],
  [7, 2, 11],
  [7, 4, 6],
  [8, 0, 4],
  [8, 2, 2],
];

/**
 * Refuses a Redis that would lose runs or fail in mid-run. Checks its version and eviction policy, and tries every
 * command.
 * @throws KdebugError store_misconfigured, the detail saying what to change; store_unreachable
 */
async function checkRedis(connection: RedisConnection, scripts: ScriptRunner, log: Log): Promise<void> {
  await connection.call((redis) => redis.ping()).catch(noPermission);
  const info = fieldsOf(await connection.call((redis) => redis.info()).catch(noPermission));
  const version = versionOf(info.get('redis_version') ?? '');
  if (before(version, OLDEST)) {
    throw misconfigured(`Redis ${version.join('.')} is too old: kdebug needs ${OLDEST.join('.')} or newer`);
  }
  const policy = info.get('maxmemory_policy') ?? 'unknown';
  if (policy !== 'noeviction') {
    throw misconfigured(
      `maxmemory-policy is ${policy}: when short of memory, Redis would drop runs; set it to noeviction (CONFIG SET maxmemory-policy noeviction)`,
    );
  }
  if (info.get('role') === 'slave')
    throw misconfigured('REDIS_URL names a replica, which is read-only: name the primary');
  await tryCommands(scripts);
  if (!hasLuaHole(version)) return;
  log.warn('this Redis may have CVE-2025-49844: upgrade it, unless your distribution has patched it', {
    version: version.join('.'),
  });
}

async function tryCommands(scripts: ScriptRunner): Promise<void> {
  const keys = ['probe:hash', 'probe:set', 'probe:text'];
  const { word, rest } = await scripts.run(PROBE, keys, []).catch(noPermission);
  if (word === 'refused') {
    throw misconfigured(
      `Redis does not let this user run ${String(rest[0])}: ${String(rest[1])}; give it the rights of docs/redis.md`,
    );
  }
}

/** Redis forbids the script or its keys, so the script could not name the missing right. */
function noPermission(thrown: unknown): never {
  if (!(thrown instanceof KdebugError)) throw thrown;
  const code = /(?:NOPERM|MOVED|READONLY)$/.exec(thrown.detail)?.[0];
  if (code === undefined) throw thrown;
  throw misconfigured(`${thrown.detail}: ${WHY[code] ?? ''}`);
}

const WHY: Readonly<Record<string, string>> = {
  NOPERM: 'this user may not run PING, INFO or scripts, or not on these keys; give it the rights of docs/redis.md',
  MOVED: 'another node of the cluster holds these keys; name that one',
  READONLY: 'REDIS_URL names a replica, which is read-only: name the primary',
};

const misconfigured = (detail: string): KdebugError => new KdebugError('store_misconfigured', { detail });

const fieldsOf = (info: string): ReadonlyMap<string, string> =>
  new Map(
    info.split('\r\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1)];
    }),
  );

function versionOf(text: string): Version {
  const [major = 0, minor = 0, patch = 0] = text.split('.').map(Number);
  return [major, minor, patch];
}

function before([major, minor, patch]: Version, than: Version): boolean {
  if (major !== than[0]) return major < than[0];
  return minor === than[1] ? patch < than[2] : minor < than[1];
}

/** Lines in between, such as 7.0, ended without a fix: they count as the next line's. */
const hasLuaHole = (version: Version): boolean => {
  const line = MENDED.find((mended) => !before([mended[0], mended[1], Number.POSITIVE_INFINITY], version));
  return line !== undefined && before(version, line);
};

export interface RedisRunStoreOptions extends RedisAddress {
  /** First part of every key, in braces: `{kdebug}:`. Redis Cluster's hash tag, so all keys share a slot. */
  readonly keyPrefix: string;
  readonly sealer: Sealer;
  /** 32 bytes; hides names in the index. */
  readonly indexKey: Uint8Array;
  readonly log: Log;
  /** How long a settled run stays readable; read at each save. */
  readonly retentionMs: () => number;
  /** How long a lease lasts without `renew`; the default is 3 s. */
  readonly leaseMs?: number;
  /** Limit of settled runs, the oldest go first; the default is 100,000. */
  readonly maxSettled?: number;
}

/** Limit for the first connection. */
const OPEN_MS = 5_000;
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

/**
 * Tries every command that the scripts use, on keys of its own, so that a missing right is named at start, not in the middle of a run.
 *
 *   KEYS[1…3]  probe:hash, probe:set, probe:text; removed at the end
 *   result     fine, now | refused, now, the command, Redis' own words
 *   repeat     the same
 */
const PROBE = script(`
local hash, set, words = KEYS[1], KEYS[2], KEYS[3]
local steps = {
  {'HSET', hash, 'field', '1'}, {'HMGET', hash, 'field'}, {'EXISTS', hash},
  {'ZADD', set, 1, 'a', 2, 'b'}, {'ZSCORE', set, 'a'}, {'ZCARD', set}, {'ZRANGE', set, 0, 1, 'REV'},
  {'ZRANGEBYSCORE', set, '-inf', '5'}, {'ZPOPMIN', set}, {'ZREMRANGEBYSCORE', set, '-inf', '0'},
  {'ZREMRANGEBYRANK', set, 5, 6}, {'ZREM', set, 'b'},
  {'SET', words, '1', 'PX', 1000}, {'GET', words}, {'PEXPIRE', words, 1000},
  {'DEL', hash, set, words},
}
for _, step in ipairs(steps) do
  local answer = redis.pcall(unpack(step))
  if type(answer) == 'table' and answer.err then
    for _, key in ipairs(KEYS) do redis.pcall('PEXPIRE', key, 1) end
    return {'refused', nowMs, step[1], answer.err}
  end
end
return {'fine', nowMs}
`);
