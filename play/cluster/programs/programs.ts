import type { Process, Program } from './process.ts';
import { seq } from './seq.ts';
import { runShell } from './shell.ts';

const echo: Program = ({ argv, write }) => {
  const isBare = argv[1] === '-n';
  write(`${argv.slice(isBare ? 2 : 1).join(' ')}${isBare ? '' : '\n'}`);
  return 0;
};

const printf: Program = ({ argv, write }) => {
  const [, format = '', ...values] = argv;
  const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', '\\': '\\', e: '\u001b' };
  const plain = format.replace(/\\([ntre\\])|\\(0[0-7]{1,3})/g, (all, key?: string, octal?: string) =>
    octal === undefined ? (escapes[key ?? ''] ?? all) : String.fromCharCode(Number.parseInt(octal, 8)),
  );
  write(plain.replace(/%%|%[sd]/g, (found) => (found === '%%' ? '%' : (values.shift() ?? ''))));
  return 0;
};

const cat: Program = ({ argv, files, write }) => {
  let code = 0;
  for (const path of argv.slice(1)) {
    const found = files(path);
    if (found.kind === 'file') {
      write(found.text);
      continue;
    }
    code = 1;
    const isDirectory = found.kind === 'directory';
    write(isDirectory ? `cat: read error: Is a directory\n` : `cat: can't open '${path}': ${why(found.kind)}\n`);
  }
  return code;
};

const ls: Program = ({ argv, files, write }) => {
  const paths = argv.slice(1).filter((word) => !word.startsWith('-'));
  let code = 0;
  for (const path of paths.length === 0 ? ['/'] : paths) {
    const found = files(path);
    if (found.kind === 'file') write(`${path}\n`);
    else if (found.kind === 'directory') write(found.names.map((name) => `${name}\n`).join(''));
    else {
      code = 1;
      write(`ls: ${path}: ${why(found.kind)}\n`);
    }
  }
  return code;
};

const why = (kind: 'missing' | 'denied') => (kind === 'denied' ? 'Permission denied' : 'No such file or directory');

const id: Program = ({ argv, user, write }) => {
  const name = (number: number) => (number === 0 ? `${number}(root)` : String(number));
  if (argv[1] === '-u') write(`${user.uid}\n`);
  else if (argv[1] === '-g') write(`${user.gid}\n`);
  else write(`uid=${name(user.uid)} gid=${name(user.gid)} groups=${name(user.gid)}\n`);
  return 0;
};

const env: Program = ({ env: variables, write }) => {
  write([...variables].map(([name, value]) => `${name}=${value}\n`).join(''));
  return 0;
};

const ps: Program = ({ files, argv, write }) => {
  const first = files('/proc/1/cmdline');
  const command = first.kind === 'file' ? first.text.replaceAll('\0', ' ').trim() : '?';
  write(`PID   USER     TIME  COMMAND\n    1 root      0:00 ${command}\n    7 root      0:00 ${argv.join(' ')}\n`);
  return 0;
};

const UNITS: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86400 };

const sleep: Program = async ({ argv, sleep: wait, signal, write }) => {
  const word = argv[1] ?? '';
  if (word === 'infinity') await wait(2 ** 31 - 1);
  const found = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(word);
  if (!found && word !== 'infinity') {
    write(`sleep: invalid number '${word}'\n`);
    return 1;
  }
  await wait(Number(found?.[1] ?? 0) * (UNITS[found?.[2] ?? ''] ?? 1) * 1000);
  return signal.aborted ? 137 : 0;
};

const uname: Program = ({ argv, write }) => {
  write(
    argv[1] === '-a' ? 'Linux local-cluster 6.1.0 #1 SMP x86_64 GNU/Linux\n' : argv[1] === '-r' ? '6.1.0\n' : 'Linux\n',
  );
  return 0;
};

/** A backtrace as gdb would print it for a process that waits for a lock that nobody gives back. */
const gdb: Program = ({ argv, files, write }) => {
  const pid = argv[argv.indexOf('-p') + 1] ?? '';
  if (!argv.includes('-p') || files('/proc/1/root').kind === 'denied') {
    write(`Could not attach to process ${pid}: ptrace: Operation not permitted.\n`);
    return 1;
  }
  write(
    [
      '[New LWP 8]',
      'Using host libthread_db library "/lib/x86_64-linux-gnu/libthread_db.so.1".',
      '0x00007f3c1a2b4e2d in futex_wait () from /lib/x86_64-linux-gnu/libc.so.6',
      '#0  0x00007f3c1a2b4e2d in futex_wait () from /lib/x86_64-linux-gnu/libc.so.6',
      '#1  0x00007f3c1a2b7a10 in pthread_mutex_lock () from /lib/x86_64-linux-gnu/libc.so.6',
      '#2  0x000055d2c0a41b7c in ledger_append (entry=0x55d2c1f3e2a0) at src/ledger.c:214',
      '#3  0x000055d2c0a40e11 in checkout_commit (cart=0x55d2c1f3d010) at src/checkout.c:88',
      '#4  0x000055d2c0a3f9f4 in serve (fd=9) at src/main.c:61',
      '#5  0x000055d2c0a3f5c0 in main (argc=1, argv=0x7ffd5a0b4c58) at src/main.c:112',
      `[Inferior 1 (process ${pid}) detached]`,
      '',
    ].join('\n'),
  );
  return 0;
};

/** The same audit for every pod, with answers that depend on the pod's files and user. */
const securityAudit: Program = (process) => {
  const root = process.files('/proc/1/root');
  const status = process.files('/proc/1/status');
  const uid = status.kind === 'file' ? (/Uid:\t(\d+)/.exec(status.text)?.[1] ?? '?') : '?';
  const findings = [uid === '0' ? 'FAIL the workload runs as root' : `pass the workload runs as uid ${uid}`];
  if (root.kind === 'denied') findings.push('skip file system: not readable with this profile');
  else
    findings.push(
      root.kind === 'directory' && root.names.includes('bin')
        ? 'FAIL a shell is in the image'
        : 'pass no shell in the image',
    );
  process.write(findings.map((line) => `security-audit: ${line}\n`).join(''));
  return findings.some((line) => line.startsWith('FAIL')) ? 1 : 0;
};

/** `lines COUNT WIDTH [LINES-PER-SECOND]`: numbered lines of about that width; the image `lines` of the end-to-end tests. */
const lines: Program = (process) => {
  const [, count = '0', width = '80', rate = '0'] = process.argv;
  const padding = ` ${'x'.repeat(Math.max(0, Math.min(4_096, Number(width)) - 12))}\n`;
  return seq({ ...process, argv: ['seq', '-w', '-s', padding, '-r', rate, '1', count] });
};

/** The process with this name, where the target's namespace is shared; else nothing, and 1. */
const pidof: Program = ({ argv, files, write }) => {
  const first = files('/proc/1/comm');
  if (first.kind !== 'file' || !argv.slice(1).includes(first.text.trim())) return 1;
  write('1\n');
  return 0;
};

const forever: Program = async ({ sleep: wait, signal }) => {
  await wait(2 ** 31 - 1);
  return signal.aborted ? 137 : 0;
};

const ROUND_MS = 5_000;
/** So many rounds are over when somebody looks for the first time. */
const ROUNDS_BEFORE = 40;

/** A service whose database cannot be reached: it stays, and says so in every round. */
const stockSync: Program = async ({ sleep: wait, signal, write }) => {
  for (let round = 1; !signal.aborted; round += 1) {
    const tookMs = 1_900 + (round % 97);
    write(
      `INFO sync round ${round} started\nERROR round ${round}: cannot reach warehouse-db.backoffice.svc:5432: connection timed out after ${tookMs} ms\n`,
    );
    if (round > ROUNDS_BEFORE) await wait(ROUND_MS);
  }
  return 137;
};

const BUSYBOX: Readonly<Record<string, Program>> = {
  echo,
  printf,
  cat,
  ls,
  id,
  env,
  printenv: env,
  pidof,
  ps,
  sleep,
  uname,
  seq,
  true: () => 0,
  false: () => 1,
  ':': () => 0,
};

const EXTRA: Readonly<Record<string, Program>> = {
  gdb,
  helloworld: forever,
  lines,
  '/security-audit.sh': securityAudit,
  'stock-sync': stockSync,
};
const SHELLS = new Set(['sh', 'bash', 'ash', 'dash']);

/** Which simulated programs an image has: the busybox set and a shell, or nothing, and extras by name. */
export interface ProgramSet {
  readonly hasShell: boolean;
  readonly extras: readonly string[];
}

export function findProgram(set: ProgramSet, word: string): Program | undefined {
  if (set.extras.includes(word)) return EXTRA[word];
  if (!set.hasShell) return undefined;
  const name = word.replace(/^\/(usr\/)?bin\//, '');
  if (SHELLS.has(name)) return (process: Process) => runShell(process, (inner) => findProgram(set, inner));
  return Object.hasOwn(BUSYBOX, name) ? BUSYBOX[name] : undefined;
}
