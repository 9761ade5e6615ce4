import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startAlertServer } from '../../../../src/adapters/http/index.ts';
import type { AlertNotification } from '../../../../src/core/alert/notification.ts';
import { KdebugError } from '../../../../src/core/errors.ts';
import { anAlertSource } from '../../../support/alerts.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const SECRET = 'a-secret-of-32-characters-000000';
const NOW_S = 1_763_710_200;
const SAMPLE = readFileSync('test/fixtures/webhooks/alertmanager.json', 'utf8');
const GRAFANA = readFileSync('test/fixtures/webhooks/grafana.json', 'utf8');

const SOURCES = {
  shop: anAlertSource(),
  grafana: anAlertSource({ name: 'grafana', format: 'grafana', secretEnv: 'GRAFANA_SECRET' }),
  unset: anAlertSource({ name: 'unset', secretEnv: 'NOT_SET' }),
};

class Served {
  readonly received: (readonly [string, AlertNotification])[] = [];
  readonly counted: (readonly [string, string])[] = [];
  readonly logged: unknown[] = [];
  failure: KdebugError | undefined;
  readonly #sockets: Socket[] = [];
  #server: Awaited<ReturnType<typeof startAlertServer>> | undefined;

  async start(): Promise<this> {
    const clock = new FakeClock();
    clock.jump(NOW_S * 1_000 - clock.now());
    const log = (_: string, fields?: unknown): void => void this.logged.push(fields);
    this.#server = await startAlertServer({
      port: 0,
      sources: () => SOURCES,
      secretOf: (name) => ({ ALERTS_SECRET: SECRET, GRAFANA_SECRET: SECRET, NOT_SET: 'short' })[name],
      receiver: {
        receive: async (source, notification) => {
          if (this.failure) throw this.failure;
          this.received.push([source, notification]);
          return 'accepted';
        },
      },
      metrics: { alertsReceived: (source, result) => void this.counted.push([source, result]) },
      log: { debug: log, info: log, warn: log, error: log },
      clock,
    });
    return this;
  }

  async post(path: string, body: string, headers: Record<string, string> = { authorization: `Bearer ${SECRET}` }) {
    const response = await fetch(`http://127.0.0.1:${this.#server?.port}${path}`, { method: 'POST', body, headers });
    return { status: response.status, ...((await response.json()) as { readonly result: string }) };
  }

  /** A connection that sends these words, and no more. */
  async open(words: string): Promise<Socket> {
    const socket = connect(this.#server?.port ?? 0, '127.0.0.1');
    this.#sockets.push(socket);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(words);
    return socket;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await this.#server?.close();
  }
}

let served: Served;
afterEach(() => served.stop());

const signed = (body: string, timestamp = String(NOW_S), secret = SECRET) => ({
  'x-grafana-alerting-timestamp': timestamp,
  'x-grafana-alerting-signature': createHmac('sha256', secret).update(`${timestamp}:${body}`).digest('hex'),
});

describe('POST /alerts/NAME', () => {
  it('answers 200 once the notification of Alertmanager is stored', async () => {
    served = await new Served().start();
    expect(await served.post('/alerts/shop', SAMPLE)).toEqual({ status: 200, result: 'accepted' });
    const [[source, notification] = []] = served.received;
    expect(source).toBe('shop');
    expect(notification).toMatchObject({
      groupKey: '{}:{alertname="KubePodCrashLooping", namespace="shop"}',
      truncated: 0,
      alerts: [{ isFiring: true, labels: { pod: 'web-1' }, startsAtMs: Date.parse('2026-11-21T07:29:00.123Z') }],
    });
    expect(notification?.alerts[0]?.endsAtMs).toBeUndefined();
    expect(served.counted).toEqual([['shop', 'accepted']]);
  });

  it('reads Grafana’s links, with a token or with its signature', async () => {
    served = await new Served().start();
    expect(await served.post('/alerts/grafana', GRAFANA)).toMatchObject({ status: 200 });
    expect(await served.post('/alerts/grafana', GRAFANA, signed(GRAFANA))).toMatchObject({ status: 200 });
    // Only a signature proves when it was sent.
    expect(served.received.map(([, { sentAtMs }]) => sentAtMs)).toEqual([undefined, NOW_S * 1_000]);
    expect(served.received[1]?.[1].alerts[0]?.links).toEqual({
      runbook: 'https://runbooks.example.com/crash',
      dashboard: 'https://grafana.example.com/d/abc?viewPanel=3',
      silence: 'https://grafana.example.com/alerting/silence/new',
      source: 'https://grafana.example.com/alerting/grafana/uid/view',
    });
  });

  it.each([
    ['without a secret', '/alerts/shop', {}],
    ['with another one', '/alerts/shop', { authorization: `Bearer ${SECRET}1` }],
    ['with the secret as a password', '/alerts/shop', { authorization: `Basic ${btoa(`a:${SECRET}`)}` }],
    ['with a signature where the source signs nothing', '/alerts/shop', signed(SAMPLE)],
    ['with the signature of another body', '/alerts/grafana', signed(`${SAMPLE} `)],
    ['with a signature of six minutes ago', '/alerts/grafana', signed(SAMPLE, String(NOW_S - 360))],
    ['with a signature of another secret', '/alerts/grafana', signed(SAMPLE, String(NOW_S), 'x'.repeat(32))],
    [
      'with a signature without a time, which would hold for ever',
      '/alerts/grafana',
      { 'x-grafana-alerting-signature': createHmac('sha256', SECRET).update(SAMPLE).digest('hex') },
    ],
  ])('refuses a request %s', async (_, path, headers) => {
    served = await new Served().start();
    expect(await served.post(path, SAMPLE, headers)).toEqual({ status: 401, result: 'alert_unauthorized' });
    expect(served.received).toEqual([]);
    expect(JSON.stringify(served.logged)).not.toContain(SECRET);
  });

  it('knows only the names of the policy', async () => {
    served = await new Served().start();
    for (const path of ['/alerts/other', '/alerts/__proto__', '/alerts/', '/alerts/shop/x', '/', '/alerts/shop?x=1'])
      expect(await served.post(path, SAMPLE)).toEqual({ status: 404, result: 'alert_source_unknown' });
    expect(new Set(served.counted.map(([source]) => source))).toEqual(new Set(['unknown']));
  });

  it('takes nothing for a source whose secret is too short', async () => {
    served = await new Served().start();
    const headers = { authorization: 'Bearer short' };
    expect(await served.post('/alerts/unset', SAMPLE, headers)).toEqual({
      status: 503,
      result: 'alert_secret_missing',
    });
  });

  it.each([
    ['no JSON', 'alerts!'],
    ['another object', '{"a":1}'],
    ['another version', SAMPLE.replace('"version": "4"', '"version": "3"')],
    ['Grafana’s body for Alertmanager', GRAFANA],
    ['an alert without a start', SAMPLE.replace('2026-11-21T07:29:00.123Z', 'yesterday')],
  ])('answers %s with 400', async (_, body) => {
    served = await new Served().start();
    expect(await served.post('/alerts/shop', body)).toEqual({ status: 400, result: 'alert_body_invalid' });
  });

  it('answers what is too large with 413', async () => {
    served = await new Served().start();
    const tooLarge = { status: 413, result: 'alert_body_too_large' };
    expect(await served.post('/alerts/shop', ' '.repeat(1_048_577))).toEqual(tooLarge);
    const { alerts, ...rest } = JSON.parse(SAMPLE);
    const many = JSON.stringify({ ...rest, alerts: Array.from({ length: 501 }, () => alerts[0]) });
    expect(await served.post('/alerts/shop', many)).toEqual(tooLarge);
  });

  it('asks for another try, never with 429, while it cannot store', async () => {
    served = await new Served().start();
    for (const code of ['store_unreachable', 'shutting_down', 'too_busy', 'run_elsewhere'] as const) {
      served.failure = new KdebugError(code);
      expect(await served.post('/alerts/shop', SAMPLE)).toEqual({ status: 503, result: code });
    }
  });

  it('says once that notifications are refused, and once that they are not', async () => {
    served = await new Served().start();
    await served.post('/alerts/shop', SAMPLE, {});
    await served.post('/alerts/shop', SAMPLE, {});
    // Of another source: it says nothing of this one.
    await served.post('/alerts/grafana', GRAFANA);
    await served.post('/alerts/shop', SAMPLE);
    expect(served.logged).toHaveLength(2);
    expect(served.logged[0]).toMatchObject({ source: 'shop', reason: 'alert_unauthorized' });
  });

  it('cuts what is long and leaves out what is no text', async () => {
    served = await new Served().start();
    const { alerts, ...rest } = JSON.parse(SAMPLE);
    const [alert] = alerts;
    const strange = { ...alert, annotations: { summary: 'x'.repeat(50_000) }, generatorURL: 'javascript:alert(1)' };
    await served.post('/alerts/shop', JSON.stringify({ ...rest, alerts: [strange] }));
    const read = served.received[0]?.[1].alerts[0];
    expect(read?.annotations.summary).toHaveLength(2_000);
    expect(read?.links.source).toBeUndefined();
  });
});

describe('somebody without the secret', () => {
  const claim = 'x-grafana-alerting-signature: 0\r\n';
  const head = (headers: string): string => `POST /alerts/grafana HTTP/1.1\r\nhost: x\r\n${headers}\r\n`;

  it('keeps nobody out by connections that say nothing', async () => {
    served = await new Served().start();
    await Promise.all(Array.from({ length: 450 }, () => served.open('POST /')));
    expect(await served.post('/alerts/shop', SAMPLE)).toMatchObject({ status: 200 });
  });

  it('keeps nobody out by bodies that never end', async () => {
    served = await new Served().start();
    const words = `${head(`${claim}content-length: 1000000\r\n`)}${'x'.repeat(900_000)}`;
    await Promise.all(Array.from({ length: 40 }, () => served.open(words)));
    expect(await served.post('/alerts/grafana', GRAFANA, signed(GRAFANA))).toMatchObject({ status: 200 });
    expect(await served.post('/alerts/shop', SAMPLE)).toMatchObject({ status: 200 });
  });

  it('who hangs up is no error of ours', async () => {
    served = await new Served().start();
    const socket = await served.open(head(`${claim}content-length: 100\r\n`));
    await served.post('/alerts/shop', SAMPLE);
    socket.destroy();
    await expect.poll(() => served.counted).toContainEqual(['grafana', 'alert_body_invalid']);
  });
});
