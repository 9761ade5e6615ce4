import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { asRunId } from '../../../../src/core/ids.ts';
import { aRun, settled } from '../run-store.conformance.ts';
import { Middle } from './middle.ts';
import { freePort, hasRedis, RedisServer } from './redis-server.ts';
import { aStore, Lines } from './stores.ts';

const misconfigured = (detail: string | RegExp) => ({
  code: 'store_misconfigured',
  detail: expect.stringMatching(detail),
});

/** The one place that says it: what operators copy. */
const ACL =
  /^ *ACL SETUSER (.+)$/m.exec(readFileSync(new URL('../../../../docs/redis.md', import.meta.url), 'utf8'))?.[1] ?? '';

describe.skipIf(!hasRedis)('a Redis at start', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  it.each(['allkeys-lru', 'volatile-ttl'])('is refused with the eviction policy %s', async (policy) => {
    const redis = server.client();
    await redis.config('SET', 'maxmemory-policy', policy);
    await expect(aStore(server.url)).rejects.toMatchObject(
      misconfigured(`^maxmemory-policy is ${policy}: .*noeviction`),
    );
    await redis.config('SET', 'maxmemory-policy', 'noeviction');
    redis.disconnect();
  });

  it('is refused when it is only a replica', async () => {
    const redis = server.client();
    await redis.replicaof('127.0.0.1', await freePort());
    await expect(aStore(server.url)).rejects.toMatchObject(misconfigured('read-only: name the primary'));
    await redis.replicaof('NO', 'ONE');
    redis.disconnect();
  });

  it.each([
    ['6.0.16', '^Redis 6.0.16 is too old: kdebug needs 6.2.0 or newer$'],
    ['5.9.99', '^Redis 5.9.99 is too old'],
  ])('is refused when it is too old: %s', async (version, detail) => {
    const middle = await saying(version);
    await expect(aStore(middle.url)).rejects.toMatchObject(misconfigured(detail));
    middle.close();
  });

  it.each([
    ['7.0.15', true],
    ['7.2.10', true],
    ['7.2.11', false],
    ['6.2.19', true],
    ['6.2.20', false],
    ['8.2.02', false],
    ['8.4.00', false],
  ])('is called by its hole in Lua, or not: %s', async (version, hole) => {
    const middle = await saying(version);
    const log = new Lines();
    await (await aStore(middle.url, { log })).close();
    expect(log.lines.some(({ message }) => message.includes('CVE-2025-49844'))).toBe(hole);
    middle.close();
  });

  it('is refused when it has no such database, and used in the one that is named', async () => {
    await expect(aStore(`${server.url}/99`)).rejects.toMatchObject({ code: 'store_misconfigured' });
    const store = await aStore(`${server.url}/2`);
    await store.create(aRun('aaaaaaaaaa'), 'one');
    await store.close();
    const redis = server.client();
    expect(await redis.dbsize()).toBe(0);
    await redis.select(2);
    expect(await redis.dbsize()).toBeGreaterThan(0);
    redis.disconnect();
  });

  it('is refused, and not waited for, when nothing listens there', async () => {
    await expect(aStore(`redis://127.0.0.1:${await freePort()}`)).rejects.toMatchObject({
      code: 'store_unreachable',
      detail: 'no connection (ECONNREFUSED)',
    });
  });

  it('is refused with a CA file that is not for it, or not there', async () => {
    await expect(aStore(server.url, { caFile: '/nowhere' })).rejects.toMatchObject(misconfigured('rediss://'));
    const url = server.url.replace('redis:', 'rediss:');
    await expect(aStore(url, { caFile: '/nowhere' })).rejects.toMatchObject(misconfigured('cannot be read: ENOENT'));
  });

  /** A Redis that tells another version: the answers' lengths must stay the same. */
  async function saying(version: string): Promise<Middle> {
    const middle = await Middle.to(server.port);
    middle.onReply = (piece) => piece.replace(/redis_version:[\d.]{6}/, `redis_version:${version}`);
    return middle;
  }
});

describe.skipIf(!hasRedis)('a user of Redis', () => {
  let server: RedisServer;
  const words = ACL.split(/\s+/).map((word) => (word.startsWith('>') ? '>s3:cr/et' : word));
  const urlOf = () => server.url.replace('//', '//kdebug:s3%3Acr%2Fet@');
  const setUser = async (acl: readonly string[]): Promise<void> => {
    const redis = server.client();
    await redis.acl('SETUSER', acl[0] ?? '', 'reset', ...acl.slice(1));
    redis.disconnect();
  };

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterEach(() => setUser(words));
  afterAll(() => server.stop());

  it('with the documented rights can do all that a store does, and nothing else', async () => {
    await setUser(words);
    const store = await aStore(urlOf(), { maxSettled: 1 });
    const quotas = [
      { key: 'person', code: 'limit_per_person', per: 'window', windowMs: 60_000, max: 9 },
      { key: 'channel', code: 'limit_per_channel', per: 'open', max: 9 },
    ] as const;
    for (const id of ['aaaaaaaaaa', 'bbbbbbbbbb', 'cccccccccc']) {
      const made = await store.create(aRun(id), 'one', quotas);
      if (made.kind !== 'created') throw new Error(made.kind);
      await store.renew('one');
      await store.release(asRunId(id), made.fence);
      const lease = id < 'b' ? await store.lease(asRunId(id), 'one') : (await store.claim('one', 1))[0];
      expect(await store.save(settled(aRun(id)), lease?.fence ?? 0)).toBe('saved');
    }
    expect(await store.recent('C0SHOP', 3)).toHaveLength(1);
    expect(await store.granting('C0SHOP')).toEqual([]);
    await store.learn('sha256:1', { uid: 1, gid: 2 });
    expect(await store.learnt('sha256:1')).toEqual({ uid: 1, gid: 2 });
    await store.check();
    await store.close();
    const admin = server.client();
    const log: unknown = await admin.acl('LOG', 10);
    expect(log).toEqual([]);
    admin.disconnect();
    expect(words.filter((word) => word.startsWith('+@'))).toEqual([]);
  });

  const rights = words.filter((word) => /^\+(?!client)/.test(word));
  it.each(rights)('without %s is refused at start, in a sentence that says so', async (right) => {
    await setUser([...words, right.replace('+', '-')]);
    const redis = server.client();
    // What is known to the server already must not hide a missing right to load it.
    await redis.script('FLUSH');
    redis.disconnect();
    const url = right === '+select' ? `${urlOf()}/2` : urlOf();
    await expect(aStore(url)).rejects.toMatchObject(misconfigured(/NOPERM|does not let this user run/));
  });

  it('with rights on other keys only is refused at start', async () => {
    await setUser(words);
    await expect(aStore(urlOf(), { keyPrefix: 'other' })).rejects.toMatchObject(misconfigured('NOPERM'));
  });

  it('with a wrong password is refused at once, and the password is in no word', async () => {
    const wrong = server.url.replace('//', '//kdebug:canary@');
    const redis = server.client();
    const connections = async () => Number(/total_connections_received:(\d+)/.exec(await redis.info('stats'))?.[1]);
    const before = await connections();
    const thrown: unknown = await aStore(wrong).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: 'store_misconfigured', detail: 'WRONGPASS' });
    expect(JSON.stringify(thrown, Object.getOwnPropertyNames(thrown))).not.toContain('canary');
    expect(await connections()).toBe(before + 1);
    redis.disconnect();
  });
});

describe.skipIf(!hasRedis)('a Redis with TLS', () => {
  let server: RedisServer;
  let directory: string;
  const file = (name: string): string => join(directory, name);
  const url = (host: string): string => `rediss://${host}:${server.tlsPort}`;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'kdebug-tls-'));
    const ours = await generate([{ name: 'commonName', value: 'localhost' }], {
      keySize: 2048,
      extensions: [
        { name: 'basicConstraints', cA: true, critical: true },
        { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
      ],
    });
    const other = await generate([{ name: 'commonName', value: 'other' }], { keySize: 2048 });
    writeFileSync(file('ca.pem'), ours.cert);
    writeFileSync(file('key.pem'), ours.private);
    writeFileSync(file('other.pem'), other.cert);
    const tls = [
      '--tls-cert-file',
      file('ca.pem'),
      '--tls-key-file',
      file('key.pem'),
      '--tls-ca-cert-file',
      file('ca.pem'),
    ];
    server = await RedisServer.start(tls, true);
  });
  afterAll(async () => {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('is used when the given CA signed its certificate', async () => {
    const store = await aStore(url('localhost'), { caFile: file('ca.pem') });
    expect((await store.create(aRun('aaaaaaaaaa'), 'one')).kind).toBe('created');
    await store.close();
  });

  it('is refused when another CA signed it, or none that this machine trusts', async () => {
    const refused = misconfigured(/^(?:DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/);
    await expect(aStore(url('localhost'), { caFile: file('other.pem') })).rejects.toMatchObject(refused);
    await expect(aStore(url('localhost'))).rejects.toMatchObject(refused);
  });

  it('is refused when the certificate is for another name', async () => {
    await expect(aStore(url('127.0.0.1'), { caFile: file('ca.pem') })).rejects.toMatchObject(
      misconfigured('^ERR_TLS_CERT_ALTNAME'),
    );
  });

  it('is refused where there is none', async () => {
    const plain = server.url.replace('redis:', 'rediss:');
    await expect(aStore(plain, { caFile: file('ca.pem') })).rejects.toMatchObject({
      code: expect.stringMatching(/store_(?:misconfigured|unreachable)/),
    });
  });
});
