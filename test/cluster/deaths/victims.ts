import type { V1Container } from '@kubernetes/client-node';

/** A program that dies in one known way, once it gets a line on its standard input. */
export interface Victim {
  readonly name: string;
  readonly image: 'target-deaths' | 'target-jvm' | 'target-python' | 'target-node';
  readonly command: readonly string[];
  readonly memory: string;
  /** What the first line of an answer must say to name the cause. */
  readonly cause: RegExp;
  /** A probe that ends it; its container is started again then. */
  readonly probe?: V1Container['livenessProbe'];
}

const SMALL = '64Mi';
const C = '/app/c';

const inC = (name: string, way: string, cause: RegExp): Victim => ({
  name,
  image: 'target-deaths',
  command: [C, way],
  memory: SMALL,
  cause,
});

const inGo = (name: string, way: string, cause: RegExp): Victim => ({
  ...inC(name, way, cause),
  command: ['/app/go', way],
});

const inRust = (name: string, program: string, cause: RegExp): Victim => ({
  ...inC(name, '', cause),
  command: [`/app/${program}`],
});

const inJava = (name: string, way: string, cause: RegExp): Victim => ({
  name,
  image: 'target-jvm',
  command: ['/usr/bin/java', '-Xmx32m', '-XX:+UseSerialGC', '-cp', '/app', 'Deaths', way],
  memory: '256Mi',
  cause,
});

const PYTHON = `import os, sys
print('ready', flush=True)
os.read(0, 1)
def price_of(order):
    `;

const inPython = (name: string, code: string, cause: RegExp): Victim => ({
  name,
  image: 'target-python',
  command: ['/usr/bin/python3', '-I', '-c', `${PYTHON}${code}\nprice_of({})\n`],
  memory: SMALL,
  cause,
});

const inNode = (name: string, code: string, cause: RegExp): Victim => ({
  name,
  image: 'target-node',
  command: [
    '/usr/bin/node',
    '-e',
    `console.log('ready'); process.stdin.once('data', () => setTimeout(function priceOf() { ${code} }, 10));`,
  ],
  memory: '192Mi',
  cause,
});

/** A line by itself is what a probe sees of `hang`: SIGTERM, and SIGKILL two seconds behind it. */
const PROBE: V1Container['livenessProbe'] = {
  exec: { command: [C, 'is-well'] },
  periodSeconds: 1,
  timeoutSeconds: 10,
  failureThreshold: 1,
  terminationGracePeriodSeconds: 2,
};

export const VICTIMS: readonly Victim[] = [
  inC('SIGSEGV in main', 'segv', / died of SIGSEGV \(address 0x0, a nil pointer\) in crash_here\+/),
  inC('SIGSEGV in a thread', 'thread-segv', / died of SIGSEGV \(address 0x0, .* in crash_here\+.*, thread \d+ /),
  inC('a stack that is full', 'overflow', / died of SIGSEGV \(.* it is full\) in overflow\+/),
  inC('abort()', 'abort', / gave itself up by abort\(\)(?: \(SIGABRT\))?, called in give_up\+/),
  inC('exit(3)', 'exit', / ended itself with exit code 3, called in leave\+/),
  inC('out of memory', 'grow', / was killed for memory in grow\+.*: the container had \d+ MiB of its 64 MiB/),
  {
    ...inC(
      'SIGTERM ignored, SIGKILL',
      'hang',
      / was killed by SIGKILL, [23]\.\d s after SIGTERM from outside .* in hang\+/,
    ),
    probe: PROBE,
  },
  inGo('Go: a panic', 'panic', / exit code 2, of a panic that nobody recovered in main\.panics \(main\.go:/),
  inGo('Go: concurrent map writes', 'fatal', / exit code 2, of a fatal error of Go's runtime in main\.main\.func1 /),
  inGo('Go: a deadlock', 'deadlock', / exit code 2, of a .*deadlock.* in main\.main /),
  inRust('Rust: a panic', 'rust', / exit code 101, of a panic of Rust/),
  inRust('Rust: a panic, panic=abort', 'rust-abort', / of a panic of Rust.* price_of/),
  inJava('Java: an uncaught error', 'error', / exit code 1, of an exception of Java that nobody caught/),
  inJava('Java: a crash in native code', 'crash', / a crash that the JVM caught in Unsafe_PutLong/),
  inNode(
    'Node.js: an uncaught error',
    'throw new Error("no price")',
    / exit code 1, of an error of Node\.js that nobody caught/,
  ),
  inNode('Node.js: process.exit(1)', 'process.exit(1)', / exit code 1, by process\.exit/),
  inPython(
    'Python: an exception',
    "return order['price']",
    / exit code 1, of an exception of Python that nobody caught/,
  ),
  inPython('Python: sys.exit(1)', 'sys.exit(1)', / exit code 1, by sys\.exit/),
  inPython('Python: os.abort()', 'os.abort()', / gave itself up by abort\(\).*, called by price_of \(<string>:5\)/),
  inPython(
    'Python: Py_FatalError',
    "import ctypes; ctypes.pythonapi.Py_FatalError(b'no price')",
    / gave itself up by abort\(\).* fatal error of Python.*, called by price_of \(<string>:5\)/,
  ),
  inPython(
    'Python: SIGSEGV in C',
    'import ctypes; ctypes.string_at(0)',
    / died of SIGSEGV \(address 0x0, a nil pointer\) .*, called by price_of \(<string>:5\)/,
  ),
];
