import { describe, expect, it } from 'vitest';
import { lastWordsOf } from '../../../../src/core/diagnosis/logs/last-words.ts';

/** As Redis 7.0 wrote it on a cluster, in its order: registers, code and clients are longer there. */
const reportOfRedis = (cause: string): string =>
  `1:M 28 Nov 2026 18:19:20.572 * Ready to accept connections


=== REDIS BUG REPORT START: Cut & paste starting from here ===
1:M 28 Nov 2026 18:19:28.225 # ${cause}
1:M 28 Nov 2026 18:19:28.225 # Accessing address: 0x7f9f27c5c000

------ STACK TRACE ------
EIP:
/usr/bin/redis-server *:6379(debugCommand+0x26f)[0x55bf66bf975f]
${'/usr/bin/redis-server *:6379(call+0xdb)[0x55bf66b946fb]\n'.repeat(80)}
------ FAST MEMORY TEST ------
1:M 28 Nov 2026 18:19:28.300 # Bio thread for job type #0 terminated
Fast memory test PASSED, however your memory can still be broken. Please run a memory test for several hours if possible.

=== REDIS BUG REPORT END. Make sure to include from START to END. ===

       Please report the crash by opening an issue on github:

           http://github.com/redis/redis/issues

  If a Redis module was involved, please open in the module's repo instead.

  Suspect RAM error? Use redis-server --test-memory to verify it.

  Some other issues could be detected by redis-server --check-system`;

const wordsOf = (text: string, redact: readonly string[] = []) => lastWordsOf(text.split('\n'), redact);

/** What it is, the end of a log, and the line that says why. */
const ENDS: readonly (readonly [what: string, log: string, line: string])[] = [
  [
    'Python: the last line of a traceback',
    'INFO starting\nTraceback (most recent call last):\n  File "/app/main.py", line 3, in <module>\n    url = os.environ["DATABASE_URL"]\n          ~~~~~~~~~~^^^^^^^^^^^^^^^^\nKeyError: \'DATABASE_URL\'',
    "KeyError: 'DATABASE_URL'",
  ],
  [
    'Python: the last of chained exceptions',
    'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nConnectionRefusedError: [Errno 111] Connection refused\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File "a.py", line 2, in <module>\n    f()\npsycopg2.OperationalError: connection to server at "db" (10.0.0.1), port 5432 failed: Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?\n',
    'psycopg2.OperationalError: connection to server at "db" (10.0.0.1), port 5432 failed: Connection refused',
  ],
  [
    'Python: what led to an exit without a message',
    'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: bad port\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File "a.py", line 2, in <module>\nSystemExit: 1',
    'ValueError: bad port',
  ],
  [
    'Python: a traceback that other lines follow',
    '[2026-01-01 12:00:00 +0000] [7] [ERROR] Exception in worker process\nTraceback (most recent call last):\n  File "/usr/lib/gunicorn/arbiter.py", line 609, in spawn_worker\n    worker.init_process()\nModuleNotFoundError: No module named \'app\'\n[2026-01-01 12:00:00 +0000] [7] [INFO] Worker exiting (pid: 7)\n[2026-01-01 12:00:00 +0000] [1] [ERROR] Worker (pid:7) exited with code 3\n[2026-01-01 12:00:00 +0000] [1] [ERROR] Shutting down: Master\n[2026-01-01 12:00:00 +0000] [1] [ERROR] Reason: Worker failed to boot.',
    "ModuleNotFoundError: No module named 'app'",
  ],
  [
    'Java: the last cause',
    'Exception in thread "main" java.lang.IllegalStateException: start failed\n\tat com.x.Main.main(Main.java:5)\nCaused by: java.lang.RuntimeException: no pool\n\tat com.x.A.b(A.java:1)\n\t... 1 more\nCaused by: java.net.ConnectException: Connection refused (db:5432)\n\t... 2 more',
    'java.net.ConnectException: Connection refused (db:5432)',
  ],
  [
    'Spring Boot: its own description',
    "2026-11-24T12:00:00.123Z ERROR 1 --- [           main] o.s.b.d.LoggingFailureAnalysisReporter   : \n\n***************************\nAPPLICATION FAILED TO START\n***************************\n\nDescription:\n\nWeb server failed to start. Port 8080 was already in use.\n\nAction:\n\nIdentify and stop the process that's listening on port 8080 or configure this application to listen on another port.\n",
    'Web server failed to start. Port 8080 was already in use.',
  ],
  [
    'Java: out of memory',
    'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space\n\tat java.util.Arrays.copyOf(Arrays.java:1)',
    'java.lang.OutOfMemoryError: Java heap space',
  ],
  [
    'Java: a VM that does not start',
    'Error occurred during initialization of VM\nToo small maximum heap',
    'Too small maximum heap',
  ],
  [
    'Go: the panic, no frame',
    '2026/11/24 12:00:00 starting\npanic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x48]\n\ngoroutine 1 [running]:\nmain.connect(...)\n\t/app/main.go:12\nmain.main()\n\t/app/main.go:20 +0x1d\nexit status 2',
    'panic: runtime error: invalid memory address or nil pointer dereference',
  ],
  [
    'Go: a dump of more goroutines than fifty lines hold',
    `panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/app/main.go:20 +0x1d\n${'\ngoroutine 7 [select, 3 minutes]:\nmain.wait(0xc0001)\n\t/app/wait.go:9 +0x45\n'.repeat(30)}`,
    'panic: boom',
  ],
  [
    'Java: a stack of more frames than that',
    `Exception in thread "main" java.lang.IllegalStateException: SMTP_HOST is not set\n${'\tat com.x.Step.run(Step.java:5)\n'.repeat(80)}`,
    'java.lang.IllegalStateException: SMTP_HOST is not set',
  ],
  [
    'Java: the error below the error of its launcher',
    'Error: LinkageError occurred while loading main class com.x.Main\n\tjava.lang.UnsupportedClassVersionError: com/x/Main has been compiled by a more recent version',
    'java.lang.UnsupportedClassVersionError: com/x/Main has been compiled by a more recent version',
  ],
  [
    'C++: an exception that nobody catches',
    "loading\nterminate called after throwing an instance of 'std::runtime_error'\n  what():  checksum mismatch\nAborted (core dumped)",
    'checksum mismatch',
  ],
  [
    'C++: an end without an exception',
    'loading\nterminate called without an active exception\nAborted',
    'terminate called without an active exception',
  ],
  [
    'Postgres: what exactly is wrong',
    '2026-11-24 18:02:11.310 UTC [1] FATAL:  database files are incompatible with server\n2026-11-24 18:02:11.310 UTC [1] DETAIL:  The data directory was initialized by PostgreSQL version 15.',
    'database files are incompatible with server: The data directory was initialized by PostgreSQL version 15.',
  ],
  [
    'MySQL: the reason, not that it could not start',
    '2026-11-24T18:02:11.510Z 1 [ERROR] [MY-014060] [Server] Cannot downgrade from 90100 to 80403.\n2026-11-24T18:02:11.610Z 0 [ERROR] [MY-010020] [Server] Data Dictionary initialization failed.\n2026-11-24T18:02:11.620Z 0 [ERROR] [MY-010119] [Server] Aborting',
    'Cannot downgrade from 90100 to 80403.',
  ],
  [
    'a program that says no more than that it could not start',
    'INFO starting\nFATAL: application failed to start',
    'application failed to start',
  ],
  [
    'a script: what its tool says, not that the step failed',
    'running migrations\npsql: error: connection to server at "db" (10.0.0.1), port 5432 failed: FATAL:  password authentication failed for user "shop"\nmigration step failed',
    'psql: error: connection to server at "db" (10.0.0.1), port 5432 failed: FATAL: password authentication failed for user "shop"',
  ],
  ['a script that says no more', 'running migrations\nmigration step failed', 'migration step failed'],
  [
    'a program that speaks German',
    'Anwendung startet\nFEHLER: Verbindung zu lager-db fehlgeschlagen\nAnwendung wird beendet',
    'FEHLER: Verbindung zu lager-db fehlgeschlagen',
  ],
  [
    'Go: log.Fatal',
    '2026/11/24 12:00:00 connecting\n2026/11/24 12:00:01 dial tcp 10.0.0.1:5432: connect: connection refused',
    'dial tcp 10.0.0.1:5432: connect: connection refused',
  ],
  [
    'Node: the uncaught error, no frame',
    "/app/index.js:12\n    throw new Error('x');\n    ^\n\nError: Missing required environment variable API_KEY\n    at Object.<anonymous> (/app/index.js:12:9)\n    at node:internal/main/run_main_module:23:47\n\nNode.js v20.1.0",
    'Error: Missing required environment variable API_KEY',
  ],
  [
    'Node: an error of several addresses',
    "node:events:497\n      throw er; // Unhandled 'error' event\n      ^\n\nAggregateError [ECONNREFUSED]: \n    at internalConnectMultiple (node:net:1117:18)\n    at afterConnectMultiple (node:net:1684:7) {\n  code: 'ECONNREFUSED',\n  [errors]: [\n    Error: connect ECONNREFUSED ::1:5432\n        at createConnectionError (node:net:1647:14) {\n      errno: -111,\n    },\n    Error: connect ECONNREFUSED 127.0.0.1:5432\n        at createConnectionError (node:net:1647:14) {\n    }\n  ]\n}\n\nNode.js v22.1.0",
    'Error: connect ECONNREFUSED 127.0.0.1:5432',
  ],
  [
    'Node: the cause of an error',
    "TypeError: fetch failed\n    at node:internal/deps/undici/undici:12500:13\n    at async main (file:///app/x.mjs:3:1) {\n  [cause]: Error: getaddrinfo ENOTFOUND api.internal\n      at GetAddrInfoReqWrap.onlookupall [as oncomplete] (node:dns:118:26) {\n    errno: -3008,\n    code: 'ENOTFOUND',\n  }\n}",
    'Error: getaddrinfo ENOTFOUND api.internal',
  ],
  [
    'Node: no heap left',
    '<--- Last few GCs --->\n\n[1:0x1] 12 ms: Mark-sweep\n<--- JS stacktrace --->\n\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n 1: 0xb7 node::Abort() [node]\n 2: 0xb8 [node]',
    'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory',
  ],
  [
    'npm: no word of its own log',
    'npm ERR! missing script: start\nnpm ERR! \nnpm ERR! A complete log of this run can be found in:\nnpm ERR!     /srv/.npm/_logs/2026.log',
    'missing script: start',
  ],
  [
    'Ruby: the message and its class',
    "/app/app.rb:12:in 'connect': could not connect to server (PG::ConnectionBad)\n\tfrom /app/app.rb:3:in '<main>'",
    'could not connect to server (PG::ConnectionBad)',
  ],
  [
    'Rust before 1.73',
    "thread 'main' panicked at 'called `Result::unwrap()` on an `Err` value: Os { code: 2 }', src/main.rs:10:5\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
    'called `Result::unwrap()` on an `Err` value: Os { code: 2 } (src/main.rs:10:5)',
  ],
  [
    'Rust: the message below the panic',
    "thread 'main' (1) panicked at src/main.rs:10:5:\nDATABASE_URL must be set: NotPresent\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
    'DATABASE_URL must be set: NotPresent',
  ],
  [
    '.NET: the inner exception of one that says nothing',
    'Unhandled exception. System.AggregateException: One or more errors occurred. (Connection refused (db:5432))\n ---> System.Net.Http.HttpRequestException: Connection refused (db:5432)\n ---> System.Net.Sockets.SocketException (111): Connection refused\n   at System.Net.X()\n   --- End of inner exception stack trace ---\n   at Program.Main()',
    'System.Net.Http.HttpRequestException: Connection refused (db:5432)',
  ],
  ['a shell', 'sh: 1: wgett: not found', 'sh: 1: wgett: not found'],
  [
    'Postgres',
    '2024-01-01 12:00:00.000 UTC [1] LOG:  starting\n2024-01-01 12:00:00.000 UTC [1] FATAL:  data directory "/var/lib/postgresql/data" has wrong ownership\n2024-01-01 12:00:00.000 UTC [1] HINT:  The server must be started by the user that owns the data directory.',
    'data directory "/var/lib/postgresql/data" has wrong ownership',
  ],
  [
    'JSON: message and error',
    '{"level":"info","msg":"start"}\n{"level":"fatal","time":"x","msg":"could not open store","error":"open /data/x: permission denied"}\n{"level":"info","msg":"bye"}',
    'could not open store: open /data/x: permission denied',
  ],
  [
    'logfmt: message and error',
    'time="x" level=error msg="could not connect" err="dial tcp 10.0.0.1:5432: connection refused"\ntime="x" level=info msg="exiting"',
    'could not connect: dial tcp 10.0.0.1:5432: connection refused',
  ],
  [
    'klog',
    'I1123 12:00:00.123456       1 main.go:12] starting, 0 errors\nF1123 12:00:00.123456       1 main.go:12] unable to load in-cluster configuration\ngoroutine 1 [running]:\nk8s.io/klog.stacks()',
    'unable to load in-cluster configuration',
  ],
  [
    'plain words',
    'Loading config\nEnvironment variable PORT is undefined\nbye',
    'Environment variable PORT is undefined',
  ],
  [
    'nginx',
    '2026/11/24 12:00:00 [emerg] 1#1: host not found in upstream "api" in /etc/nginx/conf.d/default.conf:5\nnginx: [emerg] host not found in upstream "api" in /etc/nginx/conf.d/default.conf:5',
    'host not found in upstream "api" in /etc/nginx/conf.d/default.conf:5',
  ],
  [
    'Redis',
    "1:C 24 Nov 2026 12:00:00.000 * oO0OoO0OoO0Oo Redis is starting\n1:M 24 Nov 2026 12:00:00.000 # Can't open the append-only file: Permission denied",
    "Can't open the append-only file: Permission denied",
  ],
  [
    '.NET: an exception that says something',
    "Unhandled exception. System.IO.FileNotFoundException: Could not load file 'appsettings.json'\n   at Program.Main()",
    "System.IO.FileNotFoundException: Could not load file 'appsettings.json'",
  ],
  ['a program of another processor', 'exec /app/server: exec format error', 'exec /app/server: exec format error'],
  [
    'a script without its variable',
    '/entrypoint.sh: line 3: DB_HOST: unbound variable',
    '/entrypoint.sh: line 3: DB_HOST: unbound variable',
  ],
  [
    'a record with a traceback inside',
    '{"levelname":"ERROR","message":"worker died","exc_info":"Traceback (most recent call last):\\n  File \\"a.py\\", line 1\\nValueError: bad port"}',
    'ValueError: bad port',
  ],
  [
    'no line that only counts errors',
    'cannot open /data/index\nchecked 12 files, 0 errors, error=null',
    'cannot open /data/index',
  ],
  [
    'no line of level INFO where another one says more',
    'cannot reach db\n2026-11-24 12:00:00 INFO error budget reset failed gracefully',
    'cannot reach db',
  ],
  ...(
    [
      ['a signal', 'Redis 7.0.15 crashed by signal: 11, si_code: 2'],
      ['a panic', 'Guru Meditation: DEBUG PANIC called at Unix time 1795890040 #debug.c:510'],
      ['an assertion', "==> debug.c:530 '1 == 2' is not true"],
    ] as const
  ).map(([of, words]): (typeof ENDS)[number] => [`Redis: the report of ${of}`, reportOfRedis(words), words]),
  [
    'Go: a signal, with the registers behind its stacks',
    `ready\nSIGQUIT: quit\nPC=0x489a61 m=0 sigcode=0\n\ngoroutine 0 gp=0x9ffb60 m=0 mp=0xa00b00 [idle]:\nruntime.futex(0xa00c58, 0x80, 0x0, 0x0, 0x0, 0x0)\n\truntime/sys_linux_amd64.s:569 +0x21 fp=0x7ffc5a87a2b0 sp=0x7ffc5a87a2a8 pc=0x489a61\n\nrax    0xca\nr15    0x1\nrflags 0x286\ncs     0x33\nfs     0x0\ngs     0x0`,
    'SIGQUIT: quit',
  ],
  [
    'Ruby: its report, with the map of its memory at the end',
    `* Listening on http://0.0.0.0:8080\n/app/single.rb:61: [BUG] Segmentation fault at 0x0\nruby 3.1.2p20 (2022-04-12 revision 4491bb740a) [x86_64-linux-gnu]\n\n-- Control frame information ---\nc:0008 p:---- s:0038 e:000037 CFUNC  :join\n\n* Process memory map:\n\n${'7fa3d3776000-7fa3d379c000 r-xp 00001000 00:ca 1009453                   /lib/x86_64-linux-gnu/ld-linux-x86-64.so.2\n'.repeat(600)}`,
    '/app/single.rb:61: [BUG] Segmentation fault at 0x0',
  ],
  [
    'Java: what it ends with, not the options that it was given',
    'Picked up JAVA_TOOL_OPTIONS: -XX:+ExitOnOutOfMemoryError\nloading 12 orders',
    'loading 12 orders',
  ],
  ['the last line where none says that something is wrong', 'loading\nlistening on 8080\n\n', 'listening on 8080'],
  [
    'a host with its port, a file with its name',
    '2026-11-24T12:00:00Z ERROR db.shop.svc:5432 refused the connection',
    'db.shop.svc:5432 refused the connection',
  ],
];

describe('the last words of a program', () => {
  it.each(ENDS)('are, of %s, the line that says why', (_, log, line) => {
    expect(wordsOf(log).line).toBe(line);
  });

  it.each(ENDS)('have at most five more lines, of %s, none of them a frame or the line itself', (_, log, line) => {
    const { more } = wordsOf(log);
    expect(more.length).toBeLessThanOrEqual(5);
    for (const each of more) expect(each).not.toMatch(/^(?:at |goroutine |Node\.js v|Traceback)/);
    expect(more).not.toContain(line);
  });

  it('are none where nothing was written', () => {
    expect(wordsOf('\n \n')).toEqual({ more: [] });
    expect(lastWordsOf([], [])).toEqual({ more: [] });
  });

  it('keep the lines before in their order, and two behind', () => {
    const log = ['a 1', 'a 2', 'a 3', 'a 4', 'a 5', 'panic: boom', 'b 1', 'b 2', 'b 3'].join('\n');
    expect(wordsOf(log)).toEqual({ line: 'panic: boom', more: ['a 3', 'a 4', 'a 5', 'b 1', 'b 2'] });
  });

  it('do not come from an error that the program survived', () => {
    const after = Array.from({ length: 20 }, (_, index) => `2026-11-24 12:00:${index + 10} INFO order ${index} placed`);
    const log = [
      'Traceback (most recent call last):',
      '  File "a.py"',
      'ValueError: once',
      ...after,
      'cannot bind port 80',
    ];
    expect(lastWordsOf(log, []).line).toBe('cannot bind port 80');
  });

  it('do not quote the data that a database names in detail', () => {
    const log = 'UTC [9] ERROR:  duplicate key value\nUTC [9] DETAIL:  Key (email)=(a@example.com) already exists.';
    expect(wordsOf(log).line).not.toContain('example.com');
  });

  it('come from the last fifty lines', () => {
    const log = ['panic: long ago', ...Array.from({ length: 50 }, (_, index) => `line ${index}`)];
    expect(lastWordsOf(log, []).line).toBe('line 49');
  });
});

describe('the last words as foreign text', () => {
  it('are redacted as one text before anything is cut', () => {
    const { line, more } = wordsOf(
      'password: hunter2hunter2\nError: login with token=abcdef0123456789 for CUST-123456 failed',
      ['CUST-\\d{6}'],
    );
    expect(line).toBe('Error: login with token=[redacted:secret] for [redacted:custom] failed');
    expect(more).toEqual(['password: [redacted:secret]']);
    const key = [
      'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj',
      '-----END PRIVATE KEY-----',
      'exit',
    ];
    expect(JSON.stringify(lastWordsOf(key, []))).not.toContain('MIIEvQ');
  });

  it.each([
    ['an escaped name', '{"level":"error","msg":"login failed pass\\u0077ord=SECRET"}'],
    ['an escaped address', '{"level":"error","msg":"no postgres:\\/\\/app:SECRET@db\\/shop"}'],
    ['an escaped token', '{"level":"error","msg":"\\u0067hp_0123456789SECRETlmnopqrstuvwxyzABCD refused"}'],
    ['a name and its value in two fields', '{"level":"error","msg":"password","error":"SECRET"}'],
    ['the same in logfmt', 'level=error msg=password error=SECRET'],
    ['the same of an object', '{"level":"error","error":{"type":"password","message":"SECRET"}}'],
  ])('hide a secret that only the record’s words show: %s', (_how, given) => {
    const log = given.replace('SECRET', 'hunter2hunter2');
    const shown = [wordsOf(log), wordsOf(`panic: boom\n${log}`), wordsOf(`${log}\npanic: boom`)];
    expect(JSON.stringify(shown)).not.toContain('hunter2');
    expect(JSON.stringify(shown)).toContain('[redacted:');
  });

  it('hide the secret of a record, and still say what it says', () => {
    expect(wordsOf('{"level":"error","msg":"login failed","password":12345678901,"user":"roy"}').line).toBe(
      'login failed',
    );
  });

  it('hold no escape sequence, no direction mark, no line break and no curly quotes', () => {
    const { line = '' } = wordsOf(
      '\x1b[31mError: “boom”\x1b[0m\u202e said ‮nothing\rError: ” and kdebug says: no problems found',
    );
    expect(line).toBe('Error: " and kdebug says: no problems found');
  });

  it('are bounded: a line of 300 characters, whatever the log', () => {
    const huge = wordsOf(`Error: ${'x'.repeat(100_000)}`);
    expect(huge.line).toHaveLength(300);
    const lines = Array.from({ length: 50 }, () => `error ${'y '.repeat(8_000)}`);
    const { line = '', more } = lastWordsOf(lines, []);
    for (const each of [line, ...more]) expect(each.length).toBeLessThanOrEqual(300);
  });
});

it('reads a trace of standard error into which a line of standard output came', () => {
  const frame = (number: number) =>
    `  ${number}:     0x55e48d026554 - <&dyn core[c1f1a4ba060b9bfa]::panic::unwind_safe::RefUnwindSafe>\n              at /rustc/lib/panicking.rs:${number}:5`;
  const frames = Array.from({ length: 40 }, (_, index) => frame(index));
  const panic =
    "thread 'main' (22866) panicked at src/main.rs:6:5:\nindex out of bounds: the len is 2\nstack backtrace:";
  const mixed = [panic, ...frames.slice(0, 21), 'ready', ...frames.slice(21)].join('\n');
  expect(wordsOf(mixed).line).toBe('index out of bounds: the len is 2');
  expect(wordsOf(['ready', ...frames].join('\n')).line).toBe('ready');
});
