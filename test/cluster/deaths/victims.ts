import type { V1Container } from '@kubernetes/client-node';

/** A program that dies in one known way, once it gets a line on its standard input. */
export interface Victim {
  readonly name: string;
  readonly image: 'target-deaths' | 'target-jvm' | 'target-python' | 'target-node';
  readonly command: readonly string[];
  readonly memory: string;
  /** What the first line of an answer must say to name the cause. */
  readonly cause: RegExp;
  /** What it says at least where a killed process lost its memory, and its stack with it, while it was read. */
  readonly atLeast?: RegExp;
  /** A probe that ends it; its container is started again then. */
  readonly probe?: V1Container['livenessProbe'];
}

const native = (name: string, command: string, cause: RegExp): Victim => ({
  name,
  image: 'target-deaths',
  command: `/app/${command}`.split(' '),
  memory: '64Mi',
  cause,
});

const java = (name: string, words: string, cause: RegExp): Victim => ({
  name,
  image: 'target-jvm',
  command: `/usr/bin/java -Xmx32m -XX:+UseSerialGC -cp /app ${words}`.split(' '),
  memory: '256Mi',
  cause,
});

const node = (name: string, code: string, cause: RegExp): Victim => ({
  name,
  image: 'target-node',
  command: [
    '/usr/bin/node',
    '--max-old-space-size=16',
    '-e',
    `console.log('ready'); process.stdin.once('data', () => setTimeout(function priceOf() { ${code} }, 10));`,
  ],
  memory: '192Mi',
  cause,
});

const PYTHON = `import os, sys
print('ready', flush=True)
os.read(0, 1)
def price_of(order):
    `;

const python = (name: string, code: string, cause: RegExp): Victim => ({
  name,
  image: 'target-python',
  command: ['/usr/bin/python3', '-I', '-c', `${PYTHON}${code}\nprice_of({})\n`],
  memory: '64Mi',
  cause,
});

/** SIGTERM once `hang` has begun, and SIGKILL two seconds behind it. */
const PROBE: V1Container['livenessProbe'] = {
  exec: { command: ['/app/c', 'is-well'] },
  periodSeconds: 1,
  timeoutSeconds: 10,
  failureThreshold: 1,
  terminationGracePeriodSeconds: 2,
};

const IN_C: readonly Victim[] = [
  native('SIGSEGV in the main thread', 'c segv', /died of SIGSEGV \(address 0x0, a nil pointer\) in crash_here\+/),
  native(
    'SIGSEGV in another thread',
    'c thread-segv',
    /died of SIGSEGV \(address 0x0, .* in crash_here\+.*, thread \d/,
  ),
  native('a stack that is full', 'c overflow', /died of SIGSEGV \(.* it is full\) in overflow\+/),
  native('`abort()`', 'c abort', /gave itself up by abort\(\)( \(SIGABRT\))?, called in give_up\+/),
  native('`assert(0)`', 'c assert', /gave itself up by abort\(\).*, of an assertion that failed in check\+/),
  native('`exit(3)`', 'c exit', /ended itself with exit code 3, called in leave\+/),
  {
    ...native(
      'out of memory, 64 MiB',
      'c grow',
      /killed for memory in grow\+.*: the container had \d+ MiB of its 64 MiB/,
    ),
    atLeast: /was killed for memory/,
  },
  {
    ...native('a probe that fails', 'c hang', /SIGKILL, \d\.\d s after SIGTERM from outside .* in hang\+/),
    atLeast: /was killed by SIGKILL, \d\.\d s after SIGTERM from outside/,
    probe: PROBE,
  },
];

const OTHER_NATIVE: readonly Victim[] = [
  native('C++: an exception', 'cpp', /gave itself up by abort\(\).*, of an exception of C\+\+ that nobody .*price_of/),
  native('Go: a panic', 'go panic', /exit code 2, of a panic that nobody recovered in main\.panics \(main\.go:/),
  native('Go: concurrent map writes', 'go fatal', /code 2, of a fatal error .*\(a map that .* in main\.main\.func1 /),
  native('Go: a deadlock', 'go deadlock', /exit code 2, of a fatal error .*\(a deadlock: /),
  native('Rust: a panic', 'rust', /exit code 101, of a panic of Rust that nobody caught/),
  native('Rust: a panic, `panic=abort`', 'rust-abort', /abort\(\).*, of a panic of Rust .* in deaths::price_of\+/),
];

const WITH_A_RUNTIME: readonly Victim[] = [
  java('Java: an error', 'Deaths error', /exit code 1, of an exception of Java that nobody caught/),
  java('Java: `System.exit(6)`', 'Deaths exit', /exit code 6, by System\.exit/),
  java(
    'Java: a heap that is full',
    '-XX:+ExitOnOutOfMemoryError Deaths heap',
    /code 3, of a heap of Java that was full/,
  ),
  java('Java: a crash in native code', 'Deaths crash', /of a crash that the JVM caught in Unsafe_PutLong\+/),
  node('Node.js: an error', 'throw new Error("no price")', /exit code 1, of an error of Node\.js that nobody caught/),
  node('Node.js: a rejection', 'Promise.reject(new Error())', /exit code 1, of an error of Node\.js that nobody/),
  node('Node.js: `process.exit(1)`', 'process.exit(1)', /exit code 1, by process\.exit/),
  node(
    'Node.js: a heap that is full',
    'for (const all = [];;) all.push([all.length])',
    /of a JavaScript heap that was full/,
  ),
  python('Python: an exception', "return order['price']", /exit code 1, of an exception of Python that nobody caught/),
  python('Python: `sys.exit(1)`', 'sys.exit(1)', /exit code 1, by sys\.exit/),
  python('Python: `os.abort()`', 'os.abort()', /gave itself up by abort\(\).*, called in price_of \(<string>:5\)/),
  python(
    'Python: `Py_FatalError`',
    "import ctypes; ctypes.pythonapi.Py_FatalError(b'no price')",
    /abort\(\).*, of a fatal error of Python itself.* price_of \(<string>:5\)/,
  ),
  python(
    'Python: SIGSEGV in C',
    'import ctypes; ctypes.string_at(0)',
    /died of SIGSEGV \(address 0x0, a nil pointer\) .*, called by price_of \(<string>:5\)/,
  ),
];

export const VICTIMS: readonly Victim[] = [...IN_C, ...OTHER_NATIVE, ...WITH_A_RUNTIME];
