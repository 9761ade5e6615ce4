import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalCluster, startLocalCluster } from '../../cluster/index.ts';
import { Client, isTerminated, lines } from './client.ts';

let cluster: LocalCluster;
let client: Client;

beforeAll(async () => {
  cluster = await startLocalCluster({ kubeletDelayMs: 20, logRotation: { maxBytes: 1024 * 1024, periodMs: 200 } });
  client = new Client(cluster);
  cluster.addPod({ name: 'a' });
  await client.until('a', 'app', (status) => status.state.running);
});

afterAll(async () => {
  await client.close();
  await cluster.stop();
});

const launch = async (name: string, ...command: string[]) => {
  await client.launch('a', [{ name, image: 'busybox:1', command }]);
};
const path = (name: string, query = '') => `/api/v1/namespaces/default/pods/a/log?container=${name}${query}`;

describe('pods/log', () => {
  it('before the start is a bad request with the reason for waiting', async () => {
    await client.launch('a', [{ name: 'none', image: 'localhost/none:1' }]);
    await client.until('a', 'none', ({ state }) => state.waiting?.reason === 'ImagePullBackOff');
    const { status, json } = await client.log('a', 'none');
    expect([status, json.reason]).toEqual([400, 'BadRequest']);
    expect(json.message).toBe('container "none" in pod "a" is waiting to start: trying and failing to pull image');
  });

  it.each([
    ['a container that is not there', 'nope', '', 400, 'container nope is not valid for pod a'],
    [
      'a life before the first',
      'app',
      '&previous=true',
      400,
      'previous terminated container "app" in pod "a" not found',
    ],
    [
      'no lines less than none',
      'app',
      '&tailLines=-1',
      422,
      'PodLogOptions "a" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
    ],
    [
      'no bytes',
      'app',
      '&limitBytes=0',
      422,
      'PodLogOptions "a" is invalid: limitBytes: Invalid value: 0: must be greater than 0',
    ],
    [
      'no time',
      'app',
      '&sinceTime=xx',
      400,
      'parsing time "xx" as "2006-01-02T15:04:05Z07:00": cannot parse "xx" as "2006"',
    ],
  ])('refuses %s', async (_what, container, query, status, message) => {
    const answer = await client.log('a', container, query);
    expect(answer.status).toBe(status);
    expect(answer.json.message).toBe(message);
  });

  it('limits bytes, tails lines and shows stamps', async () => {
    await launch('short', 'seq', '1', '5');
    await client.until('a', 'short', isTerminated);
    expect((await client.log('a', 'short', '&limitBytes=3')).text).toBe('1\n2');
    expect((await client.log('a', 'short', '&tailLines=2')).text).toBe('4\n5\n');
    expect((await client.log('a', 'short', '&timestamps=true')).text).toMatch(
      /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z \d\n){5}$/,
    );
  });

  it('ignores the fraction of sinceTime', async () => {
    await launch('since', 'echo', 'seen');
    await client.until('a', 'since', isTerminated);
    const stamp = (await client.log('a', 'since', '&timestamps=true')).text.split(' ')[0] ?? '';
    const endOfSecond = `${stamp.slice(0, 19)}.999999999Z`;
    expect((await client.log('a', 'since', `&sinceTime=${endOfSecond}`)).text).toBe('seen\n');
  });

  it('follows to the end', async () => {
    await launch('followed', 'sh', '-c', 'echo one; sleep 0.1; echo two');
    await client.until('a', 'followed', ({ state }) => state.running ?? state.terminated);
    const got: string[] = [];
    for await (const line of lines(await client.stream(path('followed', '&follow=true'), new AbortController().signal)))
      got.push(line);
    expect(got).toEqual(['one', 'two']);
  });

  it('can be cut by a fault after some bytes', async () => {
    await launch('cut', 'seq', '1', '1000');
    await client.until('a', 'cut', isTerminated);
    cluster.faults.queue({ kind: 'cut-log', afterBytes: 100 });
    let bytes = 0;
    const reading = (async () => {
      for await (const chunk of await client.stream(path('cut'), new AbortController().signal)) bytes += chunk.length;
    })();
    await expect(reading).rejects.toThrow();
    expect(bytes).toBeLessThanOrEqual(100);
  });

  it('of a fast writer is rotated away for who reads after the end, while a follow from the start has more of it', async () => {
    const rate = 40_000;
    await launch('fast', 'seq', '-w', '-r', String(rate), '-s', `${'.'.repeat(60)}\n`, '1', '60000');
    await client.until('a', 'fast', ({ state }) => state.running);
    const followed: string[] = [];
    for await (const line of lines(await client.stream(path('fast', '&follow=true'), new AbortController().signal)))
      followed.push(line);
    await client.until('a', 'fast', isTerminated);
    const after = (await client.log('a', 'fast')).text.split('\n').length - 1;
    expect(after).toBeLessThan(60_000);
    // How much more is a matter of how fast this machine reads.
    expect(new Set(followed.map((line) => line.slice(0, 5))).size).toBeGreaterThan(after);
  });
});
