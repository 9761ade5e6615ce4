import type { Env } from '../config/env.ts';
import { toKdebugError } from '../core/errors.ts';
import { formatBytes } from '../lib/duration.ts';
import { areaOf, type Check } from './check.ts';
import { hostOfRedis } from './failure.ts';
import type { RedisFacts, RedisProbe } from './probes.ts';
import { RESTART } from './setup-checks.ts';

const redis = areaOf('redis');

/** The rights that kdebug needs in Redis, as in docs/redis.md (a test holds the two equal). */
const RIGHTS =
  '-@all +ping +info +time +select +client|setname +eval +evalsha +hmget +hset +exists +get +set +del +pexpire +zadd +zrem +zscore +zcard +zrange +zrangebyscore +zpopmin +zremrangebyscore +zremrangebyrank';

const aclOf = (keyPrefix: string): string =>
  `redis-cli ACL SETUSER kdebug on '>PASSWORD' '~{${keyPrefix}}:*' ${RIGHTS}   # then kdebug:PASSWORD in REDIS_URL`;

/** A command of kdebug's own has 1.8 s in all. */
const SLOW_MS = 100;

/** The store. Without `REDIS_URL` there is nothing to look at. */
export async function checkRedis(env: Pick<Env, 'redis'>, probe: RedisProbe | undefined): Promise<readonly Check[]> {
  if (env.redis === undefined || probe === undefined)
    return [redis.ok('store', 'no REDIS_URL: runs are in memory, for one replica; a restart forgets them')];
  const { protocol, hostname } = new URL(env.redis.url);
  const host = hostOfRedis(env.redis.url);
  try {
    return [...checkFacts(await probe(), host, aclOf(env.redis.keyPrefix)), ...checkTls(protocol, hostname)];
  } catch (thrown) {
    const { code, detail } = toKdebugError(thrown);
    const isNoPermission = code === 'store_misconfigured' && detail.includes('NOPERM');
    return [
      isNoPermission
        ? redis.fail('rights', detail, aclOf(env.redis.keyPrefix))
        : redis.broken('connection', thrown, host),
    ];
  }
}

function checkTls(protocol: string, hostname: string): readonly Check[] {
  const isHere = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
  if (protocol === 'rediss:') return [redis.ok('encryption', 'TLS')];
  if (isHere) return [];
  return [
    redis.warn(
      'encryption',
      'REDIS_URL is not encrypted, so its password is readable on the network',
      'use rediss:// in REDIS_URL, with REDIS_CA_FILE for a private CA (docs/redis.md)',
      RESTART,
    ),
  ];
}

function checkFacts(facts: RedisFacts, host: string, acl: string): readonly Check[] {
  const tookMs = `${facts.tookMs.toFixed(1)} ms`;
  return [
    facts.tookMs > SLOW_MS
      ? redis.warn(
          'connection',
          `${host} answered in ${tookMs}: every step of a run waits for it`,
          'put Redis nearer to kdebug',
        )
      : redis.ok('connection', `${host} answered in ${tookMs}`),
    checkVersion(facts),
    facts.isReplica
      ? redis.fail('role', 'a replica, which is read-only', 'name the primary in REDIS_URL', RESTART)
      : redis.ok('role', 'primary'),
    facts.evictionPolicy === 'noeviction'
      ? redis.ok('eviction', 'noeviction')
      : redis.fail(
          'eviction',
          `maxmemory-policy is ${facts.evictionPolicy}: when short of memory, Redis would drop runs`,
          'redis-cli CONFIG SET maxmemory-policy noeviction   # and in redis.conf',
        ),
    checkPersistence(facts),
    ...checkMemory(facts),
    checkRights(facts, acl),
  ];
}

function checkVersion({ version, oldest, isOld, hasLuaHole }: RedisFacts): Check {
  if (isOld) return redis.fail('version', `${version} is too old`, `upgrade Redis to ${oldest} or newer`);
  return hasLuaHole
    ? redis.warn(
        'version',
        `${version} may have CVE-2025-49844`,
        'upgrade it, unless your distribution has patched it (docs/redis.md)',
      )
    : redis.ok('version', version);
}

function checkPersistence({ isAppendOnly, hasFailedWrite }: RedisFacts): Check {
  if (hasFailedWrite)
    return redis.fail('persistence', 'the last write to its disk failed', 'look into the log and the disk of Redis');
  return isAppendOnly
    ? redis.ok('persistence', 'append-only file')
    : redis.warn(
        'persistence',
        'no append-only file: a restart of Redis may forget votes and grants',
        'redis-cli CONFIG SET appendonly yes   # and in redis.conf: appendonly yes, appendfsync everysec',
      );
}

/** With noeviction, a full Redis refuses every write. */
const NEARLY_FULL = 0.9;

function checkMemory({ usedBytes, maxBytes }: RedisFacts): readonly Check[] {
  if (maxBytes === 0) return [];
  const words = `${formatBytes(usedBytes)} of ${formatBytes(maxBytes)}`;
  return [
    usedBytes > NEARLY_FULL * maxBytes
      ? redis.warn('memory', `${words}: when full, kdebug refuses new commands`, 'raise maxmemory of Redis')
      : redis.ok('memory', words),
  ];
}

function checkRights({ refused, mightyUser, isOld, isReplica }: RedisFacts, acl: string): Check {
  if (refused !== undefined)
    return redis.fail('rights', `this user may not run ${refused.command} (${refused.words})`, acl);
  if (isOld || isReplica) return redis.warn('rights', 'not tried', 'fix the above first');
  return mightyUser === undefined
    ? redis.ok('rights', 'every command that kdebug needs, and no ACL commands')
    : redis.warn('rights', `the user ${mightyUser} may do more than kdebug needs`, acl);
}
