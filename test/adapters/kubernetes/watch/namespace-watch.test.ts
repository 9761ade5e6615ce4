import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiClient } from '../../../../src/adapters/kubernetes/api/api-client.ts';
import { Connection } from '../../../../src/adapters/kubernetes/api/connection.ts';
import { WATCH_TIMES, type WatchTimes } from '../../../../src/adapters/kubernetes/watch/watch-stream.ts';
import { Watches } from '../../../../src/adapters/kubernetes/watch/watches.ts';
import type { PodRef } from '../../../../src/core/container/pod.ts';
import type { PodSeen } from '../../../../src/flow/ports/cluster.ts';
import { OneByOne } from '../../../../src/lib/one-by-one.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import {
  type Answer,
  json,
  rawPod,
  refusal,
  ScriptedApiServer,
  type SeenRequest,
} from '../support/scripted-api-server.ts';

const PODS = /^GET \/api\/v1\/namespaces\/shop\/pods$/;
const POD = /^GET \/api\/v1\/namespaces\/shop\/pods\/\w+$/;
const WEB: PodRef = { namespace: 'shop', name: 'web', uid: 'uid-web' };

let server: ScriptedApiServer;
let connection: Connection;
let clock: FakeClock;
let watches: Watches;
/** Watches that are open, oldest first. */
let streams: { readonly seen: SeenRequest; readonly response: ServerResponse }[];
/** What a LIST answers with. */
let pods: object[];
/** Absent: all pods are one page. */
let pages: Answer | undefined;
let listFaults: ReturnType<typeof refusal>[];
let watchFaults: ReturnType<typeof refusal>[];

const restarts: string[] = [];

beforeEach(async () => {
  restarts.length = 0;
  server = new ScriptedApiServer();
  await server.start();
  clock = new FakeClock();
  const source = { cluster: { inCluster: false, default: true }, kubeconfigPath: server.kubeconfig() };
  connection = new Connection(source, clock);
  watches = aWatches();
  streams = [];
  pods = [rawPod('web')];
  listFaults = [];
  pages = undefined;
  watchFaults = [];
  server.always(PODS, (seen, response) => {
    if (seen.query.watch === undefined) {
      const list = json(200, { metadata: { resourceVersion: String(100 + lists().length) }, items: pods });
      return (listFaults.shift() ?? pages ?? list)(seen, response);
    }
    const fault = watchFaults.shift();
    if (fault) return fault(seen, response);
    streams.push({ seen, response });
    response.writeHead(200).flushHeaders();
  });
});

afterEach(async () => {
  watches.close();
  await connection.close();
  await server.stop();
  expect(server.unexpected).toEqual([]);
});

function aWatches(times: Partial<WatchTimes> = {}): Watches {
  const silent = () => {};
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  const client = new ApiClient(connection, '0', clock);
  const onRestart = (reason: string) => void restarts.push(reason);
  const pages = new OneByOne();
  return new Watches({ client, clock, log, random: () => 0, times: { ...WATCH_TIMES, ...times }, pages, onRestart });
}

const lists = () => server.requests.filter(({ path, query }) => path.endsWith('/pods') && query.watch === undefined);

/** Time passes until the condition holds; every wait of the watch itself is over long before. */
async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2_000 && !holds(); turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    await clock.advance(20);
  }
  expect(holds()).toBe(true);
}

const tell = (event: unknown): void => {
  streams.at(-1)?.response.write(`${JSON.stringify(event)}\n`);
};

/** Watches the pod `web`; answers with what was seen. */
function watching(pod: PodRef = WEB): { seen: PodSeen[]; kinds(): string[]; close(): void } {
  const seen: PodSeen[] = [];
  const close = watches.of('shop').subscribe(pod, (sight) => seen.push(sight));
  return {
    seen,
    close,
    kinds: () => seen.map((sight) => (sight.kind === 'pod' ? sight.pod.metadata.resourceVersion : sight.kind)),
  };
}

describe('a namespace', () => {
  it('is listed once and watched once for everybody', async () => {
    const watch = watches.of('shop');
    const found = await Promise.all([watch.pod('web'), watch.pod('web'), watch.pods(() => true)]);
    const subscriber = watching();
    await until(() => subscriber.seen.length === 1 && streams.length === 1);

    expect(found.flat().map(({ metadata }) => metadata.name)).toEqual(['web', 'web', 'web']);
    expect(lists()).toHaveLength(1);
    expect(streams[0]?.seen.query).toMatchObject({
      allowWatchBookmarks: 'true',
      resourceVersion: '101',
      timeoutSeconds: '300',
    });
  });

  /** Answers each LIST with as many pods as it asks for, by the place in the list that `continue` names. */
  const inPages = (all: readonly object[]): void => {
    pages = (seen, response) => {
      const from = Number(seen.query.continue ?? 0);
      const to = from + Number(seen.query.limit);
      const metadata = { resourceVersion: '7', ...(to < all.length ? { continue: String(to) } : {}) };
      json(200, { metadata, items: all.slice(from, to) })(seen, response);
    };
  };
  const fatPod = (name: string, bytes: number) =>
    rawPod(name, { spec: { containers: [{ name: 'app', image: 'app:1', args: ['a'.repeat(bytes)] }] } });
  const MB = 1_000_000;

  it('whose pods are too large for one page is asked for in smaller pages, and in larger ones after these', async () => {
    const fat = Array.from({ length: 12 }, (_, at) => fatPod(`fat-${at}`, 1.4 * MB));
    const slim = Array.from({ length: 300 }, (_, at) => rawPod(`slim-${at}`));
    inPages([...fat, ...slim]);

    expect(await watches.of('shop').pods(() => true)).toHaveLength(312);
    const limits = lists().map(({ query }) => Number(query.limit));
    expect(limits.slice(0, 6)).toEqual([500, 100, 20, 4, 1, 2]);
    expect(limits.length).toBeLessThan(20);
  });

  it('with one pod that is too large by itself says which', async () => {
    inPages([rawPod('one'), rawPod('two'), fatPod('fat', 17 * MB)]);
    await expect(watches.of('shop').pods(() => true)).rejects.toMatchObject({
      code: 'cluster_failed',
      detail: 'the pod after two in shop is too large to be read',
    });
  });

  it('waits for the page of another one', async () => {
    const waiting: (() => void)[] = [];
    server.always(/^GET \/api\/v1\/namespaces\/\w+\/pods$/, (seen, response) => {
      if (seen.query.watch !== undefined) response.writeHead(200).flushHeaders();
      else waiting.push(() => json(200, { metadata: { resourceVersion: '7' }, items: [] })(seen, response));
    });
    const found = Promise.all(['one', 'two', 'three'].map((name) => watches.of(name).pods(() => true)));
    for (let answered = 0; answered < 3; answered += 1) {
      await until(() => waiting.length > answered);
      expect(lists()).toHaveLength(answered + 1);
      waiting[answered]?.();
    }
    await found;
  });

  it('is listed page by page', async () => {
    const pages = [
      json(200, { metadata: { resourceVersion: '7', continue: 'next' }, items: [rawPod('one')] }),
      json(200, { metadata: { resourceVersion: '7' }, items: [rawPod('two')] }),
    ];
    listFaults.push(...pages);

    expect((await watches.of('shop').pods(() => true)).map(({ metadata }) => metadata.name)).toEqual(['one', 'two']);
    expect(lists().map(({ query }) => query.continue)).toEqual([undefined, 'next']);
  });

  it('that cannot be listed fails those who wait, by its own code, and is tried again for the others', async () => {
    listFaults.push(refusal(403, 'Forbidden'));
    const subscriber = watching();

    await expect(watches.of('shop').pod('web')).rejects.toMatchObject({ code: 'cluster_forbidden' });
    await until(() => subscriber.kinds().includes('1'));
  });

  it('is asked for a pod that is not known yet, before it is said not to exist', async () => {
    server.once(POD, json(200, rawPod('fresh')));
    server.once(POD, refusal(404, 'NotFound'));

    expect((await watches.of('shop').pod('fresh')).metadata.name).toBe('fresh');
    await expect(watches.of('shop').pod('nobody')).rejects.toMatchObject({ code: 'pod_not_found' });
  });

  it('that nobody has used for a while is no longer watched', async () => {
    watches = aWatches({ lingerMs: 1_000 });
    await watches.of('shop').pod('web');
    await until(() => streams.length === 1);
    const closed = new Promise<void>((resolve) => streams[0]?.response.on('close', resolve));
    await clock.advance(2_000);

    await closed;
  });

  it('too many is refused, unless one of them is unused', async () => {
    watches = aWatches({ maxNamespaces: 1 });
    const subscriber = watching();
    expect(() => watches.of('other')).toThrow(expect.objectContaining({ code: 'cluster_busy' }));
    subscriber.close();
    server.always(/namespaces\/other\/pods$/, json(200, { metadata: {}, items: [] }));
    expect(watches.of('other')).toBeDefined();
  });
});

describe('a subscriber', () => {
  it('sees every change of its pod, and nothing of others', async () => {
    const subscriber = watching();
    await until(() => streams.length === 1 && subscriber.seen.length === 1);
    tell({ type: 'MODIFIED', object: rawPod('other', { version: '2' }) });
    tell({ type: 'MODIFIED', object: rawPod('web', { version: '3' }) });
    tell({ type: 'DELETED', object: rawPod('web', { version: '4' }) });

    await until(() => subscriber.seen.length === 3);
    expect(subscriber.kinds()).toEqual(['1', '3', 'gone']);
  });

  it('is told when a pod of the same name takes the place of its own', async () => {
    const subscriber = watching();
    await until(() => streams.length === 1 && subscriber.seen.length === 1);
    tell({ type: 'ADDED', object: rawPod('web', { uid: 'uid-new', version: '2' }) });

    await until(() => subscriber.seen.length === 2);
    expect(subscriber.kinds()).toEqual(['1', 'replaced']);
  });

  it('of a pod that is not there is told so, after the server was asked', async () => {
    pods = [];
    server.once(POD, refusal(404, 'NotFound'));
    const subscriber = watching();

    await until(() => subscriber.seen.length > 0);
    expect(subscriber.kinds()).toEqual(['gone']);
  });

  it('that has closed hears nothing more', async () => {
    const subscriber = watching();
    const other = watching();
    await until(() => streams.length === 1 && other.seen.length === 1);
    subscriber.close();
    tell({ type: 'MODIFIED', object: rawPod('web', { version: '2' }) });

    await until(() => other.seen.length === 2);
    expect(subscriber.kinds()).toEqual(['1']);
  });

  it('that throws harms nobody else', async () => {
    watches.of('shop').subscribe(WEB, () => {
      throw new Error('broken');
    });
    const subscriber = watching();
    await until(() => streams.length === 1 && subscriber.seen.length === 1);
    tell({ type: 'MODIFIED', object: rawPod('web', { version: '2' }) });

    await until(() => subscriber.seen.length === 2);
  });
});

describe('a watch', () => {
  it('that the server closes is resumed where it stopped, without a list', async () => {
    const subscriber = watching();
    await until(() => streams.length === 1 && subscriber.seen.length === 1);
    tell({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '555' } } });
    await until(() => server.requests.length > 0);
    streams[0]?.response.end();

    await until(() => streams.length === 2);
    expect(streams[1]?.seen.query.resourceVersion).toBe('555');
    expect(lists()).toHaveLength(1);
  });

  it('that is closed at once, again and again, is not opened in a tight loop', async () => {
    const subscriber = watching();
    for (let closed = 1; closed <= 5; closed += 1) {
      await until(() => streams.length === closed);
      streams.at(-1)?.response.end();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(streams.length).toBeLessThanOrEqual(6);
    subscriber.close();
  });

  const LOSSES: [string, () => void][] = [
    ['expires in the stream', () => tell({ type: 'ERROR', object: { code: 410, reason: 'Expired' } })],
    ['fails in the stream', () => tell({ type: 'ERROR', object: { code: 500 } })],
    ['breaks', () => streams.at(-1)?.response.destroy()],
    ['brings garbage', () => streams.at(-1)?.response.write('{"type":"ADDED","obj\n')],
    ['brings an endless line', () => streams.at(-1)?.response.write('x'.repeat(17 * 1_024 * 1_024))],
  ];

  it.each(LOSSES)('that %s is begun anew from a list, and no end is missed', async (_name, lose) => {
    const subscriber = watching();
    await until(() => streams.length === 1 && subscriber.seen.length === 1);
    pods = [rawPod('web', { version: '9' })];
    lose();

    await until(() => streams.length === 2 && subscriber.seen.length === 2);
    expect(subscriber.kinds()).toEqual(['1', '9']);
    pods = [];
    streams.at(-1)?.response.destroy();
    await until(() => subscriber.seen.length === 3);
    expect(subscriber.kinds()).toEqual(['1', '9', 'gone']);
  });

  it('that is refused is begun anew from a list, however often', async () => {
    watchFaults.push(
      refusal(410, 'Expired'),
      refusal(500, 'InternalError'),
      json(429, {}, { 'retry-after': '3' }),
      refusal(403, 'Forbidden'),
    );
    const subscriber = watching();

    await until(() => streams.length === 1);
    expect(lists()).toHaveLength(5);
    expect(restarts).toEqual(['expired', 'cluster_failed', 'cluster_busy', 'cluster_forbidden']);
    tell({ type: 'MODIFIED', object: rawPod('web', { version: '2' }) });
    await until(() => subscriber.kinds().includes('2'));
  });

  it('that is silent for longer than bookmarks allow is taken for dead', async () => {
    const subscriber = watching();
    await until(() => streams.length === 1 && subscriber.seen.length === 1);
    await clock.advance(94_000);
    expect(streams).toHaveLength(1);
    pods = [rawPod('web', { version: '9' })];
    await clock.advance(2_000);

    await until(() => subscriber.kinds().includes('9'));
    expect(restarts).toEqual(['silent']);
  });

  it('may bring events of 10 MB and of kinds that nobody knows', async () => {
    const subscriber = watching();
    await until(() => streams.length === 1 && subscriber.seen.length === 1);
    tell({ type: 'SOMETHING', object: { x: 1 } });
    tell({ type: 'MODIFIED', object: { ...rawPod('web', { version: '2' }), ballast: 'x'.repeat(10e6) } });

    await until(() => subscriber.seen.length === 2);
    expect(streams).toHaveLength(1);
  });
});
