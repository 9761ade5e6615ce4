import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Finding } from '../../../src/core/diagnosis/facts/report.ts';
import { IMAGE_FINDINGS } from '../../../src/core/diagnosis/images/image-findings.ts';
import { canLook, codesOf, diagnose, diagnosisOf, findingOf, type Report, sectionOf } from './script.ts';
import {
  cleanUp,
  closeWait,
  deletedFile,
  directory,
  filesIn,
  fullQueue,
  IDLE,
  leakyServer,
  MIB,
  openFiles,
  startProgram,
  startShell,
  startTarget,
  TROUBLE,
  WELL,
  workers,
} from './targets.ts';

/** What one code of a look at a process says. */
async function found(pid: number | undefined, code: string, env = {}): Promise<Finding> {
  const diagnosis = diagnosisOf(await diagnose({ AUTODIAGNOSE_PID: String(pid), ...env }));
  const finding = findingOf(diagnosis, code);
  if (finding === undefined) throw new Error(`no ${code} in: ${diagnosis.verdict}`);
  const rule = IMAGE_FINDINGS.find((each) => each.code === code);
  expect(finding).toMatchObject({ next: rule?.next, section: rule?.section });
  expect(finding.threshold).toBe(rule?.threshold);
  expect(sectionOf(diagnosis, rule?.section ?? '')?.state).toBe('finding');
  return finding;
}

const copy = (from: string, to: string): void => cpSync(from, to, { recursive: true });

/** Does something between the two readings of a look: when the look tries an endpoint, which is within the sample. */
async function withinSample(
  act: () => void,
  look: (env: Readonly<Record<string, string>>) => Promise<Report>,
): Promise<Report> {
  const server = createServer((socket) => {
    act();
    socket.destroy();
  });
  const { port } = await new Promise<AddressInfo>((resolve) =>
    server.listen(0, () => resolve(server.address() as AddressInfo)),
  );
  try {
    return await look({ AUTODIAGNOSE_TLS: `localhost:${port}`, AUTODIAGNOSE_SAMPLE: '1' });
  } finally {
    server.close();
  }
}

describe.skipIf(!canLook)('a process in trouble', () => {
  afterEach(cleanUp);

  it('that leaves sockets unclosed', async () => {
    const { pid } = await startTarget(closeWait(300));
    const finding = await found(pid, 'close_wait');
    const text = expect.stringMatching(/^300 sockets in CLOSE_WAIT, most towards 127\.0\.0\.1 port \d+$/);
    expect(finding).toMatchObject({ value: 300, text });
  });

  it('that serves and leaves sockets unclosed', async () => {
    const { pid } = await startTarget(leakyServer(150));
    const text = expect.stringMatching(/^150 sockets in CLOSE_WAIT, most at local port \d+$/);
    // The kernel's list, read in pieces, may skip one while other programs' sockets come and go.
    await expect.poll(() => found(pid, 'close_wait'), { timeout: 20_000 }).toMatchObject({ value: 150, text });
  });

  it('that leaves sockets unclosed here and there', async () => {
    const { pid } = await startTarget(`${closeWait(60)} { ${closeWait(60)} }`);
    // Two programs in one, and none has most.
    await expect
      .poll(async () => (await found(pid, 'close_wait')).text, { timeout: 20_000 })
      .toBe('120 sockets in CLOSE_WAIT');
  });

  it('is not blamed for the sockets of another', async () => {
    await startTarget(closeWait(150));
    const { pid } = await startTarget(IDLE);
    expect(codesOf(diagnosisOf(await diagnose({ AUTODIAGNOSE_PID: String(pid) })))).not.toContain('close_wait');
  });

  it('that does not accept connections', async () => {
    const { pid } = await startTarget(fullQueue(20));
    const env = { AUTODIAGNOSE_PID: String(pid) };
    const diagnosis = diagnosisOf(await diagnose(env));
    // Linux takes one more than the backlog.
    expect(findingOf(diagnosis, 'accept_queue')).toMatchObject({ value: 21, threshold: 16 });
    expect(findingOf(diagnosis, 'listen_overflow')?.value).toBeGreaterThan(0);
  });

  it('that has 90% of its files open', async () => {
    const { pid } = await startShell(`ulimit -n 200; exec "$@"`, [process.execPath, '-e', openFiles(180)]);
    const finding = await found(pid, 'files_near_limit');
    expect(finding).toMatchObject({ value: 90, text: expect.stringContaining('180 of 200') });
  });

  it('whose child has 90% of its files open', async () => {
    const { pid } = await startTarget(workers(0, openFiles(360)));
    expect(await found(pid, 'files_near_limit')).toMatchObject({ value: 90 });
  });

  it('that only one of very many workers has', async () => {
    const { pid } = await startTarget(workers(520, openFiles(360)));
    const diagnosis = diagnosisOf(await diagnose({ AUTODIAGNOSE_PID: String(pid) }));
    expect(findingOf(diagnosis, 'files_near_limit')).toMatchObject({ value: 90 });
    expect(sectionOf(diagnosis, 'files')?.text).toContain('; 64 of 522 processes looked at');
    // Sockets that others of them hold are not to be told from those of the pod.
    expect(sectionOf(diagnosis, 'sockets')?.text).toContain(' of the whole pod: ');
  });

  it('that holds a big file that is deleted', async () => {
    const file = path.join(await directory(), 'app.log');
    const { pid } = await startTarget(deletedFile(120, file));
    const finding = await found(pid, 'deleted_open');
    expect(finding).toMatchObject({ value: 120, text: expect.stringContaining('app.log') });
  });

  it('that does not wait for its children', async () => {
    const script = 'for i in 1 2 3 4 5 6 7 8; do sleep 0.2 & done; echo ready; exec sleep 120';
    const { pid } = await startShell(script);
    await expect
      .poll(() => spawnSync('ps', ['-o', 'stat=', '--ppid', String(pid)]).stdout.toString(), { timeout: 20_000 })
      .toMatch(/^(Z\S*\s+){8}$/);
    expect(await found(pid, 'zombies')).toMatchObject({ value: 8 });
  });

  it('in a cgroup of version 2', async () => {
    const { pid } = await startTarget(IDLE);
    const env = { AUTODIAGNOSE_PID: String(pid), AUTODIAGNOSE_CGROUP: await filesIn(TROUBLE) };
    const diagnosis = diagnosisOf(await diagnose(env));
    expect(Object.fromEntries(diagnosis.findings.map(({ code, value }) => [code, value]))).toMatchObject({
      memory_near_limit: 95,
      memory_pressure: 23,
      oom_kill: 2,
      cpu_throttled_before: 62,
      io_pressure: 31,
      pids_near_limit: 90,
    });
  });

  it('in a cgroup of version 1', async () => {
    const { pid } = await startTarget(IDLE);
    const trouble = {
      'memory/memory.usage_in_bytes': `${96 * MIB}\n`,
      'memory/memory.limit_in_bytes': `${100 * MIB}\n`,
      'memory/memory.stat': 'total_inactive_file 0\n',
      'memory/memory.failcnt': '3\n',
      'memory/memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 1\n',
      'cpu/cpu.stat': 'nr_periods 1000\nnr_throttled 400\nthrottled_time 5\n',
      'cpu/cpu.cfs_quota_us': '10000\n',
      'cpu/cpu.cfs_period_us': '100000\n',
      'cpuacct/cpuacct.usage': '5000000\n',
    };
    const env = { AUTODIAGNOSE_PID: String(pid), AUTODIAGNOSE_CGROUP: await filesIn(trouble) };
    const diagnosis = diagnosisOf(await diagnose(env));
    expect(Object.fromEntries(diagnosis.findings.map(({ code, value }) => [code, value]))).toMatchObject({
      memory_near_limit: 96,
      oom_kill: 1,
      cpu_throttled_before: 40,
    });
    expect(findingOf(diagnosis, 'oom_kill')?.text).toBe('the kernel killed 1 process of the target for lack of memory');
    expect(sectionOf(diagnosis, 'memory')?.text).toContain('; 1 out-of-memory kill');
    expect(sectionOf(diagnosis, 'cpu')?.text).toContain('limit 100 millicores');
  });

  it('that is throttled or at its limit while we look', async () => {
    const { pid } = await startTarget(IDLE);
    const cgroup = await filesIn(WELL);
    const later = await filesIn({
      'cpu.stat': 'usage_usec 9000\nnr_periods 1010\nnr_throttled 18\nthrottled_usec 70001\n',
      'memory.current': `${95 * MIB}\n`,
      'memory.events': 'high 0\nmax 4\noom 0\noom_kill 0\n',
    });
    const report = await withinSample(
      () => copy(later, cgroup),
      (within) => diagnose({ AUTODIAGNOSE_PID: String(pid), AUTODIAGNOSE_CGROUP: cgroup, ...within }),
    );
    const diagnosis = diagnosisOf(report);
    expect(findingOf(diagnosis, 'cpu_throttled')).toMatchObject({
      value: 80,
      text: expect.stringContaining('8 of 10'),
    });
    expect(findingOf(diagnosis, 'memory_held_back')).toMatchObject({ value: 4 });
  });

  it('that reads again what the limit of its pod takes away', async () => {
    const { pid } = await startTarget(IDLE);
    const stat = (pages: number) => ({
      'memory.stat': `anon 1\ninactive_file ${10 * MIB}\nworkingset_refault_file ${pages}\n`,
    });
    const cgroup = await filesIn({ ...WELL, ...stat(1000) });
    const later = await filesIn(stat(101_000));
    const report = await withinSample(
      () => copy(later, cgroup),
      (within) => diagnose({ AUTODIAGNOSE_PID: String(pid), AUTODIAGNOSE_CGROUP: cgroup, ...within }),
    );
    expect(findingOf(diagnosisOf(report), 'memory_read_again')?.text).toMatch(
      /^memory is short, although the container is below its limit: 390 MiB read again in \d+ s /,
    );
  });

  it.each([
    ['at its limit for the cache of files is not', 'high 0\nmax 4000\n', undefined],
    ['above its high mark is', 'high 3\nmax 4000\n', 3],
  ])('that is only %s held back', async (_which, events, value) => {
    const { pid } = await startTarget(IDLE);
    const cgroup = await filesIn(WELL);
    // 30 MiB in use, all but 20 of them cache; the events are those of the second reading.
    const later = await filesIn({ 'memory.events': events });
    const report = await withinSample(
      () => copy(later, cgroup),
      (within) => diagnose({ AUTODIAGNOSE_PID: String(pid), AUTODIAGNOSE_CGROUP: cgroup, ...within }),
    );
    const diagnosis = diagnosisOf(report);
    expect(findingOf(diagnosis, 'memory_held_back')?.value).toBe(value);
  });

  it('whose limit is nothing has no limit', async () => {
    const { pid } = await startTarget(IDLE);
    const unlimited = {
      'memory/memory.usage_in_bytes': `${96 * MIB}\n`,
      'memory/memory.limit_in_bytes': '9223372036854771712\n',
    };
    const env = { AUTODIAGNOSE_PID: String(pid), AUTODIAGNOSE_CGROUP: await filesIn(unlimited) };
    const diagnosis = diagnosisOf(await diagnose(env));
    expect(sectionOf(diagnosis, 'memory')?.text).toBe(
      '96 MiB in use (96 with cache), no limit of its own; out-of-memory kills are not visible; what it reads again is not visible; pressure is not visible',
    );
    expect(sectionOf(diagnosis, 'cpu')?.state).toBe('not-readable');
  });

  it('whose runtime was given more than the container has', async () => {
    const env = { GOMAXPROCS: '8', GOMEMLIMIT: '98MiB', NODE_OPTIONS: '--max-old-space-size=95' };
    const { pid } = await startProgram(
      'sh',
      ['-c', 'echo ready; sleep 120; :', 'java', '-Xmx1g', '-jar', 'app.jar'],
      env,
    );
    const look = { AUTODIAGNOSE_PID: String(pid), AUTODIAGNOSE_CGROUP: await filesIn(WELL) };
    const diagnosis = diagnosisOf(await diagnose(look));
    expect(Object.fromEntries(diagnosis.findings.map(({ code, value }) => [code, value]))).toMatchObject({
      jvm_heap: 1024,
      node_heap: 95,
      go_memory_limit: 98,
      go_max_procs: 800,
    });
  });

  it.each([
    [{ JAVA_TOOL_OPTIONS: '-Xmx2g' }, '-Xmx96m', 96],
    [{ JAVA_TOOL_OPTIONS: '-Xmx2g', JDK_JAVA_OPTIONS: '-Xmx97m' }, '-Xss1m', 97],
    [{ JDK_JAVA_OPTIONS: '-Xmx2g', _JAVA_OPTIONS: '-Xmx98m' }, '-Xmx50m', 98],
    [{ _JAVA_OPTIONS: '-XX:MaxRAMPercentage=95' }, '-Xmx50m', undefined],
  ])('whose JVM has the last size that it was given: %j %s', async (env, flag, value) => {
    const java = path.join(await directory(), 'java');
    await symlink('/bin/sh', java);
    // Its child, like a parent that started it, has the variables as well.
    const { pid } = await startProgram(java, ['-c', 'echo ready; sleep 120; :', 'java', flag], env);
    const look = { AUTODIAGNOSE_PID: String(pid), AUTODIAGNOSE_CGROUP: await filesIn(WELL) };
    expect(findingOf(diagnosisOf(await diagnose(look)), 'jvm_heap')?.value).toBe(value);
  });

  it('whose runtime was given a share of the limit', async () => {
    const start = (percent: string) => startShell('echo ready; sleep 120; :', [`-XX:MaxRAMPercentage=${percent}`]);
    const cgroup = { AUTODIAGNOSE_CGROUP: await filesIn(WELL) };
    expect(await found((await start('95.5')).pid, 'jvm_heap', cgroup)).toMatchObject({ value: 95 });
    const well = await diagnose({ AUTODIAGNOSE_PID: String((await start('75')).pid), ...cgroup });
    expect(codesOf(diagnosisOf(well))).not.toContain('jvm_heap');
  });
});
