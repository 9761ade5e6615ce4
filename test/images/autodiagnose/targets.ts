import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Real processes to be looked at, and the script run on them. */

export const SCRIPT = fileURLToPath(new URL('../../../images/autodiagnose/autodiagnose.sh', import.meta.url));

export const hasProc = existsSync('/proc/self/status');
if (!hasProc) console.warn('skipped: autodiagnose needs /proc, which this machine does not have');

/** What a program is asked to know whether it is here; shells run `true`. */
const PROBES: Readonly<Record<string, readonly string[]>> = { busybox: ['true'], shellcheck: ['--version'] };

/** Whether a program is here; says so when it is not. */
export function has(program: string): boolean {
  const { error } = spawnSync(program, PROBES[program] ?? ['-c', 'true'], { stdio: 'ignore' });
  if (error !== undefined) console.warn(`skipped: there is no ${program}`);
  return error === undefined;
}

/** The shells of this machine that the script must run under. */
export const SHELLS: readonly (readonly string[])[] = [['sh'], ['dash'], ['bash'], ['busybox', 'sh']].filter(
  ([program = '']) => hasProc && has(program),
);

export interface Report {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the script; no CPU sample unless `env` asks for one. */
export function diagnose(env: Readonly<Record<string, string>>, shell: readonly string[] = ['sh']): Promise<Report> {
  const [program = 'sh', ...args] = shell;
  const quick = { PATH: process.env.PATH ?? '', AUTODIAGNOSE_TERMINATION_LOG: '/dev/null', AUTODIAGNOSE_SAMPLE: '0' };
  return new Promise((resolve) => {
    execFile(program, [...args, SCRIPT], { env: { ...quick, ...env } }, (error, out, err) => {
      resolve({ exitCode: typeof error?.code === 'number' ? error.code : 0, out, err });
    });
  });
}

/** A node process that has run `code` and printed "ready". */
export async function startTarget(code: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

export const IDLE = `setInterval(() => {}, 1e6); console.log('ready')`;

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

/** A directory with these files, as a cgroup is seen from inside. */
export async function cgroupOf(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), 'kdebug-cgroup-'));
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
  'memory.stat': `anon 1\ninactive_file ${10 * MIB}\n`,
  'memory.events': 'low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n',
  'cpu.stat': 'usage_usec 5000\nnr_periods 1000\nnr_throttled 10\nthrottled_usec 1\n',
  'cpu.max': '50000 100000\n',
  'pids.current': '7\n',
  'pids.max': 'max\n',
};
