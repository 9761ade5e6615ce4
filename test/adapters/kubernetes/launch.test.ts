import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiClient } from '../../../src/adapters/kubernetes/api/api-client.ts';
import { Connection } from '../../../src/adapters/kubernetes/api/connection.ts';
import { LAUNCH_TIMES, launch } from '../../../src/adapters/kubernetes/launch.ts';
import { asRunId } from '../../../src/core/ids.ts';
import type { LaunchRequest, LaunchResult } from '../../../src/flow/ports/cluster.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { json, rawPod, refusal, reset, ScriptedApiServer } from './support/scripted-api-server.ts';

const PATCH = /^PATCH .*\/pods\/web\/ephemeralcontainers$/;
const REVIEW = /^POST .*\/selfsubjectaccessreviews$/;
const READ = /^GET .*\/pods\/web$/;
const RUN = asRunId('aaaaaaaaaa');

const REQUEST: LaunchRequest = {
  pod: { namespace: 'shop', name: 'web', uid: 'uid-web' },
  runId: RUN,
  container: {
    name: 'kdebug-abc',
    image: 'debian:12',
    env: [{ name: 'KDEBUG_RUN', value: RUN }],
    terminationMessagePolicy: 'FallbackToLogsOnError',
  },
};

const holding = (run: string, uid?: string) =>
  rawPod('web', {
    ...(uid && { uid }),
    spec: {
      ephemeralContainers: [{ name: 'kdebug-abc', image: 'debian:12', env: [{ name: 'KDEBUG_RUN', value: run }] }],
    },
  });

const cause = (reason: string, field: string) => ({
  name: 'web',
  kind: 'pods',
  causes: [{ reason, field, message: 'm' }],
});

let server: ScriptedApiServer;
let connection: Connection;
let clock: FakeClock;

beforeEach(async () => {
  server = new ScriptedApiServer();
  await server.start();
  clock = new FakeClock();
  const source = { cluster: { inCluster: false, default: true }, kubeconfigPath: server.kubeconfig() };
  connection = new Connection(source, clock);
});

afterEach(async () => {
  await connection.close();
  await server.stop();
  expect(server.unexpected).toEqual([]);
});

/** Launches, and lets every pause pass. */
async function launched(request: LaunchRequest = REQUEST, timeoutMs = LAUNCH_TIMES.timeoutMs): Promise<LaunchResult> {
  const client = new ApiClient(connection, '0', clock);
  const times = { ...LAUNCH_TIMES, timeoutMs };
  let isOver = false;
  const answer = launch({ client, clock, random: () => 0, times }, request).finally(() => {
    isOver = true;
  });
  answer.catch(() => {});
  while (!isOver) await clock.advance(100);
  return answer;
}

const patches = () => server.requests.filter(({ method }) => method === 'PATCH');

describe('a launch', () => {
  it('is one strategic-merge patch that carries the uid', async () => {
    server.once(PATCH, json(200, holding(RUN)));

    expect(await launched()).toMatchObject({
      kind: 'launched',
      pod: { spec: { ephemeralContainers: [{ runId: RUN }] } },
    });

    expect(patches()).toMatchObject([
      {
        headers: { 'content-type': 'application/strategic-merge-patch+json' },
        query: { fieldManager: 'kdebug', fieldValidation: 'Strict' },
        body: { metadata: { uid: 'uid-web' }, spec: { ephemeralContainers: [REQUEST.container] } },
      },
    ]);
  });

  it('can be a dry run', async () => {
    server.once(PATCH, json(200, holding(RUN)));
    await launched({ ...REQUEST, dryRun: true });
    expect(patches()[0]?.query.dryRun).toBe('All');
  });

  it.each([
    ['the connection breaks', [reset, reset]],
    ['there are conflicts', [refusal(409, 'Conflict'), refusal(409, 'Conflict'), refusal(409, 'Conflict')]],
    ['the server is busy', [json(429, {}, { 'retry-after': '1' }), json(503, {})]],
    ['the server fails', [refusal(500, 'InternalError'), json(504, {})]],
  ])('is repeated, the same, while %s', async (_name, answers) => {
    for (const answer of answers) server.once(PATCH, answer);
    server.once(PATCH, json(200, holding(RUN)));

    expect((await launched()).kind).toBe('launched');

    expect(patches()).toHaveLength(answers.length + 1);
    expect(new Set(patches().map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });

  it('is repeated when the answer does not come', async () => {
    server.once(PATCH, () => {});
    server.once(PATCH, json(200, holding(RUN)));

    expect((await launched(REQUEST, 300)).kind).toBe('launched');
  });

  it('gives up in doubt after five tries', async () => {
    server.always(PATCH, reset);

    await expect(launched()).rejects.toMatchObject({ code: 'cluster_unreachable' });
    expect(patches()).toHaveLength(5);
  });

  it('that fails five times, with an answer each time, is refused in the words of the API server', async () => {
    server.always(PATCH, refusal(500, 'InternalError'));
    server.once(READ, json(200, rawPod('web', { uid: 'uid-web' })));

    expect(await launched()).toEqual({ kind: 'refused', by: 'validation', message: 'because of InternalError' });
    expect(patches()).toHaveLength(5);
  });

  it('that failed five times but went through is launched', async () => {
    server.always(PATCH, refusal(500, 'InternalError'));
    server.once(READ, json(200, holding(RUN)));

    expect((await launched()).kind).toBe('launched');
  });

  it('stays in doubt when one of five failures was no answer: it may still be on its way', async () => {
    server.once(PATCH, reset);
    server.always(PATCH, refusal(500, 'InternalError'));

    await expect(launched()).rejects.toMatchObject({ code: 'cluster_failed' });
  });

  it('passes a long Retry-After on instead of waiting', async () => {
    server.once(PATCH, json(429, {}, { 'retry-after': '30' }));

    await expect(launched()).rejects.toMatchObject({ code: 'cluster_busy', facts: { retryAfterMs: 30_000 } });
  });

  it.each([
    ['another pod of the name', 422, 'Invalid', cause('FieldValueInvalid', 'metadata.uid'), { kind: 'pod-replaced' }],
    ['no such pod', 404, 'NotFound', { name: 'web', kind: 'pods' }, { kind: 'pod-gone' }],
    ['no such subresource', 404, 'NotFound', {}, { kind: 'unsupported' }],
    [
      'an unknown target',
      422,
      'Invalid',
      cause('FieldValueNotFound', 'spec.ephemeralContainers[0].targetContainerName'),
      { kind: 'refused', by: 'validation' },
    ],
    [
      'an admission policy',
      422,
      'Invalid',
      { kind: 'pods', causes: [{ message: 'no' }] },
      { kind: 'refused', by: 'webhook' },
    ],
    ['a pod that is too large', 413, 'RequestEntityTooLarge', null, { kind: 'refused', by: 'validation' }],
    ['a webhook that says no', 400, '', null, { kind: 'refused', by: 'webhook' }],
    ['an unknown field', 400, 'BadRequest', {}, { kind: 'refused', by: 'validation' }],
  ])('is answered by %s', async (_name, code, reason, details, expected) => {
    server.once(PATCH, refusal(code, reason, details));

    expect(await launched()).toMatchObject(expected);
  });

  const pods = { name: 'web', kind: 'pods' };
  const forbidden = (why: string) => `pods "web" is forbidden: ${why}`;
  const byRbac = forbidden('User "bot" cannot patch resource "pods/ephemeralcontainers" in API group ""');
  const withoutRole = `${byRbac}: RBAC: clusterrole.rbac.authorization.k8s.io "kdebug" not found`;
  const says403 = (message: string, details: object | null = pods) =>
    json(403, { kind: 'Status', reason: 'Forbidden', code: 403, details, message });
  const reviewed = (allowed: boolean) => json(201, { status: { allowed } });

  it.each([
    ['RBAC', false, pods, byRbac, 'rbac'],
    ['an authoriser that the API server asks, in its own words', false, null, 'no', 'rbac'],
    ['a webhook', true, null, 'admission webhook "policy.example.com" denied the request: no', 'webhook'],
    ['a webhook in the words of RBAC', true, null, `admission webhook "x" denied the request: ${byRbac}`, 'webhook'],
    ['another plug-in', true, pods, forbidden('node affinity must not change'), 'webhook'],
  ])('that %s forbids is told apart by an access review', async (_name, allowed, details, message, by) => {
    server.once(PATCH, says403(message, details));
    server.once(REVIEW, reviewed(allowed));

    expect(await launched()).toEqual({ kind: 'refused', by, message });
  });

  it('that Pod Security forbids is known by its words', async () => {
    const message = forbidden('violates PodSecurity "restricted:latest": runAsNonRoot != true');
    server.once(PATCH, says403(message));

    expect(await launched()).toEqual({ kind: 'refused', by: 'pod-security', message });
  });

  it.each([
    ['the review allows', byRbac, true],
    ['names a role that is not there', withoutRole, false],
  ])('is repeated after a refusal of RBAC that %s: the API server is starting', async (_name, message, allowed) => {
    server.once(PATCH, says403(message));
    server.once(REVIEW, reviewed(allowed));
    server.once(PATCH, json(200, holding(RUN)));

    expect((await launched()).kind).toBe('launched');
    expect(patches()).toHaveLength(2);
  });

  it('stays in doubt as long as the API server contradicts itself', async () => {
    server.always(PATCH, says403(byRbac));
    server.always(REVIEW, reviewed(true));

    await expect(launched()).rejects.toMatchObject({ code: 'cluster_forbidden', facts: { mayPass: true } });
    expect(patches()).toHaveLength(5);
  });

  it('is refused by RBAC when the role is still not there at the fifth try', async () => {
    server.always(PATCH, says403(withoutRole));
    server.always(REVIEW, reviewed(false));

    expect(await launched()).toEqual({ kind: 'refused', by: 'rbac', message: withoutRole });
    expect(patches()).toHaveLength(5);
  });

  it('stays in doubt when an earlier try had no answer', async () => {
    server.once(PATCH, reset);
    server.always(PATCH, says403(withoutRole));
    server.always(REVIEW, reviewed(false));

    await expect(launched()).rejects.toMatchObject({ code: 'cluster_forbidden', facts: { mayPass: true } });
  });

  it('that was changed on its way in is recognised by its run id', async () => {
    server.once(PATCH, refusal(422, 'Invalid', cause('FieldValueForbidden', 'spec.ephemeralContainers')));
    server.once(READ, json(200, holding(RUN)));

    expect((await launched()).kind).toBe('launched');
  });

  it.each([
    ['somebody else holds the name', json(200, holding('bbbbbbbbbb')), { kind: 'refused', by: 'name-taken' }],
    ['the pod was replaced', json(200, holding(RUN, 'uid-other')), { kind: 'pod-replaced' }],
    ['the pod is gone', refusal(404, 'NotFound'), { kind: 'pod-gone' }],
  ])('is not taken for ours when %s', async (_name, read, expected) => {
    server.once(PATCH, refusal(422, 'Invalid', cause('FieldValueForbidden', 'spec.ephemeralContainers')));
    server.once(READ, read);

    expect(await launched()).toMatchObject(expected);
  });

  it.each<[string, object, string]>([
    ['another image', { image: 'evil:1' }, 'refused'],
    ['a command', { command: ['sh'] }, 'refused'],
    ['another target', { targetContainerName: 'db' }, 'refused'],
    ['more power', { securityContext: { privileged: true } }, 'refused'],
    [
      'a variable more',
      {
        env: [
          { name: 'KDEBUG_RUN', value: RUN },
          { name: 'PROXY', value: 'x' },
        ],
      },
      'launched',
    ],
  ])('answers 200 and the pod holds %s: %j is %s', async (_name, over, kind) => {
    const container = { name: 'kdebug-abc', image: 'debian:12', env: [{ name: 'KDEBUG_RUN', value: RUN }], ...over };
    server.once(PATCH, json(200, rawPod('web', { spec: { ephemeralContainers: [container] } })));
    expect(await launched()).toMatchObject({ kind, ...(kind === 'refused' && { by: 'name-taken' }) });
  });

  it('never reaches the server under a name that is none', async () => {
    await expect(launched({ ...REQUEST, pod: { ...REQUEST.pod, name: '../x' } })).rejects.toMatchObject({
      code: 'invalid_name',
    });
    expect(server.requests).toEqual([]);
  });
});
