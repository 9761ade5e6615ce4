import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { canLook, codesOf, diagnose, diagnosisOf, findingOf, has, sectionOf } from './script.ts';
import {
  cleanUp,
  connected,
  directory,
  filesIn,
  IDLE,
  MIB,
  pathWith,
  startProgram,
  startTarget,
  WELL,
} from './targets.ts';

const hasBusybox = has('busybox');
const CLUSTER = 'search shop.svc.test.invalid svc.test.invalid test.invalid\noptions ndots:5\n';
const IN_CLUSTER = { KUBERNETES_SERVICE_HOST: '10.96.0.1' };

/** A name server that knows IPv4 addresses only. */
const ANSWERS = `case $1 in -type=a) echo "Name: $2"; echo "Address: 10.96.0.1" ;; *) echo "*** Can't find $2: No answer"; exit 1 ;; esac`;

const listening = async (server: Server): Promise<number> => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
};

describe.skipIf(!canLook || !hasBusybox)('what a process talks to', () => {
  afterEach(cleanUp);

  it('is tried once more: reachable and refused told apart', async () => {
    const sockets: Socket[] = [];
    const [stays, goes] = [
      createServer((socket) => sockets.push(socket)),
      createServer((socket) => sockets.push(socket)),
    ];
    const ports = [await listening(stays), await listening(goes)];
    const { pid } = await startTarget(connected(...ports));
    // Its connection lives on; a new one is refused.
    goes.close();

    const env = { AUTODIAGNOSE_PID: String(pid), ...(await pathWith({ nc: null })) };
    const diagnosis = diagnosisOf(await diagnose(env));
    const untried = diagnosisOf(await diagnose({ ...env, AUTODIAGNOSE_PEERS: '0' }));
    for (const socket of sockets) socket.destroy();
    stays.close();

    expect(findingOf(diagnosis, 'peer_refused')).toMatchObject({
      value: 1,
      text: `1 peer refuses a new connection: 127.0.0.1:${ports[1]}`,
    });
    expect(sectionOf(diagnosis, 'peers')?.text).toContain('tried 2: 1 reachable, 1 refused, 0 without an answer');
    expect(codesOf(untried)).not.toContain('peer_refused');
  });

  it('is a name of the cluster, looked up for both kinds of address', async () => {
    const diagnosis = await lookUp('nameserver 10.96.0.10\n', { nslookup: ANSWERS, nc: 'exit 0' });
    expect(sectionOf(diagnosis, 'dns')).toMatchObject({ state: 'ok' });
    expect(sectionOf(diagnosis, 'dns')?.text).toMatch(
      /^1 name server, 3 search domains, ndots 5; a of kubernetes\.default\.svc\.test\.invalid in \d+ ms; aaaa of .* in \d+ ms; by TCP reachable$/,
    );
    expect(sectionOf(diagnosis, 'peers')?.text).toContain('; the API server: reachable; tried 0');
  });

  it('is a name server that answers by UDP only, and an API server that it may well be kept from', async () => {
    const tools = { nslookup: ANSWERS, nc: 'echo "nc: 10.96.0.1: Connection refused"; exit 1' };
    const diagnosis = await lookUp('nameserver 10.96.0.10\n', tools);
    expect(findingOf(diagnosis, 'dns_no_tcp')?.text).toContain('10.96.0.10 answers by UDP only (TCP: refused)');
    expect(sectionOf(diagnosis, 'peers')).toMatchObject({
      state: 'ok',
      text: expect.stringContaining('API server: refused'),
    });
  });

  it('is a name server that nobody answers for', async () => {
    const diagnosis = await lookUp('nameserver 127.0.0.1\n', { nslookup: null });
    expect(findingOf(diagnosis, 'dns_unanswered')?.text).toMatch(
      /^the name server 127\.0\.0\.1 gave no answer for a of /,
    );
  });

  it.each([
    ['dns_unknown_name', 'echo "** server can\'t find $2: NXDOMAIN"; exit 1', 'nameserver 10.96.0.10\n'],
    ['dns_slow', 'sleep 1.1; echo "Name: $2"; echo "Address: 10.96.0.1"', 'nameserver 10.96.0.10\n'],
    ['dns_no_server', 'exit 0', ''],
    ['dns_many_servers', 'echo "$2 Address"', 'nameserver 10.0.0.1\n'.repeat(4)],
  ])('is wrong: %s', async (code, script, servers) => {
    expect(codesOf(await lookUp(servers, { nslookup: script, nc: 'exit 0' }))).toContain(code);
  });

  async function lookUp(servers: string, tools: Readonly<Record<string, string | null>>) {
    const { pid } = await inRoot({ 'etc/resolv.conf': CLUSTER + servers });
    return diagnosisOf(await diagnose({ AUTODIAGNOSE_PID: String(pid), ...IN_CLUSTER, ...(await pathWith(tools)) }));
  }
});

describe.skipIf(!canLook || !hasBusybox || process.getuid?.() !== 0)('a file that the target made', () => {
  afterEach(cleanUp);

  it.each([
    ['resolv.conf', 'a pipe that nobody writes to', 'mkfifo'],
    ['resolv.conf', 'without an end', 'truncate -s 1T'],
    ['hosts', 'a pipe that nobody writes to', 'mkfifo'],
    ['hosts', 'without an end', 'truncate -s 1T'],
  ])('in place of %s is %s', { timeout: 20_000 }, async (name, _, command) => {
    const { pid } = await inRoot({ 'etc/passwd': '' });
    spawnSync('sh', ['-c', `${command} /proc/${pid}/root/etc/${name}`]);
    const env = { AUTODIAGNOSE_PID: String(pid), KDEBUG_COMPARE: 'abcdefghijklmnopqrstuvwxyz' };
    const diagnosis = diagnosisOf(await diagnose(env, ['timeout', '10', 'sh']));
    expect(sectionOf(diagnosis, 'dns')?.text).toContain('name server');
    expect(diagnosis.facts?.facts.filter(({ group }) => group === 'env')).not.toEqual([]);
  });
});

/** A process with a root of its own, which holds these files. */
async function inRoot(files: Readonly<Record<string, string>>): Promise<ChildProcess> {
  const root = await filesIn(files);
  mkdirSync(path.join(root, 'bin'));
  cpSync('/bin/busybox', path.join(root, 'bin/busybox'));
  return startProgram('chroot', [root, '/bin/busybox', 'sh', '-c', 'echo ready; exec /bin/busybox sleep 120']);
}

describe.skipIf(!canLook || !hasBusybox || process.getuid?.() !== 0)('the files of a container', () => {
  afterEach(cleanUp);

  it('hold its cgroup, a core dump and large temporary files', async () => {
    const cgroup = Object.fromEntries(Object.entries(WELL).map(([name, text]) => [`sys/fs/cgroup/${name}`, text]));
    const { pid } = await inRoot({ ...cgroup, 'core.7': 'x', 'tmp/core.js': '', 'tmp/a': 'x'.repeat(3 * MIB) });
    // What two seconds cannot count is left out, so a large directory is told by a du of the test's own.
    const tools = await pathWith({ du: 'echo "1153024 $2"' });

    const diagnosis = diagnosisOf(await diagnose({ AUTODIAGNOSE_PID: String(pid) }));
    const large = diagnosisOf(await diagnose({ AUTODIAGNOSE_PID: String(pid), ...tools }));

    expect(sectionOf(diagnosis, 'memory')?.text).toContain('of 100 MiB, 20%');
    expect(findingOf(diagnosis, 'core_dump')).toMatchObject({ value: 1, text: expect.stringContaining('/core.7') });
    expect(sectionOf(diagnosis, 'filesystem')?.text).toContain('; 3 MiB temporary files and logs');
    expect(findingOf(large, 'temporary_files')).toMatchObject({ value: 1126, threshold: 1024 });
  });

  it('are told soon, where very many programs crashed', { timeout: 20_000 }, async () => {
    const { pid } = await inRoot({ 'tmp/a': '' });
    spawnSync('sh', ['-c', `cd /proc/${pid}/root/tmp && seq -f core.%.0f 1 20000 | xargs touch`]);
    const diagnosis = diagnosisOf(await diagnose({ AUTODIAGNOSE_PID: String(pid) }, ['timeout', '15', 'sh']));
    const text = expect.stringMatching(/^64 or more core files of a crashed process, one is \/tmp\/core\.\d+$/);
    expect(findingOf(diagnosis, 'core_dump')).toMatchObject({ value: 64, text });
  });

  it('hold a token that was not renewed', async () => {
    const folder = 'run/secrets/kubernetes.io/serviceaccount';
    const { pid } = await inRoot({ [`${folder}/token`]: 'secret-token' });
    const data = path.join(`/proc/${pid}/root`, folder, '..data');
    spawnSync('ln', ['-s', '..2026', data]);
    const look = () => diagnose({ AUTODIAGNOSE_PID: String(pid) });
    expect(codesOf(diagnosisOf(await look()))).not.toContain('token_old');

    spawnSync('touch', ['-h', '-d', '30 hours ago', data]);
    const report = await look();
    expect(findingOf(diagnosisOf(report), 'token_old')).toMatchObject({ value: 30, threshold: 25 });
    expect(report.out).not.toContain('secret-token');
  });
});

describe.skipIf(!canLook || !has('openssl'))('certificates', () => {
  afterEach(cleanUp);

  async function serve(days: number, name: string): Promise<number> {
    const folder = await directory();
    const [key, certificate] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')];
    const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
    const made = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      String(days),
    ];
    spawnSync('openssl', [...made, '-keyout', key, '-out', certificate, ...subject]);
    const free = createServer();
    const port = await listening(free);
    free.close();
    await once(free, 'close');
    await startProgram('openssl', [
      's_server',
      '-accept',
      `127.0.0.1:${port}`,
      '-key',
      key,
      '-cert',
      certificate,
      '-www',
    ]);
    return port;
  }

  const look = async (endpoints: string) => {
    const { pid } = await startTarget(IDLE);
    return diagnosisOf(await diagnose({ AUTODIAGNOSE_PID: String(pid), AUTODIAGNOSE_TLS: endpoints }));
  };

  it('that end soon are found, and those for another name', async () => {
    const soon = await look(`localhost:${await serve(5, 'localhost')}`);
    expect(findingOf(soon, 'tls_expiring')).toMatchObject({ value: expect.toBeOneOf([4, 5]), threshold: 14 });
    expect(codesOf(soon)).not.toContain('tls_mismatch');

    const other = await look(`localhost:${await serve(300, 'web.shop.svc')}`);
    expect(codesOf(other)).toContain('tls_mismatch');
    expect(codesOf(other)).not.toContain('tls_expiring');
  });

  it('outside the cluster are never looked at', async () => {
    const diagnosis = await look('example.com:443 1.1.1.1:443 web.example.com:443 -x:1 $(id):1 *');
    expect(sectionOf(diagnosis, 'tls')?.text).toMatch(/^0 endpoints; 6 left out /);
  });
});
