import { describe, expect, it } from 'vitest';
import type { StampedLine, TargetLogRequest } from '../../../src/flow/ports/cluster.ts';
import { oneCluster } from './support/one-cluster.ts';
import { type Answer, json, refusal } from './support/scripted-api-server.ts';

const now = oneCluster();
const AT = Date.UTC(2026, 0, 1);
const stamped = (text: string, second = 0) =>
  `${new Date(AT + second * 1_000).toISOString().slice(0, 19)}.000000000Z ${text}\n`;

const text =
  (...parts: readonly (string | Buffer)[]): Answer =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    for (const part of parts) response.write(part);
    response.end();
  };

async function read(more: Partial<TargetLogRequest> = {}): Promise<StampedLine[]> {
  const lines: StampedLine[] = [];
  const pod = { namespace: 'shop', name: 'web-1', uid: 'u' };
  const usual = { pod, containerName: 'web', previous: false, tailLines: 50, limitBytes: 16_384 };
  const signal = new AbortController().signal;
  await now().cluster.readTargetLog({ ...usual, signal, ...more }, (line) => lines.push(line));
  return lines;
}

describe('the newest lines of a container', () => {
  it('come in order with the time of their stamps', async () => {
    const { server } = now();
    server.once(/log$/, text(stamped('starting'), stamped('', 1), stamped('bye ✓', 2)));
    expect(await read()).toEqual([
      { atMs: AT, text: 'starting' },
      { atMs: AT + 1_000, text: '' },
      { atMs: AT + 2_000, text: 'bye ✓' },
    ]);
    const { path, query } = server.requests[0] ?? {};
    expect(path).toBe('/api/v1/namespaces/shop/pods/web-1/log');
    expect(query).toEqual({ container: 'web', timestamps: 'true', tailLines: '50' });
  });

  it('are those of the last incarnation on request, read as the person', async () => {
    const { server } = now();
    server.once(/log$/, text());
    const actingAs = { user: 'roy', groups: ['team'], slackUser: 'U1' };
    expect(await read({ previous: true, actingAs })).toEqual([]);
    expect(server.requests[0]?.query).toMatchObject({ previous: 'true' });
    expect(server.requests[0]?.headers).toMatchObject({
      'impersonate-user': 'roy',
      'impersonate-group': 'team',
      'impersonate-extra-slack-user': 'U1',
    });
  });

  it('include a last line without its end', async () => {
    now().server.once(/log$/, text(stamped('one'), stamped('two', 1).trimEnd()));
    expect((await read()).map((line) => line.text)).toEqual(['one', 'two']);
  });

  it('are the last ones where the limit does not hold all', async () => {
    const many = Array.from({ length: 3_000 }, (_, index) => stamped(String(index).padStart(10, '0'), index));
    now().server.once(/log$/, text(many.join('')));
    expect((await read({ limitBytes: 25 })).map((line) => line.text)).toEqual(['0000002998', '0000002999']);
  });

  it('are cut at 16 KiB, never within a word: half a secret looks like none', async () => {
    const long = `error ${'a '.repeat(8_180)}ghp_0123456789abcdefghij and more`;
    now().server.once(/log$/, text(stamped(long), stamped('next', 1), stamped('x'.repeat(16_385), 2)));
    const lines = await read({ limitBytes: 1024 * 1024 });
    expect(lines.map((line) => line.text)).toEqual([`error ${'a '.repeat(8_180)}`.trimEnd(), 'next', '']);
  });

  it('of exactly 16 KiB are whole, of any characters', async () => {
    const whole = `${'a'.repeat(16_381)}✓`;
    now().server.once(/log$/, text(stamped(whole), stamped(`b ${'✓'.repeat(6_000)}`, 1)));
    const lines = await read({ limitBytes: 1024 * 1024 });
    expect(lines.map((line) => line.text)).toEqual([whole, 'b']);
  });

  it('give others a turn, however long their reader takes for a line', async () => {
    const long = `error ${'no '.repeat(5_400)}`;
    now().server.once(/log$/, text(...Array.from({ length: 40 }, (_, second) => stamped(long, second))));
    const turns = new Set<number>();
    let turn = 0;
    const next = (): void => {
      turn += 1;
      pending = setImmediate(next);
    };
    let pending = setImmediate(next);
    const pod = { namespace: 'shop', name: 'web-1', uid: 'u' };
    const request = { pod, containerName: 'web', previous: false, tailLines: 5_000, limitBytes: 4 * 1024 * 1024 };
    await now().cluster.readTargetLog({ ...request, signal: new AbortController().signal }, () => {
      now().clock.standStill(4);
      turns.add(turn);
    });
    clearImmediate(pending);
    expect(turns.size).toBeGreaterThanOrEqual(8);
  });

  it('are not given out once the reader has stopped', async () => {
    const { server, cluster } = now();
    const many = Array.from({ length: 1_000 }, (_, index) => stamped(`line ${index}`, index));
    server.once(/log$/, text(many.join('')));
    const stop = new AbortController();
    const lines: StampedLine[] = [];
    const pod = { namespace: 'shop', name: 'web-1', uid: 'u' };
    const request = { pod, containerName: 'web', previous: false, tailLines: 5_000, limitBytes: 1_000_000 };
    await cluster.readTargetLog({ ...request, signal: stop.signal }, (line) => {
      lines.push(line);
      stop.abort();
    });
    expect(lines).toHaveLength(1);
  });

  it('are nothing when the reader stops before the node answers', async () => {
    const stop = new AbortController();
    now().server.once(/log$/, () => stop.abort());
    expect(await read({ signal: stop.signal })).toEqual([]);
    expect(await read({ signal: stop.signal })).toEqual([]);
    expect(now().server.requests).toHaveLength(1);
  });
});

const badRequest = (message: string): Answer =>
  json(400, { kind: 'Status', status: 'Failure', reason: 'BadRequest', message, code: 400 });

describe('a container without a log', () => {
  it.each([
    'previous terminated container "web" in pod "web-1" not found',
    'container "web" in pod "web-1" is waiting to start: ContainerCreating',
    'container "web" in pod "web-1" is waiting to start: trying and failing to pull image',
    'container "web" in pod "web-1" is not available',
    'pods "web-1" does not have a host assigned',
  ])('has no lines: %s', async (message) => {
    now().server.once(/log$/, badRequest(message));
    expect(await read()).toEqual([]);
  });
});

describe('a log that cannot be read', () => {
  it.each([
    ['pod_not_found', refusal(404, 'NotFound')],
    ['cluster_forbidden', refusal(403, 'Forbidden')],
    ['cluster_failed', badRequest('container nginx is not valid for pod web-1')],
    ['cluster_failed', refusal(500, 'InternalError')],
    ['log_unavailable', text('unable to retrieve container logs for containerd://0123456789')],
    ['log_unavailable', text(stamped('one'), 'failed to read log file "/var/log/0.log": input/output error')],
    ['log_unavailable', text('some words of a newer node\n')],
  ])('is an error: %s', async (code, answer) => {
    now().server.once(/log$/, answer);
    await expect(read()).rejects.toMatchObject({ code });
  });

  it('is one whose newest lines are far beyond the limit', async () => {
    const long = stamped('x'.repeat(1024 * 1024));
    now().server.once(/log$/, text(...Array.from({ length: 5 }, () => long)));
    await expect(read()).rejects.toMatchObject({ code: 'log_unavailable' });
  });
});
