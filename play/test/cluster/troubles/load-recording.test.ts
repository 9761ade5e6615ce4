import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalCluster, startLocalCluster } from '../../../cluster/index.ts';
import { Client } from '../client.ts';

const AT = Date.UTC(2026, 0, 1, 12);
const before = (seconds: number) => new Date(AT - seconds * 1_000).toISOString().replace('.000Z', 'Z');
const id = (letter: string) => `containerd://${letter.repeat(64)}`;
const ended = (letter: string, seconds: number) => ({
  terminated: {
    exitCode: 1,
    reason: 'Error',
    startedAt: before(seconds + 5),
    finishedAt: before(seconds),
    containerID: id(letter),
  },
});
const status = (name: string, more: object) => ({
  name,
  image: 'web:1',
  imageID: '',
  ready: false,
  restartCount: 0,
  state: {},
  lastState: {},
  ...more,
});
const pod = (name: string, phase: string, statuses: readonly object[]) => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name, namespace: 'night', uid: `uid-${name}`, generation: 1, creationTimestamp: before(600) },
  spec: {
    nodeName: 'node-a',
    containers: [{ name: 'app', image: 'web:1', env: [{ name: 'SINCE', value: before(0) }] }],
  },
  status: { phase, containerStatuses: statuses },
});

const OBJECTS = [
  pod('crashing', 'Running', [
    status('app', {
      state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } },
      lastState: ended('a', 30),
      containerID: id('a'),
      restartCount: 3,
    }),
  ]),
  pod('shouting', 'Running', [
    status('app', {
      state: { running: { startedAt: before(300) } },
      lastState: ended('b', 310),
      containerID: id('c'),
      ready: true,
    }),
  ]),
  {
    kind: 'Event',
    apiVersion: 'v1',
    metadata: { name: 'web-1.abc', namespace: 'night', uid: 'event-1', creationTimestamp: before(60) },
    involvedObject: { kind: 'ReplicaSet', namespace: 'night', name: 'web-1', uid: 'rs-1', apiVersion: 'apps/v1' },
    reason: 'FailedCreate',
    message: 'exceeded quota',
    source: { component: 'replicaset-controller' },
    type: 'Warning',
    eventTime: null,
    firstTimestamp: before(60),
    lastTimestamp: before(10),
    count: 4,
    reportingComponent: 'replicaset-controller',
    reportingInstance: '',
  },
  { kind: 'Deployment', apiVersion: 'apps/v1', metadata: { name: 'web', namespace: 'night', uid: 'd-1' }, spec: {} },
  { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'key', namespace: 'night' } },
];

let cluster: LocalCluster;
let client: Client;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kdebug-recording-'));
  mkdirSync(join(folder, 'logs'));
  writeFileSync(join(folder, 'at.txt'), `${before(0)}\n`);
  writeFileSync(join(folder, 'objects.json'), JSON.stringify(OBJECTS));
  const stamp = (seconds: number) => before(seconds).replace('Z', '.123456789Z');
  writeFileSync(join(folder, 'logs/crashing_app.previous.log'), `${stamp(32)} one\n${stamp(31)} panic: two\n`);
  writeFileSync(join(folder, 'logs/shouting_app.log'), `${stamp(20)} ERROR now\n`);
  writeFileSync(join(folder, 'logs/shouting_app.previous.log'), `${stamp(400)} ERROR before\n`);
  cluster = await startLocalCluster({ kubeletDelayMs: 0 });
  cluster.loadRecorded(folder);
  client = new Client(cluster);
});

afterAll(async () => {
  await client.close();
  await cluster.stop();
  rmSync(folder, { recursive: true });
});

/** How long ago, to the nearest ten seconds: the cluster's clock goes on. */
const ago = (time: string) => Math.round((Date.now() - Date.parse(time)) / 10_000) * 10;
const get = async (path: string) => (await client.get(path)).json;
const PODS = '/api/v1/namespaces/night/pods';
const log = (name: string, query: string) => client.get(`${PODS}/${name}/log?timestamps=true&${query}`);

describe('a loaded recording', () => {
  it('has its objects, as old as they were when it was made', async () => {
    const { items } = await get(PODS);
    expect(items.map((each: { metadata: { name: string } }) => each.metadata.name)).toEqual(['crashing', 'shouting']);
    const [crashing] = items;
    expect(ago(crashing.metadata.creationTimestamp)).toBe(600);
    expect(ago(crashing.status.containerStatuses[0].lastState.terminated.finishedAt)).toBe(30);
    expect(await get('/apis/apps/v1/namespaces/night/deployments/web')).toMatchObject({ metadata: { uid: 'd-1' } });
    expect(await get('/api/v1/nodes/node-a')).toMatchObject({ kind: 'Node' });
  });

  it('leaves a time alone that is a word of the spec', async () => {
    expect((await get(`${PODS}/crashing`)).spec.containers[0].env[0].value).toBe(before(0));
  });

  it.each([
    ['type=Warning', 1],
    ['type=Warning,involvedObject.kind=ReplicaSet,involvedObject.name=web-1', 1],
    ['involvedObject.uid=rs-1,reason=FailedCreate', 1],
    ['involvedObject.kind=Pod', 0],
    ['type!=Warning', 0],
  ])('tells its events by %s', async (selector, found) => {
    const { items } = await get(`/api/v1/namespaces/night/events?fieldSelector=${encodeURIComponent(selector)}`);
    expect(items).toHaveLength(found);
    if (found > 0) expect(ago(items[0].lastTimestamp)).toBe(10);
  });

  it('refuses to select events by a field that the real server refuses', async () => {
    const answer = await client.get('/api/v1/namespaces/night/events?fieldSelector=message=x');
    expect(answer.json).toMatchObject({ code: 400, message: 'field label not supported: message' });
  });

  it('has its logs, under stamps that moved with it', async () => {
    const { text } = await log('shouting', 'tailLines=5');
    expect(text).toMatch(/^\S+\.123456789Z ERROR now\n$/);
    expect(ago(text.slice(0, 30))).toBe(20);
    expect((await log('shouting', 'previous=true')).text).toContain('ERROR before');
  });

  it('has the last words of a container between two starts, asked either way', async () => {
    for (const query of ['', 'previous=true', 'tailLines=1']) {
      expect((await log('crashing', query)).text).toMatch(/Z panic: two\n$/);
    }
    expect((await log('crashing', 'tailLines=1')).text.split('\n')).toHaveLength(2);
  });

  it('never changes, and runs only what joins a container that runs', async () => {
    const was = (await get(`${PODS}/crashing`)).status;
    const look = { image: 'registry.example.com/kdebug/autodiagnose:1', targetContainerName: 'app' };
    const launch = (name: string) => client.launch(name, [{ name: 'look', ...look }], { namespace: 'night' });
    expect((await launch('crashing')).status).toBe(200);
    expect((await launch('shouting')).status).toBe(200);
    const seen = await client.until('shouting', 'look', (each) => each.state.terminated !== undefined, 'night');
    expect(JSON.parse(seen.state.terminated.message)).toMatchObject({ kdebug: 1, findings: [] });
    expect((await get(`${PODS}/crashing`)).status).toEqual(was);
    expect((await get(`${PODS}/shouting`)).status.containerStatuses).toMatchObject([{ state: { running: {} } }]);
  });

  it('can be loaded into another namespace', async () => {
    cluster.loadRecorded(folder, 'day');
    const { items } = await get('/api/v1/namespaces/day/events');
    expect(items).toMatchObject([{ metadata: { namespace: 'day' }, involvedObject: { namespace: 'day' } }]);
    expect((await get('/apis/apps/v1/namespaces/day/deployments')).items).toHaveLength(1);
  });
});
