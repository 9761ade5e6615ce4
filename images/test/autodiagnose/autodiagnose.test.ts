import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { parseDiagnosis } from '../../../src/core/diagnosis/marked-report.ts';
import { canLook, codesOf, diagnose, diagnosisOf, has, type Report, sectionOf } from './script.ts';
import { cleanUp, closeWait, directory, filesIn, IDLE, startProgram, startTarget, TROUBLE, WELL } from './targets.ts';

const IMAGE = fileURLToPath(new URL('../../autodiagnose', import.meta.url));

const SECTIONS = [
  'context',
  'processes',
  'memory',
  'cpu',
  'io',
  'files',
  'sockets',
  'dns',
  'peers',
  'tls',
  'filesystem',
  'environment',
  'runtime',
];

/** The tracked connections and lost packets are this machine's own. */
const isOurs = (code: string) => !/^(conntrack_|retransmits)/.test(code);

const onIdle = async (env: Readonly<Record<string, string>> = {}): Promise<Report> => {
  const { pid } = await startTarget(IDLE);
  return diagnose({ AUTODIAGNOSE_PID: String(pid), ...env });
};

describe.skipIf(!canLook)('the report', () => {
  afterEach(cleanUp);

  it('of a healthy process finds nothing wrong', async () => {
    const report = await onIdle({ AUTODIAGNOSE_CGROUP: await filesIn(WELL), KDEBUG_RUN: 'r1' });

    const diagnosis = diagnosisOf(report);
    expect(codesOf(diagnosis).filter(isOurs)).toEqual([]);
    expect(report).toMatchObject({ exitCode: 0, err: '' });
    expect(report.out.split('\n')[0]).toMatch(/^kdebug autodiagnose, run r1, \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(report.out.split('\n')[1]).toBe(diagnosis.verdict);
    expect(diagnosis.target).toMatchObject({
      uid: process.getuid?.(),
      gid: process.getgid?.(),
      effective: true,
      name: 'node',
    });
    expect(diagnosis.tool?.name).toBe('autodiagnose');
    expect(diagnosis.sections.map(({ name }) => name)).toEqual(SECTIONS);
    const unasked = diagnosis.sections.filter(({ state }) => state === 'not-looked-at').map(({ name }) => name);
    expect(unasked).toEqual(['io', 'dns', 'peers', 'tls', 'filesystem']);
    expect(report.out).toMatch(/^not looked at tls {9}no endpoints/m);
    expect(sectionOf(diagnosis, 'memory')?.text).toBe(
      '20 MiB in use (30 with cache) of 100 MiB, 20%; peak 40 MiB; 0 out-of-memory kills; pressure 0%',
    );
    expect(sectionOf(diagnosis, 'cpu')?.text).toContain('limit 500 millicores, throttled in 1% of all periods');
  });

  it('tells what it cost', async () => {
    const report = await onIdle({ AUTODIAGNOSE_SAMPLE: '1' });
    const { cost, sampleSeconds } = diagnosisOf(report);

    expect(sampleSeconds).toBe(1);
    expect(cost?.milliseconds).toBeGreaterThanOrEqual(1000);
    expect(cost?.memoryBytes).toBeGreaterThan(100_000);
    expect(report.out).toContain(`This check took ${cost?.milliseconds} ms, ${cost?.cpuMilliseconds} ms of CPU and `);
  });

  it('reads on while it samples: what a chart shows, and nothing without a sample', async () => {
    const AUTODIAGNOSE_CGROUP = await filesIn(WELL);
    const { series = [] } = diagnosisOf(await onIdle({ AUTODIAGNOSE_CGROUP, AUTODIAGNOSE_SAMPLE: '1' }));

    const memory = series.find(({ section }) => section === 'memory');
    expect(memory).toMatchObject({ text: 'Memory in use', unit: 'bytes', limit: 100 * 1024 * 1024 });
    expect(memory?.points.length).toBeGreaterThanOrEqual(3);
    expect(memory?.points.every(([, value]) => value === 20 * 1024 * 1024)).toBe(true);
    expect(diagnosisOf(await onIdle({ AUTODIAGNOSE_CGROUP })).series).toBeUndefined();
  });

  it('names the variables of the environment and shows no value', async () => {
    const { pid } = await startTarget(IDLE, {
      PASSWORD: 'hunter2',
      MANY: 'one\nLINES=two',
      JAVA_TOOL_OPTIONS: '-Dkey=hunter3',
    });

    const { out } = await diagnose({ AUTODIAGNOSE_PID: String(pid) });

    expect(out).toMatch(/environment 4 names and 0 of services/);
    expect(out).toMatch(/^ {6}.*\bPASSWORD\b/m);
    expect(out).not.toMatch(/hunter|LINES|two/);
  });

  it('says what runs the code, also behind a shell', async () => {
    const { pid } = await startTarget(IDLE);
    const runtimeOf = async (of: number | undefined) =>
      diagnosisOf(await diagnose({ AUTODIAGNOSE_PID: String(of) })).target?.runtime;
    expect(await runtimeOf(pid)).toBe('node');
    const shell = await startProgram('sh', ['-c', 'echo ready; sleep 120; :']);
    expect(await runtimeOf(shell.pid)).toBe('native');
    const wrapped = await startProgram('sh', [
      '-c',
      `echo ready; '${process.execPath}' -e "setInterval(() => {}, 1e6)"; :`,
    ]);
    await expect.poll(() => runtimeOf(wrapped.pid), { timeout: 20_000 }).toBe('node');
    if (has('python3')) {
      const script = 'import time; print(1, flush=True); time.sleep(120)';
      expect(await runtimeOf((await startProgram('python3', ['-c', script])).pid)).toBe('python');
    }
  });

  it('says what it could not read, what lacked and what helps', async () => {
    const diagnosis = diagnosisOf(await onIdle({ AUTODIAGNOSE_CGROUP: '/nonexistent' }));
    expect(sectionOf(diagnosis, 'memory')).toMatchObject({ state: 'not-readable', lacks: "the target's cgroup files" });
    expect(diagnosis.verdict).toContain('2 of 13 sections not readable');
  });

  it.skipIf(process.getuid?.() !== 0 || !has('setpriv'))(
    'of a stranger without capabilities names the identity that would see the target',
    async () => {
      const { pid } = await startProgram('setpriv', [
        ...[
          '--reuid=65532',
          '--regid=100',
          '--clear-groups',
          '--inh-caps=-all',
          '--bounding-set=-all',
          '--no-new-privs',
        ],
        ...['sh', '-c', 'echo ready; exec sleep 120'],
      ]);
      const stranger = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];

      const report = await diagnose(
        { AUTODIAGNOSE_PID: String(pid), AUTODIAGNOSE_TERMINATION_LOG: '/nonexistent/log' },
        stranger,
      );

      const diagnosis = diagnosisOf(report);
      expect(diagnosis.self).toEqual({ uid: 65534, gid: 65534, capabilities: [] });
      expect(diagnosis.target).toMatchObject({ uid: 65532, gid: 100, capabilities: [], effective: true });
      for (const name of ['memory', 'cpu', 'io', 'files', 'filesystem', 'environment', 'runtime'])
        expect(sectionOf(diagnosis, name), name).toMatchObject({
          state: 'not-readable',
          lacks: 'ptrace access to the target: its files, environment and cgroup',
          helps: ['identity', 'general', 'sysadmin'],
        });
      expect(sectionOf(diagnosis, 'sockets')?.text).toContain(' of the whole pod: ');
    },
  );

  it('is valid JSON whatever a process calls itself', async () => {
    const { pid } = await startTarget(`process.title = 'a"b\\\\\\n\\u00e9\\t}'; ${IDLE}`);
    const report = await diagnose({ AUTODIAGNOSE_PID: String(pid) });

    expect(sectionOf(diagnosisOf(report), 'context')?.text).toContain(`("a'b\\`);
    expect(report.out).toMatch(/^[\n -~]*$/);
  });

  it('is not written by the name of a process, which its owner chooses', async () => {
    // The kernel escapes the newline of a name, not its tab, which ends a field of our records.
    const { pid } = await startTarget(`process.title = 'a\\tb\\tFAKE\\tz'; ${IDLE}`);
    const report = await diagnose({ AUTODIAGNOSE_PID: String(pid) });

    const { target, findings } = diagnosisOf(report);
    expect(target?.name).toMatch(/^a.b.FAKE/);
    expect(target?.capabilities).not.toContain('FAKE');
    expect(findings.map(({ next }) => next)).not.toContain('FAKE');
    expect(report.err).toBe('');
  });

  it('is not written by the names of files and of the marks in them', async () => {
    const folder = await directory();
    const forged = `-----BEGIN KDEBUG REPORT-----{"kdebug":1,"verdict":"forged"}-----END KDEBUG REPORT-----`;
    const record = 'F\tmemory\toom_kill\t1\t9\t0\tforged\tforged';
    const names = [`${forged}\n${forged}`, `x\n${record}`, '\nsockets\n'];
    const open = names.map(
      (name) =>
        `fs.openSync(${JSON.stringify(path.join(folder, ''))} + '/' + ${JSON.stringify(name.replaceAll('/', '_'))}, 'w');`,
    );
    const remove = `for (const name of fs.readdirSync(${JSON.stringify(folder)})) fs.unlinkSync(${JSON.stringify(folder)} + '/' + name);`;
    const { pid } = await startTarget(`const fs = require('node:fs'); ${open.join(' ')} ${remove} ${IDLE}`);
    const report = await diagnose({ AUTODIAGNOSE_PID: String(pid) });

    const diagnosis = diagnosisOf(report);
    expect(diagnosis.verdict).not.toContain('forged');
    expect(codesOf(diagnosis)).not.toContain('oom_kill');
    expect(report.out.match(/^-----BEGIN KDEBUG REPORT-----$/gm)).toHaveLength(1);
    expect(report.err).toBe('');
  });

  it('in the termination file says the same', async () => {
    const { out, message } = await onIdle({ AUTODIAGNOSE_CGROUP: await filesIn(WELL) });
    const [long, short] = [parseDiagnosis(out, ''), parseDiagnosis('', message)];
    expect(short?.verdict).toBe(long?.verdict);
    expect(short?.findings).toEqual(long?.findings);
    expect(short?.sections.map(({ name, state }) => [name, state])).toEqual(
      long?.sections.map(({ name, state }) => [name, state]),
    );
  });

  it.each(['1024', '2048', '3072'])(
    'in the termination file stays within %s bytes when everything is wrong, the worst first',
    async (bytes) => {
      const { pid } = await startTarget(closeWait(150), {
        GOMAXPROCS: '64',
        GOMEMLIMIT: '900GiB',
        JAVA_TOOL_OPTIONS: '-Xmx900g',
        NODE_OPTIONS: '--max-old-space-size=90000',
      });
      const cgroup = await filesIn(TROUBLE);
      const report = await diagnose({
        AUTODIAGNOSE_PID: String(pid),
        AUTODIAGNOSE_CGROUP: cgroup,
        AUTODIAGNOSE_MESSAGE: bytes,
      });

      const [long, short] = [diagnosisOf(report), parseDiagnosis('', report.message)];
      expect(codesOf(long).length).toBeGreaterThanOrEqual(11);
      expect(codesOf(long)[0]).toBe('oom_kill');
      expect(short?.findings.map(({ code }) => code)).toEqual(codesOf(long).slice(0, short?.findings.length));
      expect(short?.findings.length).toBeGreaterThanOrEqual(3);
      expect(short?.target).toMatchObject({ pid, effective: true });
    },
  );

  it('is written although the termination file cannot be', async () => {
    const report = await onIdle({ AUTODIAGNOSE_TERMINATION_LOG: '/nonexistent/log' });
    expect(report).toMatchObject({ exitCode: 0, err: '' });
  });

  it('says only that it starts too late', async () => {
    const late = await onIdle({ KDEBUG_NOT_AFTER: '2024-05-01T10:00:00.000Z' });
    expect(late).toMatchObject({ exitCode: 0, err: '' });
    expect(diagnosisOf(late)).toMatchObject({ findings: [], sections: [] });
    expect(diagnosisOf(late).verdict).toMatch(/^Started too late: .*2024-05-01T10:00:00.000Z/);

    const early = await onIdle({ KDEBUG_NOT_AFTER: '2999-01-01T00:00:00Z' });
    expect(diagnosisOf(early).sections).toHaveLength(SECTIONS.length);
  });

  it.each([
    ['a time it cannot read', { KDEBUG_NOT_AFTER: 'tomorrow' }],
    ['a process that is not there', { AUTODIAGNOSE_PID: '999999999' }],
    ['a process id that is none', { AUTODIAGNOSE_PID: '1; id' }],
    ['a sample that is none', { AUTODIAGNOSE_SAMPLE: '3; id' }],
    // To a shell, a number of base 8; to JSON, none.
    ['a sample that begins with a zero', { AUTODIAGNOSE_SAMPLE: '03' }],
    ['a grace that begins with a zero', { AUTODIAGNOSE_GRACE: '09' }],
  ])('says that it could not look, with exit code 1, for %s', async (_name, env) => {
    const report = await onIdle(env);
    expect(report).toMatchObject({ exitCode: 1, err: '' });
    expect(diagnosisOf(report).verdict).toMatch(/^Could not look: /);
  });
});

describe('the image', () => {
  afterEach(cleanUp);

  it('is smaller than 7 MB, and is its program alone, which can be run and not read', async () => {
    const root = await directory();
    const built = spawnSync('sh', [path.join(IMAGE, 'build-rootfs.sh'), root]);
    expect(built.status, built.stderr.toString()).toBe(0);
    const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.map(({ name }) => name).sort()).toEqual(['autodiagnose', 'passwd']);
    const { size, mode } = statSync(path.join(root, 'autodiagnose'));
    expect(size).toBeLessThan(7_000_000);
    expect(mode & 0o777).toBe(0o111);
  });
});
