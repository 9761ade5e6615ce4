import { afterEach, beforeEach, expect, it } from 'vitest';
import { type LocalCluster, startLocalCluster } from '../../cluster/index.ts';
import { Client, lines } from './client.ts';

let cluster: LocalCluster;
let client: Client;
let stop: AbortController;

beforeEach(async () => {
  cluster = await startLocalCluster({ kubeletDelayMs: 0, bookmarkMs: 30, historyLength: 50 });
  client = new Client(cluster);
  stop = new AbortController();
});

afterEach(async () => {
  stop.abort();
  await client.close();
  await cluster.stop();
});

const PODS = '/api/v1/namespaces/default/pods';

interface Event {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: looked at field by field
  readonly object: any;
}

async function* watch(query: string): AsyncGenerator<Event> {
  for await (const line of lines(await client.stream(`${PODS}?watch=true&${query}`, stop.signal)))
    yield JSON.parse(line);
}

/** Events up to the first that `isLast`. */
async function upTo(events: AsyncGenerator<Event>, isLast: (event: Event) => boolean): Promise<Event[]> {
  const got: Event[] = [];
  for await (const event of events) {
    got.push(event);
    if (isLast(event)) return got;
  }
  return got;
}

const version = async (): Promise<string> => (await client.get(`${PODS}?limit=1`)).json.metadata.resourceVersion;

it('a watch without a version begins with what is there, then tells changes', async () => {
  cluster.addPod({ name: 'old' });
  const events = watch('');
  const first = await events.next();
  cluster.addPod({ name: 'new' });
  const more = await upTo(events, ({ type, object }) => type === 'ADDED' && object.metadata.name === 'new');
  expect([first.value.type, first.value.object.metadata.name]).toEqual(['ADDED', 'old']);
  expect(more.at(-1)?.object.kind).toBe('Pod');
});

it('a watch resumes after a version, in order, without repeats', async () => {
  const from = await version();
  cluster.addPod({ name: 'p' });
  cluster.deletePod('default', 'p', 0);
  const events = await upTo(watch(`resourceVersion=${from}`), ({ type }) => type === 'DELETED');
  const versions = events.map(({ object }) => Number(object.metadata.resourceVersion));
  expect(events[0]?.type).toBe('ADDED');
  expect([...new Set(versions)].sort((a, b) => a - b)).toEqual(versions);
});

it('a version that is forgotten is told as 410 inside the stream', async () => {
  const from = await version();
  cluster.addPod({ name: 'p' });
  cluster.forgetHistory();
  const [event] = await upTo(watch(`resourceVersion=${from}`), () => true);
  expect(event).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
});

it('the history is bounded: many changes make an old version too old', async () => {
  const from = await version();
  for (let each = 0; each < 60; each += 1) {
    cluster.addPod({ name: 'again' });
    cluster.deletePod('default', 'again', 0);
  }
  const [event] = await upTo(watch(`resourceVersion=${from}`), () => true);
  expect(event?.object.code).toBe(410);
});

it('bookmarks come when they are asked for and carry the newest version', async () => {
  cluster.addNamespace('elsewhere');
  cluster.addPod({ name: 'p', namespace: 'elsewhere' });
  const [bookmark] = await upTo(
    watch(`resourceVersion=${await version()}&allowWatchBookmarks=true`),
    ({ type }) => type === 'BOOKMARK',
  );
  expect(bookmark?.object.metadata.resourceVersion).toBe(await version());
});

it('a pod that loses its label is deleted for who selects by it', async () => {
  cluster.addPod({ name: 'p', labels: { app: 'x' } });
  const events = watch('labelSelector=app%3Dx');
  await events.next();
  await client.call(
    'PATCH',
    `${PODS}/p`,
    { metadata: { labels: { app: 'y' } } },
    { 'content-type': 'application/merge-patch+json' },
  );
  const rest = await upTo(events, ({ type }) => type === 'DELETED');
  expect(rest.at(-1)?.object.metadata.labels).toEqual({ app: 'y' });
});

it('timeoutSeconds ends a watch cleanly', async () => {
  expect(await upTo(watch(`resourceVersion=${await version()}&timeoutSeconds=1`), () => false)).toEqual([]);
});

it.each([
  ['clean', { kind: 'close-watch', how: 'clean', afterEvents: 1 }],
  ['reset', { kind: 'close-watch', how: 'reset', afterEvents: 1 }],
] as const)('a fault ends a watch after an event: %s', async (how, fault) => {
  cluster.addPod({ name: 'p' });
  cluster.faults.queue(fault);
  const reading = upTo(watch(''), () => false);
  if (how === 'clean') expect(await reading).toHaveLength(1);
  else await expect(reading).rejects.toThrow();
});

it('a fault answers a good version with 410, and another gives a line that is no JSON', async () => {
  cluster.addPod({ name: 'p' });
  cluster.faults.queue({ kind: 'gone-410' });
  cluster.faults.queue({ kind: 'garbage-watch-line' });
  const [gone] = await upTo(watch(`resourceVersion=${await version()}`), () => true);
  expect(gone?.object.code).toBe(410);
  await expect(upTo(watch(''), () => false)).rejects.toThrow(SyntaxError);
});

it('a fault says any line first', async () => {
  cluster.faults.queue({ kind: 'watch-line', line: '{"type":"RENAMED"}' });
  cluster.addPod({ name: 'p' });
  const events = await upTo(watch(''), ({ type }) => type === 'ADDED');
  expect(events.map(({ type }) => type)).toEqual(['RENAMED', 'ADDED']);
});

it('after the restore of an older etcd a version of before is too large, and what is listed is older', async () => {
  cluster.addPod({ name: 'p' });
  const from = await version();
  cluster.restoreVersions(20);
  expect(Number(await version())).toBe(Number(from) - 20);
  expect((await client.get(`${PODS}?watch=true&resourceVersion=${from}`)).status).toBe(504);
  expect(Number((await client.get(`${PODS}/p`)).json.metadata.resourceVersion)).toBeLessThanOrEqual(Number(from) - 20);
});

it('watches can be silenced: the connection stays and nothing more comes', async () => {
  cluster.addPod({ name: 'p' });
  const silent = watch('');
  await silent.next();
  cluster.watches.endAll('silence');
  const other = watch('');
  await other.next();
  cluster.addPod({ name: 'q' });
  await upTo(other, ({ object }) => object.metadata.name === 'q');
  const none = Symbol('nothing came');
  const next = silent.next();
  await client.get(PODS);
  expect(await Promise.race([next, Promise.resolve(none)])).toBe(none);
});

it('lists come in pages, selected by labels and fields', async () => {
  for (const name of ['a', 'b', 'c', 'd']) cluster.addPod({ name, labels: { app: name < 'c' ? 'x' : 'y' } });
  const first = (await client.get(`${PODS}?limit=3`)).json;
  const second = (await client.get(`${PODS}?limit=3&continue=${first.metadata.continue}`)).json;
  const names = (json: { items: { metadata: { name: string } }[] }) => json.items.map(({ metadata }) => metadata.name);
  expect([names(first), names(second)]).toEqual([['a', 'b', 'c'], ['d']]);
  expect(first.metadata.remainingItemCount).toBe(1);
  expect(names((await client.get(`${PODS}?labelSelector=app+in+(x,z),app!%3Dy,app`)).json)).toEqual(['a', 'b']);
  expect(names((await client.get(`${PODS}?fieldSelector=metadata.name%3Dc,spec.nodeName%3Dlocal-node`)).json)).toEqual([
    'c',
  ]);
  expect((await client.get(`${PODS}?fieldSelector=foo%3Db`)).json.message).toBe('field label not supported: foo');
  expect((await client.get(`${PODS}?labelSelector=a%3D%3D%3Db`)).status).toBe(400);
  expect((await client.get(`${PODS}?continue=abc`)).status).toBe(400);
});
