import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Diagnosis, parseDiagnosis } from '../../../src/core/report/diagnosis.ts';
import {
  cgroupOf,
  closeWait,
  diagnose,
  has,
  hasProc,
  IDLE,
  MIB,
  type Report,
  SCRIPT,
  SHELLS,
  startTarget,
  WELL,
} from './targets.ts';

const made: string[] = [];
const running: ChildProcess[] = [];
let idle: ChildProcess;

async function target(code: string): Promise<ChildProcess> {
  const child = await startTarget(code);
  running.push(child);
  return child;
}

async function cgroup(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await cgroupOf(files);
  made.push(root);
  return root;
}

async function stop(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

function diagnosisOf({ out }: Report): Diagnosis {
  const diagnosis = parseDiagnosis(out, '');
  if (diagnosis === undefined) throw new Error(`no report in: ${out}`);
  return diagnosis;
}

const codesOf = (diagnosis: Diagnosis): readonly string[] => diagnosis.findings.map(({ code }) => code);
const sectionOf = (diagnosis: Diagnosis, name: string) => diagnosis.sections?.find((section) => section.name === name);

describe.skipIf(!hasProc)('autodiagnose', () => {
  beforeAll(async () => {
    idle = await startTarget(IDLE);
  });
  afterAll(async () => {
    await stop(idle);
    await Promise.all(made.map((directory) => rm(directory, { recursive: true })));
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map(stop));
  });

  const onIdle = (env: Readonly<Record<string, string>> = {}, shell?: readonly string[]): Promise<Report> =>
    diagnose({ AUTODIAGNOSE_PID: String(idle.pid), ...env }, shell);

  test.each(SHELLS)('finds nothing wrong with a healthy process (%s %s)', async (...shell) => {
    const report = await onIdle({ AUTODIAGNOSE_CGROUP: await cgroup(WELL), KDEBUG_RUN: 'r1' }, shell.filter(Boolean));

    const diagnosis = diagnosisOf(report);
    // The disks are this machine's own.
    expect(codesOf(diagnosis).filter((code) => !code.startsWith('disk_'))).toEqual([]);
    expect(report).toMatchObject({ exitCode: 0, err: '' });
    expect(report.out.split('\n')[0]).toMatch(/^kdebug autodiagnose, run r1, \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(report.out.split('\n')[1]).toBe(diagnosis.verdict);
    expect(diagnosis.target).toEqual({
      pid: idle.pid,
      uid: process.getuid?.(),
      gid: process.getgid?.(),
      effective: true,
    });
    expect(diagnosis.sections?.map(({ name }) => name)).toEqual([
      'context',
      'processes',
      'memory',
      'files',
      'sockets',
      'dns',
      'mounts',
      'cpu',
    ]);
    expect(sectionOf(diagnosis, 'memory')?.text).toBe(
      '20 MiB in use (30 with cache) of 100 MiB, 20 %; 0 out-of-memory kills',
    );
    expect(sectionOf(diagnosis, 'cpu')?.text).toContain('limit 500 millicores, throttled in 1 % of all periods');
  });

  test.each(SHELLS)('counts sockets that the process does not close (%s %s)', async (...shell) => {
    const leaking = await target(closeWait(150));

    const diagnosis = diagnosisOf(await diagnose({ AUTODIAGNOSE_PID: String(leaking.pid) }, shell.filter(Boolean)));

    expect(diagnosis.findings).toContainEqual(
      expect.objectContaining({ code: 'close_wait', value: 150, threshold: 100, text: '150 sockets in CLOSE_WAIT' }),
    );
    expect(sectionOf(diagnosis, 'sockets')).toMatchObject({ state: 'finding' });
    expect(diagnosis.verdict).toContain('150 sockets in CLOSE_WAIT');
  });

  test('does not blame a process for the sockets of another', async () => {
    await target(closeWait(150));
    expect(codesOf(diagnosisOf(await onIdle()))).not.toContain('close_wait');
  });

  test.each(SHELLS)('reads cgroup v2 of a process in trouble (%s %s)', async (...shell) => {
    const trouble = {
      ...WELL,
      'memory.current': `${100 * MIB}\n`,
      'memory.stat': `inactive_file ${5 * MIB}\n`,
      'memory.events': 'oom 2\noom_kill 2\n',
      'cpu.stat': 'usage_usec 1\nnr_periods 1000\nnr_throttled 620\n',
      'pids.current': '90\n',
      'pids.max': '100\n',
    };
    const diagnosis = diagnosisOf(await onIdle({ AUTODIAGNOSE_CGROUP: await cgroup(trouble) }, shell.filter(Boolean)));

    const found = Object.fromEntries(diagnosis.findings.map(({ code, value }) => [code, value]));
    expect(found).toMatchObject({ memory_near_limit: 95, oom_kill: 2, cpu_throttled: 62, pids_near_limit: 90 });
    expect(diagnosis.findings.every(({ next }) => next !== undefined)).toBe(true);
  });

  test('reads cgroup v1 of a process in trouble', async () => {
    const trouble = {
      'memory/memory.usage_in_bytes': `${96 * MIB}\n`,
      'memory/memory.limit_in_bytes': `${100 * MIB}\n`,
      'memory/memory.stat': 'total_inactive_file 0\n',
      'memory/memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 1\n',
      'cpu/cpu.stat': 'nr_periods 100\nnr_throttled 40\nthrottled_time 5\n',
      'cpu/cpu.cfs_quota_us': '10000\n',
      'cpu/cpu.cfs_period_us': '100000\n',
      'cpuacct/cpuacct.usage': '5000000\n',
    };
    const diagnosis = diagnosisOf(await onIdle({ AUTODIAGNOSE_CGROUP: await cgroup(trouble) }));

    const found = Object.fromEntries(diagnosis.findings.map(({ code, value }) => [code, value]));
    expect(found).toMatchObject({ memory_near_limit: 96, oom_kill: 1, cpu_throttled: 40 });
    expect(sectionOf(diagnosis, 'cpu')?.text).toContain('limit 100 millicores');
  });

  test('knows that a limit of nothing is no limit', async () => {
    const unlimited = {
      'memory/memory.usage_in_bytes': `${96 * MIB}\n`,
      'memory/memory.limit_in_bytes': '9223372036854771712\n',
    };
    const diagnosis = diagnosisOf(await onIdle({ AUTODIAGNOSE_CGROUP: await cgroup(unlimited) }));
    expect(sectionOf(diagnosis, 'memory')?.text).toBe('96 MiB in use (96 with cache), no limit');
    expect(sectionOf(diagnosis, 'cpu')?.state).toBe('not-readable');
  });

  test('says what it could not read', async () => {
    const diagnosis = diagnosisOf(await onIdle({ AUTODIAGNOSE_CGROUP: '/nonexistent' }));
    expect(sectionOf(diagnosis, 'memory')).toMatchObject({ state: 'not-readable' });
    expect(diagnosis.verdict).toContain('2 of 8 sections not readable');
  });

  test('writes JSON whatever a process calls itself', async () => {
    const hostile = await target(`process.title = 'a"b\\\\\\n\\u00e9\\t}'; ${IDLE}`);
    const report = await diagnose({ AUTODIAGNOSE_PID: String(hostile.pid) });

    expect(sectionOf(diagnosisOf(report), 'context')?.text).toContain('(a"b\\');
    expect(report.out).toMatch(/^[\n -~]*$/);
  });

  test('leaves the same report, at most 3 KiB, in the termination file', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'kdebug-termination-'));
    made.push(directory);
    const file = path.join(directory, 'log');

    const { out } = await onIdle({ AUTODIAGNOSE_TERMINATION_LOG: file });

    const message = await readFile(file, 'utf8');
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(3072);
    expect(parseDiagnosis('', message)).toEqual(parseDiagnosis(out, ''));
  });

  test('goes on when the termination file cannot be written', async () => {
    const report = await onIdle({ AUTODIAGNOSE_TERMINATION_LOG: '/nonexistent/log' });
    expect(report).toMatchObject({ exitCode: 0, err: '' });
  });

  test.each(SHELLS)('does nothing when it starts too late (%s %s)', async (...shell) => {
    const late = await onIdle({ KDEBUG_NOT_AFTER: '2024-05-01T10:00:00.000Z' }, shell.filter(Boolean));
    expect(late).toMatchObject({ exitCode: 0, err: '' });
    expect(diagnosisOf(late)).toMatchObject({ findings: [], sections: [] });
    expect(diagnosisOf(late).verdict).toMatch(/^Started too late: .*2024-05-01T10:00:00.000Z/);

    const early = await onIdle({ KDEBUG_NOT_AFTER: '2999-01-01T00:00:00Z' }, shell.filter(Boolean));
    expect(diagnosisOf(early).sections).toHaveLength(8);
  });

  test.each([
    ['a time it cannot read', { KDEBUG_NOT_AFTER: 'tomorrow' }],
    ['a process that is not there', { AUTODIAGNOSE_PID: '999999999' }],
    ['a process id that is none', { AUTODIAGNOSE_PID: '1; id' }],
  ])('ends with 1 and a report for %s', async (_name, env) => {
    const report = await onIdle(env);
    expect(report).toMatchObject({ exitCode: 1, err: '' });
    expect(diagnosisOf(report).verdict).toMatch(/^Could not look: /);
  });

  test.skipIf(!has('shellcheck'))('is clean for shellcheck', () => {
    const { status, stdout } = spawnSync('shellcheck', [
      '-s',
      'sh',
      SCRIPT,
      path.join(path.dirname(SCRIPT), 'build-rootfs.sh'),
    ]);
    expect(stdout.toString()).toBe('');
    expect(status).toBe(0);
  });
});
