import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalCluster, startLocalCluster } from '../../../cluster/index.ts';
import { Client } from '../client.ts';
import { hasKubectl, runKubectl } from '../run-kubectl.ts';

let cluster: LocalCluster;
let client: Client;

beforeAll(async () => {
  cluster = await startLocalCluster({ kubeletDelayMs: 0 });
  client = new Client(cluster);
});

afterAll(async () => {
  await client.close();
  await cluster.stop();
});

const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const json = { 'content-type': 'application/json' };
const named = (name: string, more: object = {}) => ({ metadata: { name }, ...more });

describe('a kept object', () => {
  it('is what was created, with what the server adds', async () => {
    const made = await client.call('POST', CLAIMS, named('data', { spec: { storageClassName: 'fast' } }), json);
    expect(made.status).toBe(201);
    const { json: read } = await client.get(`${CLAIMS}/data`);
    expect(read).toMatchObject({
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      metadata: { name: 'data', namespace: 'default', uid: expect.any(String), resourceVersion: expect.any(String) },
      spec: { storageClassName: 'fast' },
    });
    expect((await client.call('POST', CLAIMS, named('data'), json)).json.reason).toBe('AlreadyExists');
  });

  it('is in the list of its namespace, by labels too', async () => {
    const labelled = { metadata: { name: 'web', labels: { app: 'web' } }, spec: { replicas: 1 } };
    await client.call('POST', DEPLOYMENTS, labelled, json);
    await client.call('POST', DEPLOYMENTS, named('api'), json);
    const { json: list } = await client.get(DEPLOYMENTS);
    expect(list).toMatchObject({ kind: 'DeploymentList', apiVersion: 'apps/v1' });
    expect(list.items.map((each: { metadata: { name: string } }) => each.metadata.name)).toEqual(['api', 'web']);
    expect((await client.get(`${DEPLOYMENTS}?labelSelector=app`)).json.items).toHaveLength(1);
    expect((await client.get(`${DEPLOYMENTS}?limit=1`)).json.metadata).toMatchObject({ remainingItemCount: 1 });
    expect((await client.get('/apis/apps/v1/namespaces/kube-system/deployments')).json.items).toEqual([]);
  });

  it('is of one API group only', async () => {
    expect((await client.get('/apis/batch/v1/namespaces/default/deployments')).json.details).toEqual({});
    expect((await client.get('/apis/batch/v1/namespaces/default/jobs/none')).json).toMatchObject({
      code: 404,
      message: 'jobs.batch "none" not found',
    });
  });

  it('goes with its deletion, or with its namespace', async () => {
    cluster.addNamespace('brief');
    const services = '/api/v1/namespaces/brief/services';
    await client.call('POST', services, named('a'), json);
    await client.call('POST', services, named('b'), json);
    expect((await client.call('DELETE', `${services}/a`)).json.status).toBe('Success');
    expect((await client.get(services)).json.items).toHaveLength(1);
    await client.call('DELETE', '/api/v1/namespaces/brief');
    expect((await client.get('/api/v1/services')).json.items).toEqual([]);
  });

  it('needs the right to it, as any resource', async () => {
    const token = 'reader';
    cluster.tokens.set(token, 'reader', []);
    cluster.authorizer.setRules([{ user: 'reader', verbs: ['list'], resources: ['services'] }]);
    const reader = new Client(cluster).as(token);
    expect((await reader.get('/api/v1/namespaces/default/services')).status).toBe(200);
    const refused = await reader.get('/apis/batch/v1/namespaces/default/jobs');
    expect(refused.json.message).toBe(
      'jobs.batch is forbidden: User "reader" cannot list resource "jobs" in API group "batch" in the namespace "default"',
    );
    await reader.close();
  });
});

describe.skipIf(!hasKubectl)('real kubectl', () => {
  it('shows deployments, jobs, claims, services and classes as tables', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'kdebug-kubectl-'));
    writeFileSync(join(directory, 'config'), cluster.kubeconfig);
    const failed = { conditions: [{ type: 'Failed', status: 'True' }], failed: 2 };
    await client.call('POST', '/apis/batch/v1/namespaces/default/jobs', named('nightly', { status: failed }), json);
    const ports = [{ port: 80, protocol: 'TCP' }];
    const service = named('web', { spec: { type: 'ClusterIP', clusterIP: '10.0.0.1', ports } });
    await client.call('POST', '/api/v1/namespaces/default/services', service, json);
    const fast = named('fast', { provisioner: 'example.com/fast', reclaimPolicy: 'Delete' });
    await client.call('POST', '/apis/storage.k8s.io/v1/storageclasses', fast, json);
    const { out } = await runKubectl(directory, ['get', 'deploy,job,pvc,svc,sc']);
    rmSync(directory, { recursive: true, force: true });
    expect(out).toMatch(/^NAME +READY +UP-TO-DATE +AVAILABLE +AGE$/m);
    expect(out).toMatch(/^deployment.apps\/web +0\/1 +0 +0 /m);
    expect(out).toMatch(/^job.batch\/nightly +Failed +0\/1 /m);
    expect(out).toMatch(/^persistentvolumeclaim\/data .*fast/m);
    expect(out).toMatch(/^service\/web +ClusterIP +10.0.0.1 +<none> +80\/TCP /m);
    expect(out).toMatch(/^storageclass.storage.k8s.io\/fast +example.com\/fast +Delete/m);
    expect(cluster.requests.unknown().map(({ method, url }) => `${method} ${url}`)).toEqual([]);
  });
});
