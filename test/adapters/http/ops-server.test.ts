import { afterEach, describe, expect, it } from 'vitest';
import {
  type Check,
  type OpsServer,
  type OpsServerOptions,
  startOpsServer,
} from '../../../src/adapters/http/ops-server.ts';
import { createMetrics } from '../../../src/adapters/metrics/index.ts';
import { KdebugError } from '../../../src/core/errors.ts';
import type { Clock } from '../../../src/lib/clock.ts';

const realClock: Pick<Clock, 'after'> = {
  after: (ms, wake) => {
    const timer = setTimeout(wake, ms);
    return () => clearTimeout(timer);
  },
};

const servers: OpsServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function aServer(
  checks: Record<string, Check> = {},
  clock: Pick<Clock, 'after'> = realClock,
  infos: OpsServerOptions['infos'] = {},
) {
  const metrics = createMetrics({ clock: { now: () => 0 } });
  const server = await startOpsServer({ port: 0, host: '127.0.0.1', checks, infos, metrics, clock });
  servers.push(server);
  const ask = async (path: string, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method });
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
  };
  return { server, metrics, ask };
}

describe('the operations server', () => {
  it('is alive as long as it answers, whatever the checks say', async () => {
    const { ask } = await aServer({ store: () => Promise.reject(new KdebugError('store_unreachable')) });
    expect(await ask('/livez')).toMatchObject({ status: 200, text: 'ok\n' });
  });

  it('is ready when every check passes', async () => {
    const { ask } = await aServer({ store: async () => {}, slack: async () => {} });
    expect(await ask('/readyz')).toMatchObject({ status: 200, text: '[+] store ok\n[+] slack ok\n' });
  });

  it('says which check failed, by code alone', async () => {
    const { ask } = await aServer({
      store: async () => {},
      prod: () => Promise.reject(new KdebugError('cluster_unreachable', { detail: 'https://10.0.0.1 refused' })),
      slack: () => {
        throw new Error('secret detail');
      },
    });
    expect(await ask('/readyz')).toMatchObject({
      status: 503,
      text: '[+] store ok\n[-] prod failed: cluster_unreachable\n[-] slack failed: internal_error\n',
    });
  });

  it.each([
    ['passes', async () => {}, 200, '[+] slack ok'],
    [
      'fails',
      () => Promise.reject(new KdebugError('slack_token_rejected')),
      503,
      '[-] slack failed: slack_token_rejected',
    ],
  ] as const)(
    'adds lines for people with ?verbose, which change no status, when a check %s',
    async (_, check, status, line) => {
      const infos = { policy: () => ['in force since Monday', 'file refused since Tuesday'] };
      const { ask } = await aServer({ slack: check }, realClock, infos);
      const lines = `${line}\n[i] policy in force since Monday\n[i] policy file refused since Tuesday\n`;
      expect(await ask('/readyz?verbose')).toMatchObject({ status, text: lines });
      expect(await ask('/readyz')).toMatchObject({ status, text: `${line}\n` });
    },
  );

  it('gives a check that never answers up', async () => {
    const waits: number[] = [];
    const impatient: Pick<Clock, 'after'> = {
      after: (ms, wake) => {
        waits.push(ms);
        queueMicrotask(wake);
        return () => {};
      },
    };
    const { ask } = await aServer({ store: () => new Promise(() => {}) }, impatient);
    expect(await ask('/readyz')).toMatchObject({ status: 503, text: '[-] store failed: timed_out\n' });
    expect(waits).toEqual([2_000]);
  });

  it.each([
    ['GET', '/', 404],
    ['GET', '/metrics/x', 404],
    ['GET', '/livez?verbose', 200],
    ['HEAD', '/livez', 200],
    ['POST', '/livez', 405],
    ['DELETE', '/metrics', 405],
  ])('answers %s %s with %i', async (method, path, status) => {
    const { ask } = await aServer();
    expect((await ask(path, method)).status).toBe(status);
  });

  it('refuses to start on a port that is taken', async () => {
    const { server, metrics } = await aServer();
    const second = startOpsServer({ port: server.port, host: '127.0.0.1', checks: {}, metrics, clock: realClock });
    await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});

describe('the metrics', () => {
  it('are served in Prometheus’ text format', async () => {
    const { ask, metrics } = await aServer();
    metrics.command('accepted', 12);
    const { status, type, text } = await ask('/metrics');
    expect(status).toBe(200);
    expect(type).toContain('text/plain; version=0.0.4');
    expect(text).toContain('kdebug_commands_total{result="accepted"} 1');
    expect(text).toContain('process_resident_memory_bytes');
  });

  it('show which readiness checks passed the last time', async () => {
    const { ask } = await aServer({ slack: async () => {}, store: () => Promise.reject(new Error('away')) });
    await ask('/readyz');
    const { text } = await ask('/metrics');
    expect(text).toContain('kdebug_check_ok{check="slack"} 1');
    expect(text).toContain('kdebug_check_ok{check="store"} 0');
  });
});
