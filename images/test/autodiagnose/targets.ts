import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Real processes and files to be looked at, removed again by `cleanUp`. */

const running: ChildProcess[] = [];
const made: string[] = [];

export async function cleanUp(): Promise<void> {
  await Promise.all(running.splice(0).map(stop));
  await Promise.all(made.splice(0).map((directory) => rm(directory, { recursive: true, force: true })));
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  // Its children too.
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  await exited;
}

/** A process that has printed something; it ends at `cleanUp`. */
export async function startProgram(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<ChildProcess> {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
    env: { PATH: process.env.PATH ?? '', ...env },
  });
  running.push(child);
  await once(child.stdout, 'data');
  return child;
}

/** A node process that has run `code` and printed "ready". */
export const startTarget = (code: string, env: Readonly<Record<string, string>> = {}): Promise<ChildProcess> =>
  startProgram(process.execPath, ['-e', code], env);

/** A shell that runs `script`, which must print something. */
export const startShell = (script: string, args: readonly string[] = []): Promise<ChildProcess> =>
  startProgram('sh', ['-c', script, 'target', ...args]);

/** Ends by itself, should nobody be left to end it. */
export const IDLE = `setTimeout(() => {}, 120_000); console.log('ready')`;

/** Holds `count` sockets whose peers have closed. */
export const closeWait = (count: number): string => `
  const net = require('node:net');
  let ended = 0;
  const server = net.createServer((peer) => peer.end()).listen(0, '127.0.0.1', () => {
    for (let i = 0; i < ${count}; i++) {
      const socket = net.connect({ port: server.address().port, host: '127.0.0.1', allowHalfOpen: true });
      socket.resume().on('end', () => { if (++ended === ${count}) console.log('ready'); });
    }
  });`;

/** A server that does not close what its clients have closed. */
export const leakyServer = (count: number): string => `
  const net = require('node:net');
  let ended = 0;
  const server = net.createServer({ allowHalfOpen: true }, (peer) => {
    peer.resume().on('end', () => { if (++ended === ${count}) console.log('ready'); });
  }).listen(0, '127.0.0.1', () => {
    for (let i = 0; i < ${count}; i++) net.connect(server.address().port, '127.0.0.1').end();
  });`;

/** Listens, and hangs before it accepts anything: so many clients come to a queue for `backlog`. */
export const fullQueue = (backlog: number, clients = 40): string => `
  const net = require('node:net');
  const server = net.createServer().listen({ port: 0, host: '127.0.0.1', backlog: ${backlog} }, () => {
    const { port } = server.address();
    for (let i = 0; i < ${clients}; i++) net.connect(port, '127.0.0.1').on('error', () => {});
    const hang = () => {
      require('node:fs').writeSync(1, 'ready');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 120_000);
    };
    process.nextTick(() => process.nextTick(hang));
  });`;

/** Opens files until that many are open. */
export const openFiles = (count: number): string => `
  const fs = require('node:fs');
  // The listing itself opens one more.
  while (fs.readdirSync('/proc/self/fd').length - 1 < ${count}) fs.openSync('/dev/null');
  setTimeout(() => {}, 120_000);
  fs.writeSync(1, 'ready');`;

/** Has that many idle children, and beside them one that may open 400 files and runs this program of node. */
export const workers = (idle: number, program: string): string => `
  const { spawn } = require('node:child_process');
  for (let i = 0; i < ${idle}; i++) spawn('sleep', ['120'], { stdio: 'ignore' });
  const limited = ['-c', 'ulimit -n 400; exec "$@"', 'sh', process.execPath, '-e', ${JSON.stringify(program)}];
  spawn('sh', limited, { stdio: 'inherit' });`;

/** Holds a file of that size that is removed. */
export const deletedFile = (mib: number, file: string): string => `
  const fs = require('node:fs');
  const held = fs.openSync(${JSON.stringify(file)}, 'w');
  for (let i = 0; i < ${mib}; i++) fs.writeSync(held, Buffer.alloc(1024 * 1024, 1));
  fs.unlinkSync(${JSON.stringify(file)});
  ${IDLE}`;

/** Connects to these ports and stays connected. */
export const connected = (...ports: readonly number[]): string => `
  const net = require('node:net');
  let left = ${ports.length};
  for (const port of ${JSON.stringify(ports)}) {
    net.connect(port, '127.0.0.1', () => { if (--left === 0) console.log('ready'); }).on('error', () => {});
  }`;

export async function directory(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'kdebug-target-'));
  made.push(folder);
  return folder;
}

/** A directory with these files, as a cgroup (or a root) is seen from inside. */
export async function filesIn(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await directory();
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), content);
  }
  return root;
}

export const MIB = 1024 * 1024;

/** Cgroup v2 numbers of a process that is well. */
export const WELL = {
  'memory.current': `${30 * MIB}\n`,
  'memory.max': `${100 * MIB}\n`,
  'memory.peak': `${40 * MIB}\n`,
  'memory.stat': `anon 1\ninactive_file ${10 * MIB}\nworkingset_refault_anon 0\nworkingset_refault_file 0\npgscan_direct 0\n`,
  'memory.events': 'low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n',
  'memory.pressure': 'some avg10=0.50 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.12 avg60=0.00 avg300=0.00 total=1\n',
  'cpu.stat': 'usage_usec 5000\nnr_periods 1000\nnr_throttled 10\nthrottled_usec 1\n',
  'cpu.max': '50000 100000\n',
  'io.pressure': 'some avg10=0.50 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n',
  'pids.current': '7\n',
  'pids.max': 'max\n',
};

/** The same in every trouble that a cgroup can tell of. */
export const TROUBLE = {
  ...WELL,
  'memory.current': `${100 * MIB}\n`,
  'memory.stat': `inactive_file ${5 * MIB}\n`,
  'memory.events': 'high 0\nmax 7\noom 2\noom_kill 2\n',
  'memory.pressure':
    'some avg10=40.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=23.90 avg60=0.00 avg300=0.00 total=1\n',
  'cpu.stat': 'usage_usec 1\nnr_periods 1000\nnr_throttled 620\nthrottled_usec 99000\n',
  'io.pressure': 'some avg10=40.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=31.00 avg60=0.00 avg300=0.00 total=1\n',
  'pids.current': '90\n',
  'pids.max': '100\n',
};
