import { expect, it } from 'vitest';
import type { WorkloadKind } from '../../../../src/core/request/command.ts';
import { oneCluster } from '../support/one-cluster.ts';
import { json, refusal } from '../support/scripted-api-server.ts';

const now = oneCluster();
const raw = (spec: object, status: object) => ({
  metadata: { name: 'web', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec,
  status,
});

const READ: readonly [WorkloadKind, string, object, object][] = [
  [
    'deployment',
    '/apis/apps/v1/namespaces/shop/deployments/web',
    raw({ replicas: 3, paused: true }, { readyReplicas: 2, updatedReplicas: 1 }),
    { wanted: 3, ready: 2, updated: 1, suspended: true },
  ],
  ['deployment', '/apis/apps/v1/namespaces/shop/deployments/web', raw({ replicas: 0 }, {}), { wanted: 0, ready: 0 }],
  [
    'replicaset',
    '/apis/apps/v1/namespaces/shop/replicasets/web',
    raw({ replicas: 3 }, { readyReplicas: 2 }),
    { wanted: 3, ready: 2 },
  ],
  [
    'statefulset',
    '/apis/apps/v1/namespaces/shop/statefulsets/web',
    raw({ updateStrategy: { rollingUpdate: { partition: 2 } } }, { readyReplicas: 1, updatedReplicas: 1 }),
    { wanted: 1, ready: 1, updated: 1, heldBack: 'partition 2' },
  ],
  [
    'daemonset',
    '/apis/apps/v1/namespaces/shop/daemonsets/web',
    raw(
      { updateStrategy: { type: 'OnDelete' } },
      { desiredNumberScheduled: 5, numberReady: 4, updatedNumberScheduled: 3 },
    ),
    { wanted: 5, ready: 4, updated: 3, heldBack: 'OnDelete' },
  ],
  [
    'job',
    '/apis/batch/v1/namespaces/shop/jobs/web',
    raw({ completions: 2, backoffLimit: 6, suspend: false }, { succeeded: 1, failed: 3, active: 1 }),
    { wanted: 2, ready: 1, failed: 3, active: 1, backoffLimit: 6, suspended: false },
  ],
  [
    'cronjob',
    '/apis/batch/v1/namespaces/shop/cronjobs/web',
    raw(
      { suspend: true, schedule: '0 3 * * *' },
      { active: [{ name: 'web-1' }], lastScheduleTime: '2026-01-02T03:00:00Z' },
    ),
    { ready: 0, active: 1, suspended: true, schedule: '0 3 * * *', lastScheduledAtMs: Date.UTC(2026, 0, 2, 3) },
  ],
];

it.each(READ)('reads a %s at %s', async (kind, path, object, counts) => {
  const { server, cluster } = now();
  server.once(/web$/, json(200, object));
  const identity = { kind, name: 'web', uid: 'u', conditions: [], createdAtMs: Date.UTC(2026, 0, 1) };
  expect(await cluster.workload('shop', { kind, name: 'web' })).toMatchObject({ ...identity, ...counts });
  expect(server.requests[0]?.path).toBe(path);
});

it('keeps all conditions, whatever their status', async () => {
  const { server, cluster } = now();
  const condition = {
    type: 'ReplicaFailure',
    status: 'True',
    reason: 'FailedCreate',
    message: 'q'.repeat(2_000),
    lastTransitionTime: 't',
  };
  server.once(/web$/, json(200, raw({}, { conditions: [condition, { type: 'Available', status: 'False' }] })));
  expect(await cluster.workload('shop', { kind: 'deployment', name: 'web' })).toMatchObject({
    conditions: [
      { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'q'.repeat(1_000), since: 't' },
      { type: 'Available', status: 'False', reason: '', message: '', since: '' },
    ],
  });
});

const MANAGED = [
  { manager: 'helm', time: '2026-01-01T00:00:00Z', fieldsV1: { 'f:spec': {} } },
  { manager: 'kubectl-edit', time: '2026-01-02T00:00:00Z', fieldsV1: { 'f:metadata': {}, 'f:spec': {} } },
  { manager: 'of-annotations', time: '2026-01-03T00:00:00Z', fieldsV1: { 'f:metadata': {} } },
  { manager: 'of-replicas', subresource: 'scale', time: '2026-01-04T00:00:00Z', fieldsV1: { 'f:spec': {} } },
  { manager: 'at-no-time', time: 'x', fieldsV1: { 'f:spec': {} } },
];

it('keeps who changed its spec last, and the marks of who keeps it', async () => {
  const { server, cluster } = now();
  const metadata = {
    uid: 'u',
    managedFields: MANAGED,
    labels: { app: 'web', 'app.kubernetes.io/managed-by': 'Helm', 'app.kubernetes.io/version': 7 },
    annotations: {
      'meta.helm.sh/release-name': 'w'.repeat(300),
      'kubectl.kubernetes.io/last-applied-configuration': '{',
    },
  };
  server.once(/web$/, json(200, { metadata }));
  expect(await cluster.workload('shop', { kind: 'deployment', name: 'web' })).toMatchObject({
    lastChange: { manager: 'kubectl-edit', atMs: Date.UTC(2026, 0, 2) },
    marks: { 'app.kubernetes.io/managed-by': 'Helm', 'meta.helm.sh/release-name': 'w'.repeat(253) },
  });
});

it('knows no change where the API server tells none', async () => {
  const { server, cluster } = now();
  server.once(/web$/, json(200, raw({}, {})));
  const found = await cluster.workload('shop', { kind: 'deployment', name: 'web' });
  expect(found).toMatchObject({ marks: {} });
  expect(found).not.toHaveProperty('lastChange');
});

it('tells what is not there from what it may not read, and remembers a missing right', async () => {
  const { server, clock, cluster } = now();
  const named = { kind: 'job', name: 'web' } as const;
  server.once(/web$/, refusal(404, 'NotFound'));
  expect(await cluster.workload('shop', named)).toBe('not-found');
  await clock.advance(2_000);
  server.once(/web$/, refusal(403, 'Forbidden'));
  expect(await cluster.workload('shop', named)).toBeUndefined();
  await clock.advance(299_999);
  expect(await cluster.workload('shop', named)).toBeUndefined();
  await clock.advance(1);
  server.once(/web$/, refusal(503, 'ServiceUnavailable'));
  await expect(cluster.workload('shop', named)).rejects.toMatchObject({ code: 'cluster_busy' });
  await expect(cluster.workload('shop', { kind: 'job', name: '../x' })).rejects.toMatchObject({ code: 'invalid_name' });
});

it('does not take the page of a proxy for a workload without pods', async () => {
  const { server, cluster } = now();
  server.once(/web$/, json(200, '<html>'));
  await expect(cluster.workload('shop', { kind: 'deployment', name: 'web' })).rejects.toMatchObject({
    code: 'cluster_failed',
  });
});
