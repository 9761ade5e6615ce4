import { type ChildProcess, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { cpSync, mkdirSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { canLook, codesOf, diagnose, diagnosisOf, findingOf, has, sectionOf } from './script.ts';
import { cleanUp, connected, directory, filesIn, IDLE, MIB, startProgram, startTarget, WELL } from './targets.ts';

const hasBusybox = has('busybox');
const CLUSTER = 'search shop.svc.test.invalid svc.test.invalid test.invalid\noptions ndots:5\n';
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

    const env = { AUTODIAGNOSE_PID: String(pid) };
    const diagnosis = diagnosisOf(await diagnose(env));
    const untried = diagnosisOf(await diagnose({ ...env, AUTODIAGNOSE_PEERS: '0' }));
    for (const socket of sockets) socket.destroy();
    stays.close();

    expect(findingOf(diagnosis, 'peer_refused')).toMatchObject({
      text: `1 peer refuses a new connection: 127.0.0.1:${ports[1]}`,
    });
    expect(sectionOf(diagnosis, 'peers')?.text).toContain('tried 2: 1 reachable, 1 refused, 0 without an answer');
    expect(codesOf(untried)).not.toContain('peer_refused');
  });
});

describe.skipIf(!canLook || !hasBusybox || process.getuid?.() !== 0)('the name servers of a process', () => {
  const closing: (() => void)[] = [];
  afterEach(cleanUp);
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  it('are asked for a name of the cluster, for both kinds of address', async () => {
    const diagnosis = await lookUp(`nameserver ${await nameServer({})}\n`);
    expect(sectionOf(diagnosis, 'dns')).toMatchObject({ state: 'ok' });
    expect(sectionOf(diagnosis, 'dns')?.text).toMatch(
      /^1 name server, 3 search domains, ndots 5; 1 address of kubernetes\.default\.svc\.test\.invalid from 1 name server in .* ms; by TCP reachable$/,
    );
  });

  it('are asked by UDP and TCP; an API server, from which the pod may well be kept, is told as what it is', async () => {
    const diagnosis = await lookUp(`nameserver ${await nameServer({ isOverTcp: false })}\n`, '127.93.0.1');
    expect(findingOf(diagnosis, 'dns_no_tcp')?.text).toMatch(
      /^name server 127\.\S+ answers by UDP only \(TCP: refused\)$/,
    );
    expect(sectionOf(diagnosis, 'peers')).toMatchObject({
      state: 'ok',
      text: expect.stringMatching(/; the API server: refused; tried 0: 0 reachable, 0 refused, 0 without an answer$/),
    });
  });

  it('are told as the pod’s own loopback', async () => {
    const diagnosis = await lookUp('nameserver 127.93.0.2\n');
    expect(findingOf(diagnosis, 'dns_loopback')?.text).toBe(
      "name server 127.93.0.2, on the pod's own loopback, refuses: nothing listens there",
    );
  });

  it('know a name or not, and are slow', async () => {
    const unknown = await lookUp(`nameserver ${await nameServer({ code: 3 })}\n`);
    expect(codesOf(unknown)).toContain('dns_unknown_name');
    const slow = await lookUp(`nameserver ${await nameServer({ after: 1150 })}\n`);
    expect(codesOf(slow)).toContain('dns_slow');
  });

  it('are none, or too many', async () => {
    expect(codesOf(await lookUp(''))).toContain('dns_no_server');
    expect(codesOf(await lookUp('nameserver 127.93.0.2\n'.repeat(4)))).toContain('dns_many_servers');
  });

  async function lookUp(servers: string, apiServer = '127.93.0.1') {
    const { pid } = await inRoot({ 'etc/resolv.conf': CLUSTER + servers });
    const env = { AUTODIAGNOSE_PID: String(pid), KUBERNETES_SERVICE_HOST: apiServer, KUBERNETES_SERVICE_PORT: '1' };
    return diagnosisOf(await diagnose(env));
  }

  interface Manners {
    readonly code?: number;
    /** Milliseconds before each answer. */
    readonly after?: number;
    readonly isOverTcp?: boolean;
  }

  /** A name server at port 53 of an address of its own; it knows IPv4 addresses only. */
  async function nameServer({ code = 0, after = 0, isOverTcp = true }: Manners): Promise<string> {
    const address = `127.93.${1 + Math.floor(Math.random() * 250)}.${1 + Math.floor(Math.random() * 250)}`;
    const packets = createSocket('udp4', (question, { port, address: from }) => {
      const timer = setTimeout(() => packets.send(answerTo(question, code), port, from), after);
      closing.unshift(() => clearTimeout(timer));
    });
    const streams = createServer((socket) => socket.end());
    closing.push(() => packets.close());
    await once(packets.bind(53, address), 'listening');
    if (isOverTcp) {
      closing.push(() => streams.close());
      await once(streams.listen(53, address), 'listening');
    }
    return address;
  }
});

/** The question, and 10.96.0.1 where it asks for an IPv4 address (RFC 1035, 4.1). */
function answerTo(question: Buffer, code: number): Buffer {
  const answer = Buffer.from(question);
  answer.writeUInt16BE(0x8180 | code, 2);
  const isForFour = code === 0 && question.readUInt16BE(question.length - 4) === 1;
  if (!isForFour) return answer;
  answer.writeUInt16BE(1, 6);
  return Buffer.concat([answer, Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, 10, 96, 0, 1])]);
}

describe.skipIf(!canLook || !hasBusybox || process.getuid?.() !== 0)('a file that the target made', () => {
  afterEach(cleanUp);

  it.each([
    ['resolv.conf', 'a pipe that nobody writes to', 'mkfifo'],
    ['resolv.conf', 'without an end', 'truncate -s 1T'],
    ['hosts', 'a pipe that nobody writes to', 'mkfifo'],
    ['hosts', 'without an end', 'truncate -s 1T'],
  ])('in place of %s is %s', async (name, _, command) => {
    const { pid } = await inRoot({ 'etc/passwd': '' });
    spawnSync('sh', ['-c', `${command} /proc/${pid}/root/etc/${name}`]);
    const env = { AUTODIAGNOSE_PID: String(pid), KDEBUG_COMPARE: 'abcdefghijklmnopqrstuvwxyz' };
    const diagnosis = diagnosisOf(await diagnose(env, ['timeout', '10']));
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

    const diagnosis = diagnosisOf(await diagnose({ AUTODIAGNOSE_PID: String(pid) }));
    spawnSync('fallocate', ['-l', '1123M', `/proc/${pid}/root/tmp/large`]);
    const large = diagnosisOf(await diagnose({ AUTODIAGNOSE_PID: String(pid) }));

    expect(sectionOf(diagnosis, 'memory')?.text).toContain('of 100 MiB, 20%');
    expect(findingOf(diagnosis, 'core_dump')).toMatchObject({ value: 1, text: expect.stringContaining('/core.7') });
    expect(sectionOf(diagnosis, 'filesystem')?.text).toContain('; 3 MiB temporary files and logs');
    expect(findingOf(large, 'temporary_files')).toMatchObject({ value: 1126, threshold: 1024 });
  });

  it('are told soon, where very many programs crashed', async () => {
    const { pid } = await inRoot({ 'tmp/a': '' });
    spawnSync('sh', ['-c', `cd /proc/${pid}/root/tmp && seq -f core.%.0f 1 20000 | xargs touch`]);
    const diagnosis = diagnosisOf(await diagnose({ AUTODIAGNOSE_PID: String(pid) }, ['timeout', '15']));
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
