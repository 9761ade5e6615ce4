import { describe, expect, it } from 'vitest';
import type { Pod, PodContainer } from '../../../../src/core/container/pod.ts';
import type { ClusterFacts, TargetLog } from '../../../../src/core/diagnosis/facts/facts.ts';
import { firstAnswer } from '../../../../src/core/diagnosis/first-answer.ts';
import { ErrorShapes } from '../../../../src/core/diagnosis/logs/error-shapes.ts';
import { firstWorkloadAnswer } from '../../../../src/core/diagnosis/workload/workload-answer.ts';
import { aStatus, START_MS } from '../../../support/builders.ts';
import { at, CALM, ended, factsOf, podOf, warning, workloadFacts } from './facts.ts';

const SECOND = 1_000;
/** Of the log, in seconds after the start of the container. */
type Lines = readonly (readonly [second: number, text: string])[];

const every = (step: number, from: number, to: number, text: string): Lines =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => [from + index * step, text] as const);

interface Seen {
  /** Seconds since the container started. */
  readonly age: number;
  /** The second in which the pod became ready; undefined: it is not. */
  readonly readyAt: number | undefined;
  readonly lines: Lines;
  readonly spec?: Partial<PodContainer>;
  readonly restartedAgo?: number;
  readonly more?: Partial<ClusterFacts>;
}

function logOf({ age, lines }: Pick<Seen, 'age' | 'lines'>): TargetLog {
  const shapes = new ErrorShapes([]);
  const all: Lines = [[0.1, 'starting'], ...lines, [age, 'served a request']];
  for (const [second, text] of all.filter(([second]) => second <= age).toSorted((a, b) => a[0] - b[0]))
    shapes.add({ atMs: START_MS + (second - age) * SECOND, text });
  return { containerName: 'web', ...shapes.result() };
}

function podIn({ age, readyAt, spec = {}, restartedAgo }: Seen): Pod {
  const isReady = readyAt !== undefined && readyAt <= age;
  const running = { startedAt: at(-age * SECOND) };
  const restart =
    restartedAgo === undefined
      ? {}
      : { restartCount: 1, lastTermination: ended(restartedAgo * SECOND, { exitCode: 3 }) };
  const unmet = { type: 'Ready', reason: 'ContainersNotReady', message: '', since: at(-age * SECOND) };
  return podOf({
    metadata: { creationTimestamp: at(-(age + 1) * SECOND) },
    spec: { containers: [{ ...CALM, ...spec }] },
    status: {
      containerStatuses: [aStatus({ ready: isReady, running, ...restart })],
      ...(isReady ? { readySince: at((readyAt - age) * SECOND) } : { unmetConditions: [unmet] }),
    },
  });
}

const factsIn = (seen: Seen): ClusterFacts => factsOf({ pod: podIn(seen), logs: [logOf(seen)], ...seen.more });

function seenIn(seen: Seen) {
  const { line = '', findings, healthy } = firstAnswer(factsIn(seen));
  const alarms = findings.filter(({ rank = 2 }) => rank < 3).map(({ code }) => code);
  return { line, alarms, healthy, codes: findings.map(({ code }) => code), rank: findings[0]?.rank };
}

/** What programs write that work: the line, and when they do. */
const NOISE: readonly (readonly [string, (text: string) => Lines, string])[] = [
  [
    'PostgreSQL, asked while it starts',
    (text) => every(1, 1, 6, text),
    '2026-01-01 00:00:01.000 UTC [31] FATAL:  the database system is starting up',
  ],
  [
    'PostgreSQL, whose probe names no role',
    (text) => every(10, 5, 600, text),
    '2026-01-01 00:00:05.000 UTC [66] FATAL:  role "root" does not exist',
  ],
  [
    'gunicorn, once',
    (text) => [[1, text]],
    "[2026-01-01 00:00:01 +0000] [7] [ERROR] Control server error: [Errno 13] Permission denied: '/nonexistent'",
  ],
  [
    'MariaDB, whose clients leave',
    (text) => every(10, 5, 600, text),
    "2026-01-01  0:00:05 5 [Warning] Aborted connection 5 to db: 'shop' user: 'shop' host: '10.0.0.9' (Got an error reading communication packets)",
  ],
  [
    'MariaDB, whose port is probed',
    (text) => every(5, 3, 600, text),
    "2026-01-01  0:00:03 8 [Warning] Aborted connection 8 to db: 'unconnected' user: 'unauthenticated' host: '10.0.0.1' (This connection closed normally without authentication)",
  ],
  [
    'nginx, asked for a favicon',
    (text) => [
      [4, text],
      [40, text],
    ],
    '2026/01/01 00:00:04 [error] 29#29: *1 open() "/usr/share/nginx/html/favicon.ico" failed (2: No such file or directory), client: 10.0.0.9, server: localhost, request: "GET /favicon.ico HTTP/1.1"',
  ],
  [
    'Redis about its node',
    (text) => [[1, text]],
    '1:M 01 Jan 2026 00:00:01.000 # WARNING Memory overcommit must be enabled! Without it, a background save or replication may fail under low memory condition.',
  ],
  [
    'Redis about huge pages',
    (text) => [[1, text]],
    '1:M 01 Jan 2026 00:00:01.000 # WARNING You have Transparent Huge Pages (THP) support enabled in your kernel. This will create latency and memory usage issues with Redis.',
  ],
  [
    'Node about what is deprecated',
    (text) => [[1, text]],
    '(node:1) [DEP0040] DeprecationWarning: The `punycode` module is deprecated. Please use a userland alternative instead.',
  ],
  ['a JVM about reflection', (text) => [[1, text]], 'WARNING: An illegal reflective access operation has occurred'],
  [
    'Kafka, which retried',
    (text) => every(2, 1, 13, text),
    '[2026-01-01 00:00:01,000] ERROR [RaftManager id=1] Connection to node 2 (kafka-1/10.0.0.7:9093) could not be established. Node may not be available. (org.apache.kafka.clients.NetworkClient)',
  ],
  [
    'ZooKeeper, which retried',
    (text) => every(3, 1, 13, text),
    '2026-01-01 00:00:01,000 [myid:1] - WARN  [QuorumConnectionThread-[myid=1]-2:o.a.z.s.q.QuorumCnxManager@401] - Cannot open channel to 2 at election address zk-1:3888: java.net.ConnectException: Connection refused',
  ],
  [
    'a Go server that is probed',
    (text) => every(10, 3, 600, text),
    '2026/01/01 00:00:03 http: TLS handshake error from 10.0.0.1:51234: EOF',
  ],
  [
    'etcd, once',
    (text) => [[9, text]],
    '{"level":"warn","ts":"2026-01-01T00:00:09.000Z","caller":"txn/util.go:93","msg":"apply request took too long","took":"512.3ms","expected-duration":"100ms"}',
  ],
];

const AGES = [5, 20, 60, 120, 300, 7_200];
const WHENS = NOISE.flatMap(([name, linesOf, text]) => AGES.map((age) => ({ name, age, lines: linesOf(text) })));

describe('a program that serves', () => {
  it.each(WHENS)('is no alarm: $name, $age s after its start, with a probe and without', ({ age, lines }) => {
    for (const readyAt of [0, 14]) expect(seenIn({ age, readyAt, lines })).toMatchObject({ alarms: [] });
  });

  it.each(WHENS)('nor one of several pods, or what was read is called calm: $name, $age s', ({ age, lines }) => {
    const facts = factsIn({ age, readyAt: 0, lines });
    const { findings, groups, healthy } = firstWorkloadAnswer(workloadFacts({ pods: [facts, facts, facts] }));
    expect([...findings, ...(groups ?? [])].filter(({ rank = 3 }) => rank < 3)).toEqual([]);
    expect(healthy).toBe(firstAnswer(facts).healthy);
  });
});

const ONCE: Lines = [[20, 'ERROR could not open the cache']];

describe('a line that came once, or before the pod was ready,', () => {
  it('is counted in the first line, and not quoted there', () => {
    expect(seenIn({ age: 60, readyAt: 0, lines: ONCE })).toEqual({
      line: 'Ready, never restarted, 1 error line in its log',
      alarms: [],
      healthy: undefined,
      codes: [],
      rank: undefined,
    });
    const before = every(2, 2, 20, 'ERROR db:5432 refused the connection');
    expect(seenIn({ age: 30, readyAt: 21, lines: before })).toMatchObject({
      line: 'Healthy: ready, never restarted, 10 error lines in its log; no look inside yet',
      codes: [],
    });
  });

  it('keeps the tick away for two minutes, unless the pod became ready after it', () => {
    expect(seenIn({ age: 140, readyAt: 0, lines: ONCE }).healthy).toBeUndefined();
    expect(seenIn({ age: 141, readyAt: 0, lines: ONCE }).healthy).toBe(true);
    expect(seenIn({ age: 22, readyAt: 21, lines: ONCE }).healthy).toBe(true);
  });

  it('is counted over all pods of a workload, of which none is called without a finding', () => {
    const facts = factsIn({ age: 60, readyAt: 0, lines: ONCE });
    expect(firstWorkloadAnswer(workloadFacts({ pods: [facts, facts, facts] }))).toMatchObject({
      line: '3 of 3 pods ready, 3 error lines in their logs',
      groups: [{ text: 'all 3 pods: ready, nothing wrong' }],
    });
  });

  it('is no noise of a start where the pod was ready, lost it, and has it again', () => {
    const lines = every(5, 3_000, 3_590, 'ERROR db:5432 refused the connection');
    expect(seenIn({ age: 3_600, readyAt: 3_595, lines })).toMatchObject({ codes: ['log_errors'] });
  });

  it('is counted as long as the log has it: such a log is not without errors', () => {
    expect(seenIn({ age: 3_600, readyAt: 0, lines: ONCE }).line).toBe(
      'Healthy: ready, never restarted, 1 error line in its log; no look inside yet',
    );
    expect(seenIn({ age: 3_600, readyAt: 0, lines: every(3, 5, 3_600, 'WARN slow') }).line).toBe(
      'Healthy: ready, never restarted, no errors in its log; no look inside yet',
    );
  });

  it('is counted whatever the number of kinds', () => {
    const words = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
    const once = words.map((word, index) => [20 + index, `ERROR no ${word} in the cache`] as const);
    expect(seenIn({ age: 60, readyAt: 0, lines: once }).line).toMatch(/, 10 error lines in its log/);
    const often = once.flatMap(([second, text]) => every(5, second, 60, text));
    expect(seenIn({ age: 60, readyAt: 0, lines: often }).line).toMatch(/, and 9 other kinds of error$/);
  });

  it('is shown in the thread', () => {
    expect(firstAnswer(factsIn({ age: 60, readyAt: 0, lines: ONCE })).evidence).toEqual([
      { title: 'Errors in the log of web', lines: ['could not open the cache'] },
    ]);
  });
});

describe('what a server says of its clients', () => {
  it('is nothing to know: they ended without a word', () => {
    const words = "Aborted connection 8 to db: 'unconnected' user: 'unauthenticated' host: '10.0.0.1'";
    for (const why of [
      'Got an error reading communication packets',
      'This connection closed normally without authentication',
    ]) {
      const lines = every(5, 3, 600, `2026-01-01  0:00:03 8 [Warning] ${words} (${why})`);
      expect(seenIn({ age: 600, readyAt: 0, lines })).toMatchObject({ codes: [], healthy: true });
    }
  });
});

describe('an error that comes again and again', () => {
  const lines = every(5, 5, 3_600, 'ERROR db:5432: connection refused');

  it('is told in the first line of a pod that is ready, as worth knowing, without a tick', () => {
    const found = seenIn({ age: 30, readyAt: 0, lines });
    expect(found.line).toBe(
      'Ready; worth knowing: db:5432 refuses connections: web logs 6 × “db:5432: connection refused”, last under a second ago',
    );
    expect(found).toMatchObject({ alarms: [], healthy: undefined, codes: ['log_errors'] });
    const facts = factsIn({ age: 30, readyAt: 0, lines });
    const all = firstWorkloadAnswer(workloadFacts({ pods: [facts, facts, facts] }));
    expect(all.line).toMatch(/^3 of 3 pods ready; worth knowing: db:5432 refuses connections: .* \(all 3 pods\)$/);
    expect(all).toMatchObject({ findings: [{ code: 'log_errors', rank: 3 }], groups: [{ rank: 3 }] });
    expect(all.healthy).toBeUndefined();
  });

  it('is told of a pod that starts, as what it waits for', () => {
    expect(seenIn({ age: 30, readyAt: undefined, lines })).toMatchObject({
      line: expect.stringMatching(/^Starting, for 31 s now: db:5432 refuses connections: web logs 6 × /),
      alarms: [],
    });
  });

  describe('is an alarm', () => {
    it('where the pod is not ready after a minute, or after what its startup probe allows', () => {
      expect(seenIn({ age: 60, readyAt: undefined, lines }).alarms).toEqual([]);
      expect(seenIn({ age: 61, readyAt: undefined, lines })).toMatchObject({
        alarms: ['log_errors', 'not_ready'],
        rank: 1,
      });
      const spec = { probes: { startup: { by: 'http', port: 80, periodSeconds: 10, failureThreshold: 30 } } } as const;
      expect(seenIn({ age: 300, readyAt: undefined, lines, spec }).alarms).toEqual([]);
      expect(seenIn({ age: 301, readyAt: undefined, lines, spec })).toMatchObject({
        alarms: ['log_errors', 'not_ready'],
      });
    });

    it('where its container was restarted lately, behind that', () => {
      const of = (restartedAgo: number) => seenIn({ age: 590, readyAt: 0, lines, restartedAgo });
      expect(of(600).alarms).toEqual(['restarts', 'log_errors']);
      expect(of(601).alarms).toEqual(['restarts']);
    });

    it('where a probe fails now, before that', () => {
      const failed = warning('Unhealthy', 'Liveness probe failed: HTTP probe failed with statuscode: 500', {
        count: 9,
        fieldPath: 'spec.containers{web}',
      });
      const found = seenIn({ age: 3_600, readyAt: 0, lines, more: { events: [failed] } });
      expect(found.alarms).toEqual(['log_errors', 'probe_failing']);
    });
  });
});

describe('a line of a pod that is not ready', () => {
  const refused = warning('Unhealthy', 'Readiness probe failed: dial tcp 10.0.0.4:8081: connect: connection refused', {
    count: 30,
    fieldPath: 'spec.containers{web}',
  });
  const of = (text: string, from = 1) =>
    seenIn({ age: 240, readyAt: undefined, lines: every(2, from, 240, text), more: { events: [refused] } });

  it.each([
    'ERROR client 10.0.0.7 sent a bad cookie, ignored: invalid session id',
    '2026-01-01 00:00:05.000 UTC [66] FATAL:  role "root" does not exist',
  ])('stands behind the refusal that the kubelet measured: %s', (text) => {
    expect(of(text)).toMatchObject({ alarms: ['probe_failing'], codes: ['probe_failing', 'log_errors'] });
  });

  it.each(['ERROR db:5432: connection refused', 'FATAL no price list'])(
    'explains it as a cause, or fatal: %s',
    (text) => {
      expect(of(text).alarms).toEqual(['log_errors', 'probe_failing']);
    },
  );

  it('explains it where it came only since the pod lost its traffic', () => {
    const unmet = { type: 'Ready', reason: 'ContainersNotReady', message: '', since: at(-100 * SECOND) };
    const codes = (from: number) => {
      const facts = factsIn({
        age: 240,
        readyAt: undefined,
        lines: every(2, from, 240, 'ERROR no lock'),
        more: { events: [refused] },
      });
      const { status } = facts.pod;
      return firstAnswer({
        ...facts,
        pod: { ...facts.pod, status: { ...status, unmetConditions: [unmet] } },
      }).findings.map(({ code }) => code);
    };
    expect(codes(141)).toEqual(['log_errors', 'probe_failing']);
    expect(codes(131)).toEqual(['probe_failing', 'log_errors']);
  });

  it('of another container explains nothing', () => {
    const facts = factsIn({
      age: 240,
      readyAt: undefined,
      lines: every(2, 1, 240, 'ERROR db:5432: connection refused'),
      more: {},
    });
    const [web] = facts.pod.status.containerStatuses;
    if (!web) throw new Error('no container');
    const proxy = { ...web, name: 'proxy' };
    const pod = {
      ...facts.pod,
      spec: { ...facts.pod.spec, containers: [CALM, { ...CALM, name: 'proxy' }] },
      status: { ...facts.pod.status, containerStatuses: [{ ...web, ready: true }, proxy] },
    };
    const events = [{ ...refused, fieldPath: 'spec.containers{proxy}' }];
    expect(firstAnswer({ ...facts, pod, events }).findings.map(({ code }) => code)).toEqual([
      'probe_failing',
      'log_errors',
    ]);
  });
});

describe('errors that grow in number', () => {
  const grown = (lines: Lines, age = 3_600, readyAt = 0) => seenIn({ age, readyAt, lines }).alarms;
  const REFUSED = 'ERROR db:5432: connection refused';

  it('are an alarm: ten within five minutes, three times as fast as before', () => {
    expect(grown(every(5, 3_500, 3_600, REFUSED))).toEqual(['log_errors']);
    const before = every(60, 0, 3_500, REFUSED);
    expect(grown([...before, ...every(20, 3_401, 3_600, REFUSED)])).toEqual(['log_errors']);
    expect(grown([...before, ...every(25, 3_351, 3_600, REFUSED)])).toEqual([]);
  });

  it('are none that come as ever, fewer than ten, or longer ago', () => {
    expect(grown(every(5, 0, 3_600, REFUSED))).toEqual([]);
    expect(grown(every(5, 3_555, 3_599, REFUSED))).toEqual([]);
    expect(grown(every(5, 3_200, 3_300, REFUSED))).toEqual([]);
  });

  it('stay one as long as they come, however many those are by now', () => {
    const lines = [[3, REFUSED] as const, ...every(1, 170, 7_200, REFUSED)];
    expect(grown(lines, 185)).toEqual([]);
    for (const age of [190, 260, 443, 645, 7_200]) expect(grown(lines, age)).toEqual(['log_errors']);
    expect(grown(every(1, 170, 600, REFUSED), 661)).toEqual([]);
  });

  it('are an alarm where they fill a log that shows no time before', () => {
    const busy = (age: number, perSecond: number, from = 0) => {
      const gets = Array.from({ length: 50 }, (_, index) =>
        every(1, age - 50 + index / 50, age, 'INFO GET /orders 200'),
      );
      const errors = Array.from({ length: perSecond }, (_, index) =>
        every(1, age - 50 + from + index / 50, age, REFUSED),
      );
      const shapes = new ErrorShapes([]);
      for (const [second, text] of [...gets, ...errors].flat().toSorted((a, b) => a[0] - b[0]))
        shapes.add({ atMs: START_MS + (second - age) * SECOND, text });
      const pod = podIn({ age, readyAt: 3, lines: [] });
      const { findings } = firstAnswer(factsOf({ pod, logs: [{ containerName: 'web', ...shapes.result() }] }));
      return findings.filter(({ rank }) => rank === 2).map(({ code }) => code);
    };
    for (const age of [350, 3_600]) expect(busy(age, 50)).toEqual(['log_errors']);
    expect(busy(3_600, 10)).toEqual([]);
    expect(busy(3_600, 50, 35)).toEqual([]);
  });

  it('are none of a burst: who asked so is gone', () => {
    const burst = every(0.1, 3_000, 3_001.1, 'ERROR bad request from 10.0.3.7:4711: malformed header');
    for (const age of [3_005, 3_100]) expect(grown(burst, age)).toEqual([]);
    expect(seenIn({ age: 3_122, readyAt: 0, lines: burst })).toMatchObject({ codes: [], healthy: true });
  });

  it('need two minutes to compare with', () => {
    expect(grown(every(3, 121, 150, REFUSED), 150)).toEqual(['log_errors']);
    expect(grown(every(3, 121, 150, REFUSED), 150, 3)).toEqual([]);
  });
});

const HEALED = every(2, 2, 10, 'ERROR cannot reach kafka:9092: connection refused');

/** The line, the second in which it came, and those before it. */
const FINAL: readonly (readonly [line: string, second: number, before: Lines])[] = [
  ['ERROR [consumer-1] uncaught exception, consumer thread terminated: OffsetOutOfRange', 75, []],
  ['ERROR giving up on kafka:9092, orders will NOT be consumed until restart', 19, HEALED],
  ['giving up on kafka:9092', 19, HEALED],
  ['FATAL price list could not be loaded, serving an empty catalogue', 3, []],
];

describe('a line that says that something ended for good', () => {
  it.each(FINAL)('is told as long as the log has it, and no tick is given: %s', (line, second, before) => {
    for (const age of [90, 150, 660, 7_200]) {
      const found = seenIn({ age, readyAt: 12, lines: [...before, [second, line]] });
      expect(found).toMatchObject({ codes: ['log_errors'], alarms: [], healthy: undefined, rank: 3 });
      expect(found.line).toContain(line.replace(/^(?:ERROR|FATAL) (?:\[.*?\] )?/, '').slice(0, 60));
    }
  });

  it('stands before what comes more often', () => {
    const others = ['a', 'b', 'c', 'd', 'e', 'f'].flatMap((word) => every(9, 20, 590, `ERROR no ${word} in the cache`));
    const lines: Lines = [...others, [30, 'ERROR consumer thread terminated: offset out of range']];
    expect(seenIn({ age: 600, readyAt: 5, lines }).line).toContain('consumer thread terminated');
  });

  it('is none of PostgreSQL, which ends the session of a client so', () => {
    const line = '2026-01-01 00:00:01.000 UTC [31] FATAL:  the database system is starting up';
    expect(seenIn({ age: 200, readyAt: 5, lines: [[3, line]] })).toMatchObject({ codes: [], healthy: true });
  });
});
