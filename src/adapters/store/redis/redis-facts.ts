import type { Redis } from 'ioredis';
import { KdebugError } from '../../../core/errors.ts';
import type { RedisFacts } from '../../../doctor/probes.ts';
import { RedisConnection } from './connection.ts';
import type { RedisAddress } from './connection-options.ts';
import { ScriptRunner } from './script-runner.ts';
import { script } from './scripts/script.ts';
import { SCHEMA } from './sealed-records.ts';

type Version = readonly [number, number, number];

/** The oldest line with the Lua fixes, and the first whose ZRANGE knows REV. */
const OLDEST: Version = [6, 2, 0];
/** First release of each line without CVE-2025-49844 (Lua, use after free); later lines never had it. */
const FIXED: readonly Version[] = [
  [6, 2, 20],
  [7, 2, 11],
  [7, 4, 6],
  [8, 0, 4],
  [8, 2, 2],
];

/** Limit for the first connection. */
export const OPEN_MS = 5_000;

export type ServerFacts = Omit<RedisFacts, 'refused' | 'mightyUser' | 'tookMs'>;

/** Reads INFO. @throws KdebugError store_misconfigured, store_unreachable */
export async function readServerFacts(connection: RedisConnection): Promise<ServerFacts> {
  await connection.call('ping', (redis) => redis.ping()).catch(noPermission);
  const info = fieldsOf(await connection.call('info', (redis) => redis.info()).catch(noPermission));
  const version = versionOf(info.get('redis_version') ?? '');
  return {
    version: version.join('.'),
    oldest: OLDEST.join('.'),
    isOld: before(version, OLDEST),
    hasLuaHole: hasLuaHole(version),
    evictionPolicy: info.get('maxmemory_policy') ?? 'unknown',
    isReplica: info.get('role') === 'slave',
    isAppendOnly: info.get('aof_enabled') === '1',
    hasFailedWrite: info.get('aof_last_write_status') === 'err' || info.get('rdb_last_bgsave_status') === 'err',
    usedBytes: Number(info.get('used_memory') ?? 0),
    maxBytes: Number(info.get('maxmemory') ?? 0),
  };
}

/**
 * The first command of the scripts that Redis does not let this user run; undefined: none.
 * @throws KdebugError store_misconfigured when not even a script may run, store_unreachable
 */
export async function refusedCommand(scripts: ScriptRunner): Promise<RedisFacts['refused']> {
  const keys = ['probe:hash', 'probe:set', 'probe:text'];
  const { word, rest } = await scripts.run(PROBE, keys, []).catch(noPermission);
  return word === 'refused' ? { command: String(rest[0]), words: String(rest[1]) } : undefined;
}

/**
 * Looks at Redis as `doctor` does, over a connection of its own: with the checks of a start, but it reports all of
 * them. @throws KdebugError store_misconfigured, store_unreachable without a connection within 5 s
 */
export async function examineRedis(options: RedisAddress & { readonly keyPrefix: string }): Promise<RedisFacts> {
  const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const connection = new RedisConnection(options, silent);
  try {
    await connection.opened(OPEN_MS);
    const beganAtMs = performance.now();
    await connection.call('ping', (redis) => redis.ping()).catch(noPermission);
    const tookMs = performance.now() - beganAtMs;
    const server = await readServerFacts(connection);
    const scripts = new ScriptRunner(connection, { prefix: `{${options.keyPrefix}}:`, keyId: '', schema: SCHEMA });
    const canTry = !server.isOld && !server.isReplica;
    return {
      ...server,
      refused: canTry ? await refusedCommand(scripts) : undefined,
      mightyUser: await connection.call('acl', mightyUser),
      tookMs,
    };
  } finally {
    connection.close();
  }
}

/** kdebug's own rights have no ACL command: whoever may run it may do more than kdebug needs. */
const mightyUser = (redis: Redis): Promise<string | undefined> => redis.acl('WHOAMI').then(String, () => undefined);

/** Redis forbids the script or its keys, so the script could not name the missing right. */
function noPermission(thrown: unknown): never {
  if (!(thrown instanceof KdebugError)) throw thrown;
  const code = /(?:NOPERM|MOVED|READONLY)$/.exec(thrown.detail)?.[0];
  if (code === undefined) throw thrown;
  throw new KdebugError('store_misconfigured', { detail: `${thrown.detail}: ${WHY[code] ?? ''}` });
}

const WHY: Readonly<Record<string, string>> = {
  NOPERM: 'this user may not run PING, INFO or scripts, or not on these keys; give it the rights of docs/redis.md',
  MOVED: 'another node of the cluster holds these keys; name that one',
  READONLY: 'REDIS_URL names a replica, which is read-only: name the primary',
};

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
  const line = FIXED.find((fixed) => !before([fixed[0], fixed[1], Number.POSITIVE_INFINITY], version));
  return line !== undefined && before(version, line);
};

/**
 * Tries every command that the scripts use, on keys of its own, so that a missing right is named at start, not in the middle of a run.
 *
 *   KEYS[1…3]  probe:hash, probe:set, probe:text; removed at the end
 *   result     fine, now | refused, now, the command, Redis' own words
 *   repeat     the same
 */
const PROBE = script(
  'probe',
  `
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
`,
);
