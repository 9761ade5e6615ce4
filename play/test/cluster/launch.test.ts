import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalCluster, startLocalCluster } from '../../cluster/index.ts';
import { Client } from './client.ts';

let cluster: LocalCluster;
let client: Client;

beforeAll(async () => {
  cluster = await startLocalCluster({ kubeletDelayMs: 0 });
  client = new Client(cluster);
  cluster.addNamespace('strict', { 'pod-security.kubernetes.io/enforce': 'restricted' });
  cluster.addNamespace('base', { 'pod-security.kubernetes.io/enforce': 'baseline' });
  cluster.addPod({ name: 'a' });
  cluster.addPod({ name: 'static', isMirror: true });
  const safe = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
  const nonRoot = { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } };
  for (const namespace of ['strict', 'base']) {
    cluster.addPod({
      name: 'r',
      namespace,
      securityContext: nonRoot,
      containers: [{ name: 'app', image: 'web', securityContext: safe }],
    });
  }
});

afterAll(async () => {
  await client.close();
  await cluster.stop();
});

const causesOf = (json: { details: { causes: { reason: string; field: string }[] } }) =>
  json.details.causes.map(({ reason, field }) => `${reason} ${field}`);

describe('PATCH pods/ephemeralcontainers, as the table of cluster-facts', () => {
  it('refuses the uid of another pod with the same cause twice', async () => {
    const { status, json } = await client.launch('a', [{ name: 'x', image: 'busybox' }], { metadata: { uid: 'zz' } });
    expect(status).toBe(422);
    expect(json.message).toBe('Pod "a" is invalid: metadata.uid: Invalid value: "zz": field is immutable');
    expect(causesOf(json)).toEqual(['FieldValueInvalid metadata.uid', 'FieldValueInvalid metadata.uid']);
  });

  it('adds with the right uid, and a repeat of the same words changes nothing', async () => {
    const metadata = { uid: cluster.pod('default', 'a')?.metadata.uid };
    const entry = { name: 'once', image: 'busybox:1', command: ['true'], env: [{ name: 'KDEBUG_RUN', value: 'r1' }] };

    const first = await client.launch('a', [entry], { metadata });
    await client.until('a', 'once', (status) => status.state.terminated);
    const version = cluster.pod('default', 'a')?.metadata.resourceVersion;
    const again = await client.launch('a', [entry], { metadata });

    expect([first.status, again.status]).toEqual([200, 200]);
    expect(first.json.metadata.managedFields[0].manager).toBe('kdebug');
    expect(first.json.spec.ephemeralContainers[0]).toMatchObject({
      terminationMessagePolicy: 'File',
      imagePullPolicy: 'IfNotPresent',
      resources: {},
    });
    expect(again.json.metadata.resourceVersion).toBe(version);
  });

  it('refuses to change an entry, and to remove one, each by name', async () => {
    await client.launch('a', [{ name: 'kept', image: 'busybox:1', command: ['true'] }]);
    const change = await client.launch('a', [{ name: 'kept', image: 'other:1' }]);
    const path = '/api/v1/namespaces/default/pods/a/ephemeralcontainers';
    const remove = await client.call('PATCH', path, [{ op: 'remove', path: '/spec/ephemeralContainers/0' }], {
      'content-type': 'application/json-patch+json',
    });

    expect(change.json.details.causes).toEqual([
      expect.objectContaining({
        reason: 'FieldValueForbidden',
        field: 'spec.ephemeralContainers',
        message: expect.stringContaining('existing ephemeral containers "kept" may not be changed'),
      }),
    ]);
    expect(remove.json.message).toContain('existing ephemeral containers "kept" may not be removed');
    expect([change.status, remove.status]).toEqual([422, 422]);
  });

  it('puts new entries first, so an unknown target is told at index 0', async () => {
    await client.launch('a', [{ name: 'older', image: 'busybox:1', command: ['true'] }]);
    const { status, json } = await client.launch('a', [{ name: 'x', image: 'busybox:1', targetContainerName: 'nope' }]);
    expect(status).toBe(422);
    expect(causesOf(json)).toEqual(['FieldValueNotFound spec.ephemeralContainers[0].targetContainerName']);
  });

  it('keeps the order that kubectl gives', async () => {
    const $order = [{ name: 'older' }, { name: 'last' }];
    const body = {
      spec: {
        '$setElementOrder/ephemeralContainers': $order,
        ephemeralContainers: [{ name: 'last', image: 'busybox:1', command: ['true'] }],
      },
    };
    await client.launch('a', [{ name: 'older', image: 'busybox:1', command: ['true'] }]);
    const path = '/api/v1/namespaces/default/pods/a/ephemeralcontainers';
    const { json } = await client.call('PATCH', path, body, {
      'content-type': 'application/strategic-merge-patch+json',
    });
    expect(json.spec.ephemeralContainers.at(-1).name).toBe('last');
  });

  it.each([
    ['no such pod', 'nope', { name: 'x', image: 'busybox' }, 404, []],
    [
      'the name of a main container',
      'a',
      { name: 'app', image: 'busybox' },
      422,
      ['FieldValueDuplicate spec.ephemeralContainers[0].name'],
    ],
    [
      'ports',
      'a',
      { name: 'x', image: 'busybox', ports: [{ containerPort: 1 }] },
      422,
      ['FieldValueForbidden spec.ephemeralContainers[0].ports'],
    ],
    [
      'a bad name and no image',
      'a',
      { name: 'E_0', image: '' },
      422,
      ['FieldValueInvalid spec.ephemeralContainers[0].name', 'FieldValueRequired spec.ephemeralContainers[0].image'],
    ],
    ['a number for an image', 'a', { name: 'x', image: 5 }, 422, ['FieldValueInvalid patch']],
    [
      'an unknown pull policy',
      'a',
      { name: 'x', image: 'busybox', imagePullPolicy: 'Foo' },
      422,
      ['FieldValueNotSupported spec.ephemeralContainers[0].imagePullPolicy'],
    ],
    [
      'a bad variable name',
      'a',
      { name: 'x', image: 'busybox', env: [{ name: '1=', value: '' }] },
      422,
      ['FieldValueInvalid spec.ephemeralContainers[0].env[0].name'],
    ],
    ['a static pod', 'static', { name: 'x', image: 'busybox' }, 422, ['FieldValueForbidden []']],
  ])('refuses %s', async (_what, pod, entry, status, causes) => {
    const answer = await client.launch(pod, [entry]);
    expect(answer.status).toBe(status);
    expect(answer.json.details.name ?? '').toBe(causes[0]?.endsWith('patch') ? '' : pod);
    expect(causes.length === 0 ? [] : causesOf(answer.json)).toEqual(causes);
  });

  it('refuses unknown fields when asked to be strict and drops them otherwise', async () => {
    const entry = { name: 'odd', image: 'busybox:1', command: ['true'], foo: 1 };
    const strict = await client.launch('a', [entry], { query: '&fieldValidation=Strict&dryRun=All' });
    const loose = await client.launch('a', [entry], { query: '&dryRun=All' });
    expect(strict.json.message).toContain('strict decoding error: unknown field "spec.ephemeralContainers[0].foo"');
    expect(loose.json.spec.ephemeralContainers[0]).not.toHaveProperty('foo');
  });

  it('a dry run answers like the real thing and keeps nothing', async () => {
    const { status, json } = await client.launch('a', [{ name: 'dry', image: 'busybox:1' }], { query: '&dryRun=All' });
    expect(status).toBe(200);
    expect(json.spec.ephemeralContainers[0].name).toBe('dry');
    expect(JSON.stringify(cluster.pod('default', 'a'))).not.toContain('"dry"');
  });

  it('an outdated resourceVersion is a conflict', async () => {
    const { status, json } = await client.launch('a', [{ name: 'x', image: 'busybox' }], {
      metadata: { resourceVersion: '1' },
    });
    expect([status, json.reason]).toEqual([409, 'Conflict']);
  });

  it('text that is no JSON is a bad request and another media type is unsupported', async () => {
    const path = '/api/v1/namespaces/default/pods/a/ephemeralcontainers';
    const bad = await client.call('PATCH', path, '{"spec":', {
      'content-type': 'application/strategic-merge-patch+json',
    });
    const odd = await client.call('PATCH', path, '{}', { 'content-type': 'text/plain' });
    expect([bad.json.reason, odd.json.reason]).toEqual(['BadRequest', 'UnsupportedMediaType']);
  });

  it('an old server has no such resource: its 404 has empty details', async () => {
    const old = await startLocalCluster({ kubeletDelayMs: 0, servesEphemeralContainers: false });
    const caller = new Client(old);
    old.addPod({ name: 'a' });
    const { status, json } = await caller.launch('a', [{ name: 'x', image: 'busybox' }]);
    await caller.close();
    await old.stop();
    expect(status).toBe(404);
    expect(json.details).toEqual({});
  });
});

describe('Pod Security', () => {
  const refusal = async (namespace: string, securityContext: object) =>
    (await client.launch('r', [{ name: 'e', image: 'busybox', securityContext }], { namespace, query: '&dryRun=All' }))
      .json.message;

  it('names every field that restricted misses, word for word', async () => {
    expect(await refusal('strict', {})).toBe(
      'pods "r" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "e" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "e" must set securityContext.capabilities.drop=["ALL"])',
    );
    expect(
      await refusal('strict', {
        capabilities: { add: ['SYS_PTRACE'], drop: ['ALL'] },
        runAsUser: 0,
        runAsNonRoot: false,
        seccompProfile: { type: 'Unconfined' },
        allowPrivilegeEscalation: false,
      }),
    ).toBe(
      'pods "r" is forbidden: violates PodSecurity "restricted:latest": unrestricted capabilities (container "e" must not include "SYS_PTRACE" in securityContext.capabilities.add), runAsNonRoot != true (container "e" must not set securityContext.runAsNonRoot=false), runAsUser=0 (container "e" must not set runAsUser=0), seccompProfile (container "e" must not set securityContext.seccompProfile.type to "Unconfined")',
    );
  });

  it('baseline refuses SYS_PTRACE and privileged, and nothing of a plain container', async () => {
    expect(await refusal('base', { capabilities: { add: ['SYS_PTRACE'] } })).toBe(
      'pods "r" is forbidden: violates PodSecurity "baseline:latest": non-default capabilities (container "e" must not include "SYS_PTRACE" in securityContext.capabilities.add)',
    );
    expect(await refusal('base', { privileged: true })).toContain(
      'privileged (container "e" must not set securityContext.privileged=true)',
    );
    expect(await refusal('base', {})).toBeUndefined();
  });

  it('lets a conforming container into a restricted namespace', async () => {
    const securityContext = { runAsUser: 65532, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
    expect(await refusal('strict', securityContext)).toBeUndefined();
  });
});
