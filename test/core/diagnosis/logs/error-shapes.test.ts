import { describe, expect, it } from 'vitest';
import { ErrorShapes } from '../../../../src/core/diagnosis/logs/error-shapes.ts';

/** The lines a second apart, from second 1 on. */
function logOf(lines: readonly string[], redact: readonly string[] = []) {
  const shapes = new ErrorShapes(redact);
  for (const [index, text] of lines.entries()) shapes.add({ atMs: 1_000 * (index + 1), text });
  return shapes.result();
}
const linesOf = (lines: readonly string[], redact?: readonly string[]) =>
  logOf(lines, redact).shapes.map(({ line, count, level }) => `${level} ${count} × ${line}`);

const times = (count: number, line: (index: number) => string): readonly string[] =>
  Array.from({ length: count }, (_, index) => line(index));

describe('the error lines of a log', () => {
  it('are counted by shape, with the newest line and the times of the first and the last', () => {
    const log = logOf([
      'ready',
      ...times(
        20,
        (index) => `2026-11-24 12:00:00 ERROR [main] c.x.Db - Timeout waiting for "conn-${index}" of 10.0.0.${index}`,
      ),
    ]);
    expect(log).toEqual({
      lines: 21,
      firstAtMs: 1_000,
      lastAtMs: 21_000,
      newest: 'Timeout waiting for "conn-19" of 10.0.0.19',
      shapes: [
        {
          line: 'Timeout waiting for "conn-19" of 10.0.0.19',
          count: 20,
          level: 'error',
          firstAtMs: 2_000,
          lastAtMs: 21_000,
          sinceMs: 2_000,
          tenthAtMs: 12_000,
        },
      ],
    });
    expect(logOf(times(9, () => 'ERROR no')).shapes[0]?.tenthAtMs).toBeUndefined();
    expect(logOf(times(10, () => 'ERROR no')).shapes[0]?.tenthAtMs).toBe(1_000);
  });

  it('are none in an empty log, nor in one that is well', () => {
    expect(logOf([])).toEqual({ lines: 0, shapes: [] });
    expect(linesOf(['listening on 8080', 'handled 12 requests, 0 errors', 'errors=0 failed=0', 'no error'])).toEqual(
      [],
    );
  });

  it.each([
    ['a level in capitals', '2026-11-24T12:00:00Z ERROR boom', 'error 1 × boom'],
    ['JSON', '{"severity":"ERROR","message":"boom"}', 'error 1 × boom'],
    ['JSON with the numbers of pino', '{"level":60,"msg":"boom"}', 'fatal 1 × boom'],
    ['logfmt', 'ts=1 level=error msg="boom" err="x y"', 'error 1 × boom: x y'],
    ['klog', 'E1124 12:00:00.123456       1 main.go:12] boom', 'error 1 × boom'],
    ['nginx', '2026/11/24 12:00:00 [crit] 7#7: *1 boom', 'error 1 × boom'],
    ['Postgres', '2026-11-24 12:00:00.000 UTC [7] ERROR:  boom', 'error 1 × boom'],
    ['Python', 'ERROR:root:boom', 'error 1 × boom'],
    ['words', 'could not reach the queue', 'error 1 × could not reach the queue'],
    ['weak words', 'setting FOO is missing', 'warning 1 × setting FOO is missing'],
    ['a warning', 'WARNING: slow', 'warning 1 × slow'],
  ])('are known by %s', (_, line, shape) => {
    expect(linesOf([line])).toEqual([shape]);
  });

  it('are no lines whose own level is milder, whatever they say', () => {
    const lines = [
      '2026-11-24 12:00:00 INFO error handler failed over',
      '{"level":"debug","msg":"fatal error"}',
      'level=info msg="failed"',
      'I1124 12:00:00.123456       1 main.go:1] cannot',
    ];
    expect(linesOf(lines)).toEqual([]);
  });

  it('hold answers of status 500 and more, by method and path, and no other requests', () => {
    const lines = [
      ...times(
        3,
        (index) => `10.0.0.1 - - [24/Nov/2026:12:00:00 +0000] "GET /orders/${index}?token=x HTTP/1.1" 503 12`,
      ),
      '10.0.0.1 - - [24/Nov/2026:12:00:00 +0000] "GET /error/not-found HTTP/1.1" 404 12',
      '{"level":"info","msg":"request failed","method":"POST","path":"/pay","status":502}',
    ];
    expect(linesOf(lines)).toEqual(['error 3 × GET /orders/2 → 503', 'error 1 × POST /pay → 502']);
  });

  it('put such answers behind what the program says itself, however many they are', () => {
    const log = logOf([...times(9, () => 'GET /price → 500'.replace('→', '500 1ms')), 'ERROR no rate for CHF']);
    expect(log.shapes.map(({ line, isAccess }) => [line, isAccess])).toEqual([
      ['no rate for CHF', undefined],
      ['GET /price → 500', true],
    ]);
  });

  it.each([
    '2026/11/24 18:02:11 [error] 29#29: *41 open() "/usr/share/nginx/html/favicon.ico" failed (2: No such file or directory), client: 10.0.0.9, server: x',
    'http: TLS handshake error from 10.0.0.9:51544: EOF',
    'http: TLS handshake error from 10.0.0.9:51546: read tcp 10.0.0.5:8443->10.0.0.9:51546: read: connection reset by peer',
    "2026-11-24T18:02:11Z 9 [Warning] [MY-010055] [Server] IP address '10.0.0.9' could not be resolved: Name or service not known",
  ])('are none that a client makes: %s', (line) => {
    expect(logOf([line]).shapes).toEqual([]);
  });

  it('are none where the exception of a warning is a client’s, and else a warning with its cause', () => {
    const of = (exception: string) =>
      linesOf(['12:00:00 WARN [nio-2] Unexpected exception', exception, '\tat x.Y.z(Y.java:1)']);
    expect(
      of('EndOfStreamException: Unable to read additional data from client, it probably closed the socket'),
    ).toEqual([]);
    expect(of('java.io.IOException: disk failed')).toEqual([
      'warning 1 × Unexpected exception: java.io.IOException: disk failed',
    ]);
  });

  it('are those of an upstream that goes away', () => {
    const line = '[error] 29#29: *41 upstream prematurely closed connection while reading, client: 10.0.0.9';
    expect(logOf([line]).shapes).toHaveLength(1);
  });

  it('come with the newest line that has words, and with one that says that the program listens on 127.0.0.1', () => {
    const log = logOf([
      'INFO:     Uvicorn running on http://127.0.0.1:8000 (Press CTRL+C to quit)',
      'Waiting for lock',
      '10.0.0.1 - - [24/Nov/2026:12:00:00 +0000] "GET /ready HTTP/1.1" 503 0 "-" "kube-probe/1.34"',
      '----',
    ]);
    expect(log.newest).toBe('Waiting for lock');
    expect(log.onLoopback).toBe('Uvicorn running on http://127.0.0.1:8000 (Press CTRL+C to quit)');
    expect(logOf(['GET /db failed: connection refused']).newest).toBe('GET /db failed: connection refused');
    expect(logOf(['listening on 0.0.0.0:8000']).onLoopback).toBeUndefined();
  });

  it.each([
    ['连接数据库失败: 192.0.2.7:3306', 1],
    ['ОШИБКА: нет соединения', 1],
    ['échec de la connexion', 1],
    ['没有错误', 0],
    ['成功 214, 失败 0', 0],
    ['失败 12', 1],
    ['keine Fehler in 12 Dateien', 0],
    ['Fehlerquote unverändert', 0],
    ['エラーなし', 0],
    ['SLF4J: Failed to load class "org.slf4j.impl.StaticLoggerBinder".', 0],
    ['Picked up JAVA_TOOL_OPTIONS: -XX:+HeapDumpOnOutOfMemoryError -XX:+ExitOnOutOfMemoryError', 0],
    ['NOTE: Picked up JDK_JAVA_OPTIONS: -XX:+CrashOnOutOfMemoryError', 0],
    ['Picked up _JAVA_OPTIONS: -XX:+HeapDumpOnOutOfMemoryError', 0],
    ['Picked up order 17: failed to charge', 1],
    ['Picked up job_17: failed to charge', 1],
    ['SIGTERM: shutting down', 0],
    ['SIGHUP: reloading the configuration', 0],
    ['SIGQUIT: quitting soon', 0],
    ['SIGABRT: abort', 1],
  ])('are known in other languages too: %s', (line, count) => {
    expect(logOf([line]).shapes).toHaveLength(count);
  });

  it('count a stack trace once, with its cause', () => {
    const python = [
      'ERROR in app: Exception on /pay [GET]',
      'Traceback (most recent call last):',
      '  File "a.py", line 3',
      '    error()',
      'psycopg2.OperationalError: connection refused',
    ];
    const java = [
      '2026-11-24 12:00:00 ERROR [main] c.x.A - Request failed',
      'java.lang.RuntimeException: no pool',
      '\tat c.x.A.b(A.java:1)',
      'Caused by: java.net.ConnectException: Connection refused',
      '\t... 2 more',
    ];
    expect(linesOf([...python, ...python, ...java])).toEqual([
      'error 2 × Exception on /pay [GET]: psycopg2.OperationalError: connection refused',
      'error 1 × Request failed: java.net.ConnectException: Connection refused',
    ]);
  });

  it('put the worst level first, then the most frequent, then the newest, and warnings only where nothing is worse', () => {
    const lines = [
      'error alpha',
      'error bravo',
      'error bravo',
      'error charlie',
      'FATAL: last',
      'WARN: slow',
      'WARN: slow',
    ];
    expect(linesOf(lines)).toEqual([
      'fatal 1 × last',
      'error 2 × error bravo',
      'error 1 × error charlie',
      'error 1 × error alpha',
    ]);
    expect(linesOf(['WARN: slow'])).toEqual(['warning 1 × slow']);
  });
});

describe('error lines as foreign text', () => {
  it('are redacted, clean and bounded', () => {
    const [shape] = logOf(
      [`\x1b[31merror\x1b[0m: token=abcdef0123456789 of CUST-123456 “refused” \u202e${'x'.repeat(30_000)}`],
      ['CUST-\\d{6}'],
    ).shapes;
    expect(shape?.line).toMatch(/^error: token=\[redacted:secret\] of \[redacted:custom\] "refused"/);
    const [long] = logOf([`error: ${'word '.repeat(10_000)}`]).shapes;
    expect(long?.line).toHaveLength(300);
  });

  it('hide a secret that only the words of a record show, also where a cut would take it in two', () => {
    const secret = 'ghp_0123456789abcdefghijklmnopqrstuvwxyzAB';
    const escaped = `\\u0067${secret.slice(1)}`;
    const lines = [
      '{"level":"error","msg":"pass\\u0077ord=hunter2hunter2"}',
      '{"level":"error","msg":"password","error":"hunter2hunter2"}',
      `{"level":"error","msg":"${'x'.repeat(120)} ${escaped}","error":"refused"}`,
      `{"level":"error","msg":"${'x'.repeat(270)} ${escaped}"}`,
    ];
    const shown = JSON.stringify(logOf(lines));
    expect(shown).not.toMatch(/hunter2|ghp_/);
    expect(linesOf(['{"level":"error","msg":"of \\u0043UST-123456"}'], ['CUST-\\d{6}'])).toEqual([
      'error 1 × of [redacted:custom]',
    ]);
  });

  it('forget the least important of many thousand shapes, and not the one that matters', () => {
    const words = ['alpha', 'bravo', 'charlie', 'delta', 'echo', 'fox', 'golf', 'hotel', 'india', 'juliet'];
    const name = (index: number) => [...String(index)].map((digit) => words[Number(digit)]).join(' ');
    const lines = times(5_000, (index) => (index % 10 === 0 ? `error: db-${index} refused` : `error ${name(index)}`));
    const { shapes, lines: count } = logOf(lines);
    expect(count).toBe(5_000);
    expect(shapes).toHaveLength(20);
    expect(shapes[0]).toMatchObject({ line: 'error: db-4990 refused', count: 500 });
  });
});
