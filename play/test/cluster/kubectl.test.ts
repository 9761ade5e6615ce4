import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalCluster, openShop, startLocalCluster } from '../../cluster/index.ts';
import { hasKubectl, runKubectl } from './run-kubectl.ts';

if (!hasKubectl) console.warn('skipped: real kubectl against the local cluster, because there is no kubectl here');

describe.skipIf(!hasKubectl)('real kubectl', () => {
  let cluster: LocalCluster;
  let directory: string;

  beforeAll(async () => {
    cluster = await startLocalCluster({ kubeletDelayMs: 50 });
    openShop(cluster);
    directory = mkdtempSync(join(tmpdir(), 'kdebug-kubectl-'));
    writeFileSync(join(directory, 'config'), cluster.kubeconfig);
    const ready = await kubectl('wait', 'pod/pod-1234', '--for=condition=Ready', '--timeout=10s');
    expect(ready.out).toContain('condition met');
  });

  afterAll(async () => {
    const unknown = cluster.requests.unknown().map(({ method, url }) => `${method} ${url}`);
    await cluster.stop();
    rmSync(directory, { recursive: true, force: true });
    expect(unknown).toEqual([]);
  });

  const kubectl = (...words: string[]) => runKubectl(directory, ['-n', 'shop', ...words]);

  /** Runs an ephemeral container to its end and gives its log. */
  async function debug(pod: string, name: string, words: readonly string[]): Promise<string> {
    const launched = await kubectl('debug', pod, '-c', name, ...words);
    expect(launched).toMatchObject({ code: 0 });
    const path = '{.status.ephemeralContainerStatuses[0].state.terminated.exitCode}';
    await kubectl('wait', `pod/${pod}`, `--for=jsonpath=${path}`, '--timeout=10s');
    return (await kubectl('logs', pod, '-c', name)).out;
  }

  it('gets pods as a table', async () => {
    const { out } = await kubectl('get', 'pods');
    expect(out.split('\n')[0]).toMatch(/^NAME +READY +STATUS +RESTARTS +AGE$/);
    expect(out).toMatch(/^pod-1234 +1\/1 +Running +0 /m);
    expect(out.trim().split('\n')).toHaveLength(10);
  });

  it('watches pods as a table', async () => {
    const watching = kubectl('get', 'pods', '-w', '-l', 'app=watched', '--request-timeout=2s');
    cluster.addPod({ name: 'watched', namespace: 'shop', labels: { app: 'watched' } });
    const { out } = await watching;
    cluster.deletePod('shop', 'watched', 0);
    expect(out).toMatch(/^watched +1\/1 +Running/m);
  });

  it('debugs with a target and reads the log', async () => {
    const words = [
      '--image=busybox:1',
      '--target=web',
      '--profile=general',
      '--',
      'sh',
      '-c',
      'cat /proc/1/root/etc/hostname; exit 3',
    ];
    expect(await debug('pod-1234', 'one', words)).toBe('pod-1234\n');
  });

  it("runs Thurston's command", async () => {
    const words = [
      '--image=debugger:1.4',
      '--target=neato',
      '--profile=sysadmin',
      '--',
      'gdb',
      '-p',
      '1',
      '-batch',
      '-ex',
      'bt',
    ];
    expect(await debug('neato-5x9k3', 'gdb', words)).toContain('#0  ');
  });

  it('follows a log to its end', async () => {
    await kubectl(
      'debug',
      'nginx-pod-1234',
      '-c',
      'slow',
      '--image=busybox:1',
      '--profile=general',
      '--',
      'sh',
      '-c',
      'echo a; sleep 1; echo b',
    );
    await kubectl(
      'wait',
      'pod/nginx-pod-1234',
      '--for=jsonpath={.status.ephemeralContainerStatuses[0].state.running}',
      '--timeout=10s',
    );
    expect((await kubectl('logs', '-f', 'nginx-pod-1234', '-c', 'slow')).out).toBe('a\nb\n');
  });

  it('describes a pod with its events', async () => {
    const { out } = await kubectl('describe', 'pod', 'ledger-crash-0');
    expect(out).toMatch(/Name: +ledger-crash-0/);
    expect(out).toMatch(/Normal +Scheduled .* Successfully assigned shop\/ledger-crash-0 to local-node/);
  });

  it('is refused in the restricted namespace with Pod Security’s words', async () => {
    const { out, code } = await kubectl(
      'debug',
      '-n',
      'vault',
      'vault-0',
      '--image=busybox:1',
      '--profile=general',
      '--',
      'true',
    );
    expect(code).not.toBe(0);
    expect(out).toContain('violates PodSecurity "restricted:latest"');
  });

  it('asks whether it can, for itself and for somebody else', async () => {
    expect((await kubectl('auth', 'can-i', 'patch', 'pods', '--subresource=ephemeralcontainers')).out).toContain('yes');
    expect((await kubectl('auth', 'can-i', 'get', 'pods', '--as=roy')).out).toContain('no');
    expect((await kubectl('get', 'pods', '--as=roy')).out).toContain('User "roy" cannot list resource "pods"');
  });

  it('runs and deletes a pod', async () => {
    expect((await kubectl('run', 'mine', '--image=busybox:1', '--restart=Never', '--', 'true')).code).toBe(0);
    expect((await kubectl('delete', 'pod', 'mine', '--timeout=10s')).out).toContain('deleted');
    expect((await kubectl('get', 'pod', 'mine')).out).toContain('NotFound');
  });
});
