import { describe, expect, it } from 'vitest';
import { readLogLine } from '../../../../src/core/diagnosis/logs/log-line.ts';

/** A line, its level and its words. */
const LINES: readonly (readonly [line: string, level: string | undefined, text: string])[] = [
  [
    '2026-11-24 12:00:00.123 ERROR 1 --- [           main] o.s.boot.SpringApplication               : boom',
    'error',
    'boom',
  ],
  ['12:00:00.000 [main] WARN com.foo.Bar - boom', 'warning', 'boom'],
  ['2026-11-24 12:00:00,000 - app.db - CRITICAL - boom', 'error', 'boom'],
  ['[2026-11-24 12:00:00 +0000] [7] [INFO] boom', 'info', 'boom'],
  ['[2026-11-24 12:00:00,000: ERROR/MainProcess] boom', 'error', 'boom'],
  ['E, [2026-11-24T12:00:00.123456 #1] ERROR -- : boom', 'error', 'boom'],
  ['[2026-11-24T12:00:00Z ERROR my_crate::db] boom', 'error', 'boom'],
  ['2026-11-24T12:00:00.000000Z ERROR my_crate::db: boom', 'error', 'boom'],
  ['[12:00:00 FTL] boom', 'fatal', 'boom'],
  ['2026-11-24T12:00:00.000000Z 0 [Warning] [MY-010123] [Server] boom', 'warning', 'boom'],
  ['2026-11-24T12:00:00.000Z\tERROR\tserver/main.go:12\tboom', 'error', 'boom'],
  ['ERRO[0000] boom', 'error', 'boom'],
  ['12:00PM ERR boom', 'error', 'boom'],
  ['2026-11-24T12:00:00Z E! [agent] boom', 'error', 'boom'],
  ['2026-11-24 12:00:00.000 UTC [1] app@shop FATAL:  boom', 'fatal', 'boom'],
  ['SEVERE: boom', 'error', 'boom'],
  ['error: boom', 'error', 'error: boom'],
  ['{"t":{"$date":"x"},"s":"E","c":"NETWORK","msg":"boom"}', 'error', 'boom'],
  ['{"level":"error","msg":"boom","err":{"type":"IoError","message":"no route"}}', 'error', 'boom: IoError: no route'],
  ['2026-11-24T12:00:00Z stdout {"level":"error","msg":"boom"}', undefined, 'stdout {"level":"error","msg":"boom"}'],
  ['{"level":"error","msg":"cut in the middle","rest":"', 'error', 'cut in the middle'],
  ['[GIN] 2026/11/24 - 12:00:00 | 503 | 1.2ms | 10.0.0.1 | GET "/path"', 'error', 'GET /path → 503'],
  ['GET /checkout 200 12.3 ms - 15', 'info', 'GET /checkout → 200'],
  ['<11>1 2026-11-24T18:02:11.310Z mailer-0 postfix 31 - - boom', 'error', 'boom'],
  ['<4>boom', 'warning', 'boom'],
  [
    'E1124 18:02:11.310000       1 reflector.go:166] "Unhandled Error" err="no \\"x\\"" logger="y"',
    'error',
    'Unhandled Error: no "x"',
  ],
  ['1:M 24 Nov 2026 18:02:11.412 # Background saving error', undefined, 'Background saving error'],
  [
    '1:C 24 Nov 2026 18:02:11.412 # WARNING Memory overcommit must be enabled!',
    'warning',
    'Memory overcommit must be enabled!',
  ],
  [
    '{"log.level":"ERROR","message":"node validation exception\\n[1] checks failed.\\nmax_map_count is too low: cannot start\\nbye"}',
    'error',
    'node validation exception: max_map_count is too low: cannot start',
  ],
  [
    '{"s":"E","c":"CONTROL","msg":"DBException, terminating","attr":{"error":"DBPathInUse: Unable to lock"}}',
    'error',
    'DBException, terminating: DBPathInUse: Unable to lock',
  ],
  // What is no prefix stays.
  ['[db] boom', undefined, '[db] boom'],
  ['ERROR config.yaml: no such file', 'error', 'config.yaml: no such file'],
  ['ERROR java.net.ConnectException: refused', 'error', 'java.net.ConnectException: refused'],
  ['ERROR [10.0.0.1:5432] refused', 'error', '[10.0.0.1:5432] refused'],
  ['got ERROR from the server', undefined, 'got ERROR from the server'],
  ['2026-11-24T12:00:00Z', undefined, '2026-11-24T12:00:00Z'],
];

describe('a line of a log', () => {
  it.each(LINES)('is read by its own convention: %s', (line, level, text) => {
    expect(readLogLine(line)).toMatchObject({ text });
    expect(readLogLine(line).level).toBe(level);
  });
});
