import { execPath } from 'node:process';
import { generate } from 'selfsigned';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiClient } from '../../../../src/adapters/kubernetes/api/api-client.ts';
import { Connection } from '../../../../src/adapters/kubernetes/api/connection.ts';
import { podPath } from '../../../../src/adapters/kubernetes/api/paths.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { json, reset, ScriptedApiServer } from '../support/scripted-api-server.ts';

let server: ScriptedApiServer;
let connection: Connection | undefined;
const clock = new FakeClock();

beforeEach(async () => {
  server = new ScriptedApiServer();
  await server.start();
});

const calls: string[] = [];

afterEach(async () => {
  await connection?.close();
  await server.stop();
});

function aClient(kubeconfigPath = server.kubeconfig()): ApiClient {
  connection = new Connection({ cluster: { inCluster: false, default: true }, kubeconfigPath }, clock);
  return new ApiClient(connection, '1.2.3', clock, (method, result) => void calls.push(`${method} ${result}`));
}

const codeOf = (thrown: Promise<unknown>): Promise<unknown> =>
  thrown.then(
    () => 'no error',
    (error: { code?: unknown }) => error.code,
  );

describe('a request', () => {
  it('says who kdebug is and brings the token', async () => {
    server.once(/version/, json(200, { gitVersion: 'v1.34.4' }));

    expect(await aClient().json({ path: '/version' })).toEqual({ gitVersion: 'v1.34.4' });
    expect(server.requests[0]?.headers).toMatchObject({ 'user-agent': 'kdebug/1.2.3', authorization: 'Bearer secret' });
  });

  it('is counted with its method and its result, each try for itself', async () => {
    calls.length = 0;
    server.once(/version/, json(200, {}));
    server.once(/pods/, json(403, { message: 'no' }));
    server.once(/nodes/, json(401, {}));
    server.once(/nodes/, json(200, {}));
    const client = aClient();
    await client.json({ path: '/version' });
    await client.send({ path: '/pods', method: 'PATCH', body: { type: 'application/json', value: {} } });
    await client.send({ path: '/nodes' });
    expect(calls).toEqual(['get ok', 'patch cluster_forbidden', 'get cluster_unauthenticated', 'get ok']);
  });

  it('acts as a person, with every group in a line of its own', async () => {
    server.once(/version/, json(200, {}));

    await aClient().json({
      path: '/version',
      actingAs: { user: 'slack:U0ROY', groups: ['a', 'b,c'], slackUser: 'U0ROY' },
    });

    expect(server.requests[0]?.headerLines).toMatchObject({
      'impersonate-user': ['slack:U0ROY'],
      'impersonate-group': ['a', 'b,c'],
      'impersonate-extra-slack-user': ['U0ROY'],
    });
  });

  it.each([
    { user: 'system:admin', groups: [] },
    { user: 'roy', groups: ['System:masters'] },
    { user: 'roy\r\nX: y', groups: [] },
    { user: '', groups: [] },
  ])('is not even sent as $user in $groups', async ({ user, groups }) => {
    const sent = aClient().json({ path: '/version', actingAs: { user, groups, slackUser: 'U0ROY' } });

    expect(await codeOf(sent)).toBe('identity_reserved');
    expect(server.requests).toEqual([]);
  });

  it('reads a token file again when the server no longer takes the token, once', async () => {
    const tokenFile = server.file('token', 'old\n');
    server.always(/version/, (seen, response) => {
      const isNew = seen.headers.authorization === 'Bearer new';
      json(isNew ? 200 : 401, {})(seen, response);
    });
    const client = aClient(server.kubeconfig(`{ tokenFile: "${tokenFile}" }`));
    expect(await codeOf(client.json({ path: '/version' }))).toBe('cluster_unauthenticated');
    expect(server.requests).toHaveLength(2);
    server.file('token', 'new\n');

    await Promise.all([client.json({ path: '/version' }), client.json({ path: '/version' })]);

    expect(server.requests.at(-1)?.headers.authorization).toBe('Bearer new');
  });

  it('takes a changed token file up within a minute', async () => {
    const tokenFile = server.file('token', 'first');
    server.always(/version/, json(200, {}));
    const client = aClient(server.kubeconfig(`{ tokenFile: "${tokenFile}" }`));
    await client.json({ path: '/version' });
    server.file('token', 'second');
    await clock.advance(60_000);

    await client.json({ path: '/version' });

    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer first', 'Bearer second']);
  });

  it('asks an exec plug-in for its token', async () => {
    const status = { token: 'from-plugin', expirationTimestamp: '2099-01-01T00:00:00Z' };
    const script = `process.stdout.write(JSON.stringify({ status: ${JSON.stringify(status)} }))`;
    const plugin = server.file('plugin.cjs', script);
    server.once(/version/, json(200, {}));
    const user = `{ exec: { apiVersion: client.authentication.k8s.io/v1, command: "${execPath}", args: ["${plugin}"] } }`;

    await aClient(server.kubeconfig(user)).json({ path: '/version' });

    expect(server.requests[0]?.headers.authorization).toBe('Bearer from-plugin');
  });

  it('never follows a redirect', async () => {
    server.once(/version/, (_seen, response) => {
      response.writeHead(302, { location: `${server.url}/elsewhere` }).end();
    });

    expect(await codeOf(aClient().json({ path: '/version' }))).toBe('cluster_failed');
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    [403, {}, 'cluster_forbidden', undefined],
    [429, { 'retry-after': '7' }, 'cluster_busy', 7_000],
    [503, {}, 'cluster_busy', 1_000],
    [504, { 'retry-after': '2' }, 'cluster_busy', 2_000],
    [500, {}, 'cluster_failed', undefined],
  ])('that is answered by %i fails by that', async (status, headers, code, retryAfterMs) => {
    server.once(/version/, json(status, { message: 'no' }, headers));

    await expect(aClient().json({ path: '/version' })).rejects.toMatchObject({
      code,
      detail: 'no',
      facts: retryAfterMs === undefined ? { status } : { status, retryAfterMs },
    });
  });

  it.each([
    ['names a role that is not there', ': RBAC: clusterrole.rbac.authorization.k8s.io "kdebug" not found', true],
    ['names none', '', undefined],
  ])('that RBAC refuses may pass when the refusal %s', async (_name, more, mayPass) => {
    server.once(/version/, json(403, { message: `User "bot" cannot get resource "pods" in API group ""${more}` }));

    await expect(aClient().json({ path: '/version' })).rejects.toMatchObject({
      code: 'cluster_forbidden',
      facts: mayPass === undefined ? { status: 403 } : { status: 403, mayPass },
    });
  });

  it('whose connection breaks finds the cluster unreachable', async () => {
    server.once(/version/, reset);

    expect(await codeOf(aClient().json({ path: '/version' }))).toBe('cluster_unreachable');
  });

  it.each(['../secrets/x', 'Web', 'a/b', 'a?b', '', '.', 'a..b', 'x'.repeat(254), 'a\n'])(
    'never gets a path with the name %j',
    (name) => {
      expect(() => podPath('shop', name)).toThrow(expect.objectContaining({ code: 'invalid_name' }));
      expect(() => podPath(name, 'web')).toThrow(expect.objectContaining({ code: 'invalid_name' }));
    },
  );
});

describe('a TLS connection', () => {
  let trusted: ScriptedApiServer;
  let ca: string;

  beforeEach(async () => {
    const attributes = [{ name: 'commonName', value: '127.0.0.1' }];
    const options = { extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }] };
    // biome-ignore lint/suspicious/noExplicitAny: the package's types lack the extensions that its documentation has
    const { private: key, cert } = await generate(attributes, options as any);
    trusted = new ScriptedApiServer({ key, cert });
    ca = Buffer.from(cert).toString('base64');
    await trusted.start();
    trusted.always(/version/, json(200, { gitVersion: 'v1' }));
  });

  afterEach(() => trusted.stop());

  it('is made when the kubeconfig names the authority', async () => {
    const client = aClient(trusted.kubeconfig('{ token: t }', `certificate-authority-data: ${ca}`));

    expect(await client.json({ path: '/version' })).toEqual({ gitVersion: 'v1' });
  });

  it('is refused when it does not', async () => {
    const client = aClient(trusted.kubeconfig('{ token: t }', 'disable-compression: true'));

    expect(await codeOf(client.json({ path: '/version' }))).toBe('cluster_unreachable');
    expect(trusted.requests).toEqual([]);
  });

  it('is kept for the next request', async () => {
    const client = aClient(trusted.kubeconfig('{ token: t }', `certificate-authority-data: ${ca}`));
    const sockets = new Set<unknown>();
    trusted.always(/namespaces/, (seen, response) => {
      sockets.add(response.socket?.remotePort);
      json(200, {})(seen, response);
    });

    for (let sent = 0; sent < 5; sent += 1) await client.json({ path: '/api/v1/namespaces/shop' });

    // A connection is free again a turn of the loop after its answer, so there may be two.
    expect(sockets.size).toBeLessThan(3);
  });
});
