import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LocalCluster, openBackoffice, startLocalCluster } from '../../cluster/index.ts';
import { Client } from './client.ts';

let cluster: LocalCluster;
let client: Client;

beforeAll(async () => {
  cluster = await startLocalCluster({ kubeletDelayMs: 0 });
  openBackoffice(cluster);
  client = new Client(cluster);
});

afterAll(async () => {
  await client.close();
  await cluster.stop();
});

const get = async (path: string) => (await client.get(path)).json;
const PODS = '/api/v1/namespaces/backoffice/pods';
const WARNINGS = '/api/v1/namespaces/backoffice/events?fieldSelector=type=Warning,involvedObject.kind=';
const log = async (pod: string, query: string) => (await client.get(`${PODS}/${pod}/log?${query}`)).text;

it('has a Job that failed, with what its program said last', async () => {
  const job = await get('/apis/batch/v1/namespaces/backoffice/jobs/nightly-report');
  expect(job.status.conditions).toContainEqual(expect.objectContaining({ type: 'Failed', status: 'True' }));
  const { items } = await get(`${PODS}?labelSelector=app=nightly-report`);
  expect(items).toHaveLength(2);
  expect(await log(items[0].metadata.name, 'tailLines=1')).toBe("KeyError: 'REPORT_BUCKET'\n");
});

it('has a pod that no node takes', async () => {
  const { items } = await get(`${PODS}?labelSelector=app=importer`);
  expect(items[0].spec.nodeName).toBeUndefined();
  expect(items[0].status.conditions).toMatchObject([{ type: 'PodScheduled', reason: 'Unschedulable' }]);
});

it('has a Deployment that a quota keeps from making pods', async () => {
  expect((await get(`${PODS}?labelSelector=app=invoices`)).items).toEqual([]);
  const { items } = await get(`${WARNINGS}ReplicaSet`);
  expect(items[0]).toMatchObject({ reason: 'FailedCreate', message: expect.stringContaining('team-quota') });
});

it('has a container that ends again and again, with last words', async () => {
  const { items } = await get(`${PODS}?labelSelector=app=mailer`);
  expect(items).toHaveLength(1);
  const { name } = items[0].metadata;
  await client.until(name, 'mailer', (each) => each.lastState.terminated !== undefined, 'backoffice');
  expect(await log(name, 'previous=true')).toContain('panic: open /etc/mailer/config.yaml');
});

it('has a pod that looks well and shouts in its log', async () => {
  const { items } = await get(`${PODS}?labelSelector=app=stock-sync`);
  const { name } = items[0].metadata;
  await client.until(name, 'sync', (each) => each.state.running !== undefined, 'backoffice');
  expect(await log(name, 'tailLines=1')).toContain('ERROR round 41: cannot reach warehouse-db.backoffice.svc:5432');
});
