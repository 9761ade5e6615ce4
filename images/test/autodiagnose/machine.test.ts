import { spawnSync } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import type { Diagnosis } from '../../../src/core/diagnosis/facts/report.ts';
import { isFull } from '../../../test/support/sample.ts';
import { canLook, diagnose, diagnosisOf, findingOf, has, sectionOf } from './script.ts';
import { cleanUp, directory, filesIn, fullQueue, IDLE, startProgram, startTarget, WELL } from './targets.ts';

/** Whether namespaces may be made here: of mounts, of networks. */
const canUnshare = (flag: string): boolean => {
  const isAllowed = has('unshare') && spawnSync('unshare', [flag, 'true']).status === 0;
  if (!isAllowed) console.warn(`skipped: unshare ${flag} is not allowed here`);
  return isAllowed;
};

const look = async (
  pid: number | undefined,
  env: Readonly<Record<string, string>>,
  before?: readonly string[],
): Promise<Diagnosis> => diagnosisOf(await diagnose({ AUTODIAGNOSE_PID: String(pid), ...env }, before));

const hasBusybox = has('busybox');

describe.skipIf(!canLook)('what the machine under a process does', () => {
  afterEach(cleanUp);

  it.skipIf(!hasBusybox)('is silence: clients and a new connection wait in vain', async () => {
    // Ten may wait, Linux takes one more; the other 29 clients get no answer.
    const { pid } = await startTarget(fullQueue(10));
    const diagnosis = await look(pid, {});
    expect(findingOf(diagnosis, 'syn_sent')).toMatchObject({ value: 29, threshold: 20 });
    expect(findingOf(diagnosis, 'peer_timeout')?.text).toMatch(/^1 peer does not answer a new connection: /);
  });

  it('is that others have the CPU, without a limit of its own', async () => {
    const { pid } = await startTarget(IDLE);
    const busy = {
      ...WELL,
      'cpu.max': 'max 100000\n',
      'cpu.stat': 'usage_usec 5000\n',
      'cpu.pressure': 'some avg10=72.10 avg60=0.00 avg300=0.00 total=1\n',
    };
    const diagnosis = await look(pid, { AUTODIAGNOSE_CGROUP: await filesIn(busy) });
    expect(findingOf(diagnosis, 'cpu_pressure')).toMatchObject({ value: 72, threshold: 60 });
  });

  it.skipIf(!canUnshare('--net') || !has('nsenter') || !hasBusybox)('is that it has few ports left', async () => {
    const nine = `const net = require('node:net');
      const server = net.createServer().listen(50000, '127.0.0.1', () => {
        let left = 9;
        for (let i = 0; i < 9; i++) net.connect(50000, '127.0.0.1', () => { if (--left === 0) console.log('ready'); });
      });`;
    const range = 'busybox ip link set lo up; echo 40000 40009 >/proc/sys/net/ipv4/ip_local_port_range; exec "$@"';
    const { pid } = await startProgram('unshare', ['--net', 'sh', '-c', range, 'sh', process.execPath, '-e', nine]);
    const diagnosis = await look(pid, {}, ['nsenter', `--net=/proc/${pid}/ns/net`]);
    expect(findingOf(diagnosis, 'ports_near_limit')).toMatchObject({
      value: 90,
      text: '90% of the local ports towards 127.0.0.1 port 50000 are in use (9 of 10)',
    });
  });

  it.skipIf(!isFull || !canUnshare('--mount') || !hasBusybox)('is that its disks are full, or read-only', async () => {
    const root = await directory();
    const mounts = [
      `mkdir ${root}/bin ${root}/full ${root}/files ${root}/broken`,
      `cp /bin/busybox ${root}/bin`,
      `mount -t tmpfs -o size=1m full ${root}/full && head -c 970000 /dev/zero >${root}/full/data`,
      `mount -t tmpfs -o nr_inodes=20 files ${root}/files && cd ${root}/files && touch 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19`,
      `mount -t tmpfs -o ro broken ${root}/broken && mount -o remount,bind,rw ${root}/broken`,
      `exec chroot ${root} /bin/busybox sh -c "echo ready; exec /bin/busybox sleep 120"`,
    ];
    const { pid } = await startProgram('unshare', ['--mount', 'sh', '-ec', mounts.join('\n')]);
    const diagnosis = await look(pid, {});
    expect(findingOf(diagnosis, 'disk_full')).toMatchObject({ value: 93, text: '/full is 93% full' });
    expect(findingOf(diagnosis, 'disk_inodes')?.text).toBe('/files has used 100% of its inodes');
    expect(findingOf(diagnosis, 'disk_read_only')?.text).toBe('/broken was made read-only by the kernel');
    expect(sectionOf(diagnosis, 'io')?.text).toContain('3 file systems, the fullest is /full with 93%');
  });

  it('is not told of a process that is in no container: what lies there is not its own', async () => {
    const { pid } = await startTarget(IDLE);
    const report = await diagnose({ AUTODIAGNOSE_PID: String(pid) });
    for (const name of ['io', 'filesystem'])
      expect(sectionOf(diagnosisOf(report), name)?.text).toMatch(/^not a container of its own: /);
    expect(report.out).not.toMatch(/^ {6}(mount )?\/.*/m);
  });
});
