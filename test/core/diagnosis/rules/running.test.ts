import { describe, expect, it } from 'vitest';
import type { PodContainer } from '../../../../src/core/container/pod.ts';
import { firstAnswer } from '../../../../src/core/diagnosis/first-answer.ts';
import { answer, at, CALM, ended, factsOf, podOf, quietLog, shape, warning, withStatus } from './facts.ts';

const unhealthy = (message: string, count = 8, msAgo = 3_000) =>
  warning('Unhealthy', message, { count, atMs: Date.parse(at(-msAgo)), fieldPath: 'spec.containers{web}' });

const REFUSED = 'Get "http://10.0.0.5:8080/healthz": dial tcp 10.0.0.5:8080: connect: connection refused';
const unready = (spec: Partial<PodContainer> = {}, runningMs = 300_000) =>
  withStatus({ running: { startedAt: at(-runningMs) } }, spec);

describe('a failing probe', () => {
  const http = { readiness: { by: 'http', port: 8080, path: '/healthz', timeoutSeconds: 2 } } as const;

  it('is told with where it asks and what it gets', () => {
    expect(
      answer({ pod: unready({ probes: http }), events: [unhealthy(`Readiness probe failed: ${REFUSED}`)] }),
    ).toMatchObject({
      line: 'web’s readiness probe fails on HTTP :8080/healthz: connection refused (8 times, last 3 s ago)',
      codes: ['probe_failing'],
      rank: 1,
    });
  });

  it('asks the wrong port where the container declares others and refuses', () => {
    const found = answer({
      pod: unready({ probes: http, ports: [80] }),
      events: [unhealthy(`Readiness probe failed: ${REFUSED}`)],
    });
    expect(found.line).toBe(
      'web’s readiness probe fails on HTTP :8080/healthz: connection refused (8 times, last 3 s ago); web declares only port 80',
    );
    expect(found).toMatchObject({
      codes: ['probe_wrong'],
      next: expect.stringContaining('Correct the port of the readiness probe in the manifest of the Deployment web'),
    });
    expect(
      answer({
        pod: unready({ probes: http, ports: [8080] }),
        events: [unhealthy(`Readiness probe failed: ${REFUSED}`)],
      }).codes,
    ).toEqual(['probe_failing']);
  });

  it.each([
    ['Readiness probe failed: HTTP probe failed with statuscode: 503', http, 'on HTTP :8080/healthz: it answers 503'],
    ['Readiness probe failed: HTTP probe failed with statuscode: 404', http, 'on HTTP :8080/healthz: it answers 404'],
    [
      'Readiness probe failed: Get "http://10.0.0.5:8080/healthz": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
      http,
      'no answer within 2 s',
    ],
    [
      'Readiness probe failed: dial tcp 10.0.0.5:5432: connect: connection refused',
      { readiness: { by: 'tcp', port: 5432 } },
      'on TCP :5432: connection refused',
    ],
    [
      "Readiness probe failed: cat: can't open '/tmp/ready': No such file or directory\n",
      { readiness: { by: 'exec', command: 'cat /tmp/ready' } },
      "on “cat /tmp/ready”: “cat: can't open '/tmp/ready': No such file or directory”",
    ],
    [
      'Readiness probe failed: ',
      { readiness: { by: 'exec', command: 'check' } },
      'on “check”: it fails without a word',
    ],
    [`Readiness probe failed: ${REFUSED}`, {}, 'on HTTP :8080/healthz: connection refused'],
  ] as const)('is told in few words: %s', (message, probes, words) => {
    expect(answer({ pod: unready({ probes }), events: [unhealthy(message)] }).line).toContain(words);
  });

  it('asks what is not there: a program of the image, or a port by its name, also in the first minute', () => {
    const missing =
      'Readiness probe errored and resulted in unknown state: rpc error: code = Unknown desc = failed to exec in container: OCI runtime exec failed: exec failed: unable to start container process: exec: "curl": executable file not found in $PATH: unknown';
    const exec = { readiness: { by: 'exec', command: 'curl -f localhost' } } as const;
    expect(answer({ pod: unready({ probes: exec }, 20_000), events: [unhealthy(missing)] })).toMatchObject({
      line: 'web’s readiness probe fails on “curl -f localhost”: curl is not in the image (8 times, last 3 s ago)',
      code: 'probe_wrong',
      rank: 1,
    });
    const named = 'Readiness probe errored and resulted in unknown state: strconv.Atoi: parsing "http": invalid syntax';
    const http = { readiness: { by: 'http', port: 'http', path: '/' } } as const;
    const of = (portNames?: string[]) =>
      answer({ pod: unready({ probes: http, ...(portNames ? { portNames } : {}) }), events: [unhealthy(named)] }).line;
    expect(of(['web'])).toContain('web has no port named http, its ports are named web');
    expect(of()).toContain('web has no port named http, it names none');
  });

  it('counts from the third failure on, or from its own threshold', () => {
    const of = (count: number, probes = {}) =>
      answer({ pod: unready({ probes }), events: [unhealthy(`Readiness probe failed: ${REFUSED}`, count)] }).codes;
    expect(of(2)).toEqual([]);
    expect(of(3)).toEqual(['probe_failing']);
    expect(of(1, { readiness: { by: 'tcp', failureThreshold: 1 } })).toEqual(['probe_failing']);
  });

  it('is only worth knowing in a container’s first minute, but for a path that is not there', () => {
    const of = (ms: number, words: string) =>
      answer({ pod: unready({}, ms), events: [unhealthy(`Readiness probe failed: ${words}`)] }).rank;
    expect(of(60_000, REFUSED)).toBe(3);
    expect(of(61_000, REFUSED)).toBe(1);
    expect(of(10_000, 'HTTP probe failed with statuscode: 404')).toBe(1);
  });

  it('belongs to this run of the container', () => {
    const pod = unready({}, 2_000);
    expect(answer({ pod, events: [unhealthy(`Readiness probe failed: ${REFUSED}`, 9, 3_000)] }).codes).toEqual([]);
  });

  it('comes behind the error that explains it', () => {
    const events = [unhealthy('Readiness probe failed: HTTP probe failed with statuscode: 503')];
    const logs = [quietLog('web', [shape({ line: 'dial tcp db:5432: connect: connection refused' })])];
    const pod = unready();
    const unmet = {
      ...pod,
      status: { ...pod.status, unmetConditions: [{ type: 'Ready', reason: '', message: '', since: at(-9_000) }] },
    };
    expect(answer({ pod: unmet, events, logs })).toMatchObject({
      codes: ['log_errors', 'probe_failing'],
      rank: 1,
      line: expect.stringMatching(/^db:5432 refuses connections: web logs 9 × /),
    });
  });
});

describe('a container that its probe kills', () => {
  const killed = (exitCode: number, endedMsAgo = 12_000, parts = {}) =>
    withStatus({
      running: { startedAt: at(1_000 - endedMsAgo) },
      restartCount: 4,
      lastTermination: ended(endedMsAgo, { exitCode, ...parts }),
    });
  const events = [unhealthy(`Liveness probe failed: ${REFUSED}`, 12, 14_000)];

  it.each([137, 143, 0])('is told by the probe, where it ended with %i shortly after a failure', (exitCode) => {
    const { line, codes } = answer({ pod: killed(exitCode), events });
    expect(codes).toEqual(['killed_by_probe']);
    expect(line).toBe(
      'web is killed by its liveness probe on HTTP :8080/healthz: connection refused (1 min after its start, before it was ready; restarted 4 times, last 12 s ago)',
    );
  });

  it('is not one that ended by itself, was out of memory, or ended long before the failures', () => {
    expect(answer({ pod: killed(1), events }).codes).toEqual(['crash_loop']);
    expect(answer({ pod: killed(137, 12_000, { reason: 'OOMKilled' }), events }).codes).toEqual(['last_oom_killed']);
    const early = [unhealthy(`Liveness probe failed: ${REFUSED}`, 12, 12_000 + 90_000)];
    expect(answer({ pod: killed(137), events: early }).codes).toEqual(['crash_loop']);
    expect(
      answer({ pod: killed(137), events: [unhealthy(`Readiness probe failed: ${REFUSED}`, 12, 14_000)] }).codes,
    ).toEqual(['crash_loop']);
  });
});

describe('a program that its probe does not reach', () => {
  const events = [unhealthy(`Readiness probe failed: ${REFUSED}`, 12)];
  const log = (parts: object) => ({ pod: unready(), events, logs: [{ ...quietLog(), ...parts }] });

  it('listens on 127.0.0.1 alone where it says so of that port', () => {
    expect(answer(log({ onLoopback: 'Running on http://127.0.0.1:8080' }))).toMatchObject({
      line: expect.stringMatching(/^web listens on 127\.0\.0\.1 alone, “Running on http:\/\/127\.0\.0\.1:8080”/),
      next: expect.stringContaining('0.0.0.0'),
      code: 'probe_failing',
    });
    expect(answer(log({ onLoopback: 'Running on http://127.0.0.1:9090' })).line).not.toContain('alone');
  });

  it('says what it does instead, if its log has no error', () => {
    expect(answer(log({ newest: 'Waiting for changelog lock....' })).line).toMatch(
      /; it says “Waiting for changelog lock\.\.\.\.”$/,
    );
    expect(answer(log({ newest: 'bye', shapes: [shape()] })).line).not.toContain('bye');
  });

  it('says what it waits for, where it answers 503, and nothing where it does not know the path', () => {
    const of = (status: number) => ({
      ...log({ newest: 'waiting for the cache of 3 shards' }),
      events: [unhealthy(`Readiness probe failed: HTTP probe failed with statuscode: ${status}`, 12)],
    });
    expect(answer(of(503)).line).toMatch(/; it says “waiting for the cache of 3 shards”$/);
    expect(answer(of(404)).line).not.toContain('shards');
  });

  it('says what it complained of before the probe killed it', () => {
    const pod = withStatus({
      running: { startedAt: at(-11_000) },
      restartCount: 4,
      lastTermination: ended(12_000, { exitCode: 137 }),
    });
    const killing = [unhealthy(`Liveness probe failed: ${REFUSED}`, 12, 14_000)];
    const lastWords = (line: string) => [{ containerName: 'web', line, more: [] }];
    expect(answer({ pod, events: killing, lastWords: lastWords('ERROR deadlock found') }).line).toMatch(
      /; before that it says “ERROR deadlock found”$/,
    );
    expect(answer({ pod, events: killing, lastWords: lastWords('shutting down') }).line).not.toContain('before that');
  });
});

describe('errors in the log of a running container', () => {
  const of = (parts = {}, more = {}) => answer({ logs: [quietLog('web', [shape(parts)])], ...more });

  it('are counted and dated, with a well-known cause first', () => {
    expect(of({ line: 'Timeout waiting for broker', count: 20, lastAtMs: Date.parse(at(-180_000)) })).toMatchObject({
      line: 'Ready; worth knowing: web logs 20 × “Timeout waiting for broker”, last 3 min ago',
      codes: ['log_errors'],
      rank: 3,
    });
    expect(of({ line: 'getaddrinfo ENOTFOUND smtp.shop' }).line).toMatch(
      /^Ready; worth knowing: the name smtp\.shop is not known: web logs 9 × /,
    );
  });

  it('are news for ten minutes', () => {
    expect(of({ lastAtMs: Date.parse(at(-600_000)) }).codes).toEqual(['log_errors']);
    expect(of({ lastAtMs: Date.parse(at(-601_000)) }).codes).toEqual([]);
    expect(of({ level: 'warning' }).codes).toEqual([]);
  });

  it('say which right a program lacks', () => {
    const line =
      'pods is forbidden: User "system:serviceaccount:shop:reader" cannot list resource "pods" in API group "" in the namespace "shop"';
    expect(of({ line })).toMatchObject({
      line: expect.stringMatching(/^Ready; worth knowing: the ServiceAccount reader in shop may not list pods: /),
      next: expect.stringContaining('RoleBinding'),
    });
  });

  it('say the exception before the request that it failed, and before a plain line that is as frequent', () => {
    const request = shape({ line: 'GET /price → 500', count: 12, isAccess: true });
    const plain = shape({ line: 'error while handling a request' });
    const exception = shape({ line: "Exception on /price [GET]: KeyError: 'CHF'" });
    expect(answer({ logs: [quietLog('web', [request, plain, exception])] }).line).toContain('KeyError');
    expect(answer({ logs: [quietLog('web', [request, plain])] }).line).toContain('error while handling');
    expect(answer({ logs: [quietLog('web', [request])] }).line).toContain('GET /price → 500');
  });

  it('say a well-known cause first, as long as it still comes', () => {
    const declined = shape({ line: 'payment declined', count: 500, lastAtMs: Date.parse(at(0)) });
    const of = (lastAtMs: number) =>
      answer({ logs: [quietLog('web', [declined, shape({ line: 'connect ECONNREFUSED 10.0.0.1:5432', lastAtMs })])] });
    expect(of(Date.parse(at(-60_000))).line).toContain('10.0.0.1:5432 refuses connections');
    expect(of(Date.parse(at(-180_000))).line).toContain('payment declined');
  });

  it('are warnings too, where one about a failure comes again and again', () => {
    const of = (parts: object) => answer({ logs: [quietLog('web', [shape({ level: 'warning', ...parts })])] });
    const line = 'Connection to node -1 could not be established';
    expect(of({ line, count: 3 })).toMatchObject({ code: 'log_errors', rank: 3 });
    expect(of({ line, count: 2 })).toMatchObject({ codes: [], healthy: true });
    expect(of({ line, count: 3, lastAtMs: Date.parse(at(-121_000)) }).codes).toEqual([]);
    expect(of({ line: 'apply request took too long', count: 900 })).toMatchObject({ codes: [], healthy: true });
  });

  it('are shown in the thread', () => {
    expect(
      firstAnswer(factsOf({ logs: [quietLog('web', [shape(), shape({ line: 'other', count: 1 })])] })).evidence,
    ).toEqual([{ title: 'Errors in the log of web', lines: ['9 × it broke', 'other'] }]);
  });
});

describe('Services of the pod', () => {
  const service = (parts = {}) => ({
    name: 'web',
    selector: { app: 'web' },
    ports: [{ port: 80, targetPort: 8080 }],
    addresses: { ready: 1, notReady: 0 },
    ...parts,
  });
  const none = { ready: 0, notReady: 0 };

  it('that select no pod are told with the label that differs', () => {
    const found = answer({ services: [service({ selector: { app: 'web-frontend' }, addresses: none })] });
    expect(found).toMatchObject({
      line: 'the Service web selects no pod: it wants app=web-frontend, this pod has app=web',
      codes: ['service_selects_nothing'],
      rank: 2,
    });
    expect(answer({ services: [service({ name: 'cart', selector: { app: 'cart' }, addresses: none })] }).codes).toEqual(
      [],
    );
    expect(answer({ services: [service({ selector: { app: 'web-frontend' }, addresses: undefined })] }).codes).toEqual(
      [],
    );
    expect(answer({ services: [service({ selector: { app: 'web-frontend' } })] }).codes).toEqual([]);
  });

  it('that send to a port that nobody declares, or to a name that no port has', () => {
    const of = (ports: object[], spec: Partial<PodContainer>) =>
      answer({ pod: podOf({ spec: { containers: [{ ...CALM, ...spec }] } }), services: [service({ ports })] });
    expect(of([{ port: 80, targetPort: 9090 }], { ports: [8080] })).toMatchObject({
      line: 'the Service web sends to port 9090, and the pod declares only 8080',
      rank: 2,
    });
    expect(
      of(
        [
          { port: 80, targetPort: 9090 },
          { port: 81, targetPort: 8080 },
        ],
        { ports: [8080] },
      ).rank,
    ).toBe(3);
    expect(of([{ port: 80, targetPort: 9090 }], {}).codes).toEqual([]);
    expect(of([{ port: 80, targetPort: 'http' }], { portNames: ['web'] })).toMatchObject({
      line: 'the Service web sends to the port named http, and the pod’s ports are named web',
      rank: 2,
    });
    expect(of([{ port: 80, targetPort: 'http' }], { portNames: ['http'] }).codes).toEqual([]);
    expect(of([{ port: 80, targetPort: 'http' }], { ports: [8080] })).toMatchObject({
      line: 'the Service web sends to the port named http, and no container of the pod names a port',
      rank: 2,
    });
  });

  it('that are headless send nowhere, and a sidecar may name the port', () => {
    const ports = [{ port: 80, targetPort: 'http' }];
    expect(answer({ services: [service({ ports, isHeadless: true })] }).codes).toEqual([]);
    const sidecar = { ...CALM, name: 'proxy', restartPolicy: 'Always', portNames: ['http'] };
    const withSidecar = podOf({ spec: { initContainers: [sidecar] } });
    expect(answer({ pod: withSidecar, services: [service({ ports })] }).codes).toEqual([]);
  });
});

describe('the node', () => {
  const node = (type: string, status: string) => ({ node: { name: 'node-a', conditions: [{ type, status }] } });

  it('is told when it is not ready, or under pressure', () => {
    expect(answer(node('Ready', 'Unknown'))).toMatchObject({
      line: 'the pod’s node node-a no longer answers',
      rank: 1,
    });
    expect(answer(node('MemoryPressure', 'True'))).toMatchObject({
      line: 'the node node-a reports MemoryPressure',
      rank: 2,
    });
    expect(answer(node('DiskPressure', 'False')).codes).toEqual([]);
    expect(answer({ node: undefined, pod: podOf({ status: { phase: 'Unknown' } }) }).line).toContain(
      'node-a no longer answers',
    );
  });
});

it('bounds and cleans the words of others, and shows nothing that looks like a secret', () => {
  const logs = [quietLog('web', [shape({ line: `\u001b[31m${'😀'.repeat(400)}` })])];
  const { line } = answer({ logs });
  expect(line.length).toBeLessThanOrEqual(300);
  expect(line).not.toMatch(/\u001b|[\ud800-\udbff](?![\udc00-\udfff])/);
  const message = 'Liveness probe failed: password=hunter2hunter2 was refused';
  expect(answer({ pod: unready(), events: [unhealthy(message)] }).line).not.toContain('hunter2hunter2');
});
