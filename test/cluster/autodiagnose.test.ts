import { readFileSync } from 'node:fs';
import type { V1PodSpec } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf, findingOf, sectionOf } from '../../images/test/autodiagnose/script.ts';
import type { Diagnosis } from '../../src/core/diagnosis/facts/report.ts';
import { parseDiagnosis } from '../../src/core/diagnosis/marked-report.ts';
import { Kube } from '../e2e/kube.ts';
import { GENERAL, Looks, podOf } from './autodiagnose-looks.ts';

/** `listens QUEUED`: whether so many connections wait at port 8080 (0x1F90); a busy machine takes its time to make them. */
const LISTENS =
  'listens() { cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q ":1F90 [0-9A-F]*:0000 0A [0-9A-F]*:$1 "; }';

const kubeconfigPath = process.env.KUBECONFIG ?? '';
if (kubeconfigPath === '') console.warn('skipped: KUBECONFIG names no cluster');

const shell = (script: string, ...args: string[]) => ({ command: ['sh', '-c', script, ...args] });
const limits = (memory: string, cpu = '1') => ({
  resources: { limits: { memory, cpu }, requests: { memory: '8Mi', cpu: '5m' } },
});
const volume = (medium?: string): Partial<V1PodSpec> => ({
  volumes: [{ name: 'data', emptyDir: medium ? { medium } : {} }],
});
const mounted = { volumeMounts: [{ name: 'data', mountPath: '/data' }] };
const NO_DNS: Partial<V1PodSpec> = {
  dnsPolicy: 'None',
  dnsConfig: { nameservers: ['127.0.0.1'], searches: ['shop.svc.test.invalid', 'svc.test.invalid'] },
};
const NAMES = Array.from({ length: 87 }, (_, place) => `/tmp/${place}`).join(' ');

/** Pods made wrong on purpose, and what each must say: the code, the number, and words of the text. */
const FAULTS: readonly {
  name: string;
  spec: V1PodSpec;
  code: string;
  value: number;
  text: string | RegExp;
  ready?: string;
}[] = [
  {
    name: 'memory',
    spec: podOf(
      { ...shell('head -c 92m </dev/zero >/data/x; echo ready; sleep 3600'), ...limits('100Mi'), ...mounted },
      volume('Memory'),
    ),
    code: 'memory_near_limit',
    value: 92,
    text: 'of 100 MiB',
  },
  {
    name: 'oom',
    spec: podOf({ ...shell('tail /dev/zero; echo ready; sleep 3600'), ...limits('30Mi') }),
    code: 'oom_kill',
    value: 1,
    text: 'the kernel killed 1 process of the target',
  },
  {
    name: 'queue',
    // A web server that was stopped in its tracks: its backlog is 9, Linux takes one more, and at times, on two CPUs, another.
    spec: podOf(
      shell(
        `${LISTENS}; httpd -f -p 8080 & until listens '[0-9A-F]*'; do sleep 0.1; done; kill -STOP $!; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do nc 127.0.0.1 8080 & done; until listens '0000000[A-F]'; do sleep 0.1; done; sleep 2; echo ready; sleep 3600`,
      ),
    ),
    code: 'listen_overflow',
    value: 1,
    text: /\b1[01] connections wait at port 8080/,
  },
  {
    name: 'files',
    spec: podOf(shell(`ulimit -n 100; touch ${NAMES}; echo ready; exec tail -f ${NAMES}`)),
    code: 'files_near_limit',
    value: 90,
    text: '90 of 100',
  },
  {
    name: 'deleted',
    spec: podOf(
      {
        ...shell(
          'dd if=/dev/zero of=/data/app.log bs=1M count=120 2>&1; exec 3</data/app.log; rm /data/app.log; echo ready; sleep 3600',
        ),
        ...mounted,
      },
      volume(),
    ),
    code: 'deleted_open',
    value: 120,
    text: '/data/app.log',
  },
  {
    name: 'zombies',
    spec: podOf(shell('for i in 1 2 3 4 5 6 7 8 9; do sleep 1 & done; echo ready; exec sleep 3600')),
    code: 'zombies',
    value: 9,
    text: '9 processes',
  },
  {
    name: 'dns',
    spec: podOf(shell('echo ready; sleep 3600'), NO_DNS),
    code: 'dns_loopback',
    value: 0,
    text: '127.0.0.1',
  },
  {
    name: 'heap',
    spec: podOf({ ...shell('echo ready; sleep 3600; :', 'java', '-Xmx1g', '-jar', 'app.jar'), ...limits('512Mi') }),
    code: 'jvm_heap',
    value: 200,
    text: 'JVM heap of 1024 MiB is 200% of the memory limit (512 MiB)',
  },
];

const distroless = { image: 'localhost/distroless:1', securityContext: { runAsUser: 65532, runAsGroup: 0 } };

describe.skipIf(kubeconfigPath === '')('autodiagnose on a real cluster', () => {
  let kube: Kube;
  let looks: Looks;
  let namespace: string;

  beforeAll(async () => {
    const kubeconfig = readFileSync(kubeconfigPath, 'utf8');
    kube = new Kube(kubeconfig);
    looks = new Looks(kubeconfig);
    namespace = await kube.namespace('autodiagnose');
  });
  afterAll(() => kube?.cleanUp());

  const ready = (name: string) =>
    expect.poll(() => looks.log(namespace, name), { timeout: 60_000, interval: 300 }).toContain('ready');

  it.each(FAULTS)('finds what is wrong with the pod "$name": $code', async ({ name, spec, code, value, text }) => {
    await kube.pod(namespace, name, spec);
    await ready(name);
    const diagnosis = await looks.look(namespace, name);
    const finding = findingOf(diagnosis, code);
    expect(finding, diagnosis.verdict).toBeDefined();
    expect(finding?.text).toMatch(text);
    if (code === 'listen_overflow') expect(finding?.value).toBeGreaterThanOrEqual(value);
    // The shell and the kernel's own pages count, too.
    else if (code === 'memory_near_limit') expect([value, value + 1]).toContain(finding?.value);
    else if (code !== 'dns_loopback') expect(finding?.value).toBe(value);
    expect(finding?.section === undefined ? undefined : sectionOf(diagnosis, finding.section)?.state).toBe('finding');
    cheap(diagnosis);
  });

  it.each([
    // A twentieth of a CPU is little enough to be used up on however busy a machine.
    { name: 'burn', fault: 'burn?seconds=600', cpu: '50m', code: 'cpu_throttled', above: 50 },
    { name: 'close-wait', fault: 'close-wait?n=300', cpu: '200m', code: 'close_wait', above: 299 },
    { name: 'leak', fault: 'leak?mib=90', cpu: '200m', code: 'memory_near_limit', above: 90 },
  ])('finds what a web service does on request: $code', async ({ name, fault, cpu, code, above }) => {
    const spec = podOf({ ...distroless, ...limits('96Mi', cpu) });
    // Beside a container without limits the pod as a whole has none, so that its fault does not slow the look.
    spec.containers.push({ name: 'beside', image: 'localhost/busybox:1', ...shell('exec sleep 3600') });
    await kube.pod(namespace, name, spec);
    await expect.poll(() => looks.fault(namespace, name, fault), { timeout: 60_000 }).toBe(200);
    const diagnosis = await looks.look(namespace, name);
    const value = findingOf(diagnosis, code)?.value;
    expect(value, diagnosis.verdict).toBeGreaterThan(above);
    if (code === 'close_wait') expect(value).toBe(300);
    cheap(diagnosis);
  });

  it('finds nothing wrong with a healthy pod, and costs little', async () => {
    await kube.pod(namespace, 'well', podOf({ ...distroless, ...limits('100Mi') }));
    const diagnosis = await looks.look(namespace, 'well', {
      securityContext: {
        runAsUser: 65532,
        runAsGroup: 0,
        capabilities: { drop: ['ALL'] },
        readOnlyRootFilesystem: true,
      },
    });
    // The node's own disk and tracked connections are not the pod's.
    expect(codesOf(diagnosis).filter((code) => !/^(disk|conntrack)_/.test(code))).toEqual([]);
    console.info(`cost of a look: ${JSON.stringify(diagnosis.cost)}`);
    cheap(diagnosis);
  });

  it('finds its target in a shared process namespace, where process 1 is the pause', async () => {
    await kube.pod(namespace, 'shared', podOf({ ...distroless, ...limits('100Mi') }, { shareProcessNamespace: true }));
    const { target, sections } = await looks.look(namespace, 'shared');
    expect(target).toMatchObject({ effective: true, name: 'app', uid: 65532, gid: 0 });
    expect(target?.pid).toBeGreaterThan(1);
    expect(sections.find(({ name }) => name === 'processes')?.text).toMatch(/^1 with /);
  });

  it('finds the container that is named among those that share their processes, else says which it took', async () => {
    const spec = podOf({ ...distroless, ...limits('100Mi') }, { shareProcessNamespace: true });
    spec.containers.push({ name: 'beside', image: 'localhost/busybox:1', ...shell('sleep 3600; :') });
    await kube.pod(namespace, 'both', spec);
    const { target } = await looks.look(namespace, 'both', {
      securityContext: GENERAL,
      env: { KDEBUG_TARGET: 'beside' },
    });
    expect(target).toMatchObject({ name: 'sh', uid: 0 });
    const diagnosis = await looks.look(namespace, 'both');
    expect(findingOf(diagnosis, 'target_unclear')).toMatchObject({ value: 2, threshold: 1 });
  });

  it('finds its target among all processes of the node', async () => {
    await kube.pod(namespace, 'on-node', podOf({ ...distroless, ...limits('100Mi') }, { hostPID: true }));
    const { target, sections } = await looks.look(namespace, 'on-node');
    expect(target).toMatchObject({ effective: true, name: 'app', uid: 65532, gid: 0 });
    expect(sections.find(({ name }) => name === 'processes')?.text).toMatch(/^1 with /);
    expect(sections.find(({ name }) => name === 'memory')?.text).toContain(' of 100 MiB, ');
  });

  it('notices that it has no target', async () => {
    await kube.pod(namespace, 'alone', podOf({ ...distroless }));
    const diagnosis = await looks.look(namespace, 'alone', { target: '', securityContext: GENERAL });
    expect(diagnosis.target).toMatchObject({ effective: false });
    expect(codesOf(diagnosis)).toEqual(['targeting_off']);
    expect(sectionOf(diagnosis, 'memory')).toMatchObject({ state: 'not-readable', helps: ['target'] });
  });

  it('counts no debug container, and leaves no process behind in the target', async () => {
    await kube.pod(namespace, 'visited', podOf(shell('exec sleep 3600')));
    const env = { KDEBUG_RUN: 'visitor', AUTODIAGNOSE_SAMPLE: '60' };
    await looks.running(
      namespace,
      'visited',
      await looks.start(namespace, 'visited', { securityContext: GENERAL, env }),
    );
    await looks.look(namespace, 'visited');
    const diagnosis = await looks.look(namespace, 'visited');
    expect(sectionOf(diagnosis, 'processes')?.text).toMatch(/^1 with 1 thread, started .* ago, 0 zombies/);
    expect(diagnosis.target?.name).toBe('sleep');
  });

  it('cannot even start in a pod whose memory is used up', async () => {
    // 97.5 MiB of 100: the kernel's own pages take about 1, and the start of a container more than 2.
    const fill = shell('head -c 99840k </dev/zero >/data/x; echo ready; sleep 3600');
    await kube.pod(namespace, 'full', podOf({ ...fill, ...limits('100Mi'), ...mounted }, volume('Memory')));
    await ready('full');
    const look = await looks.start(namespace, 'full', { securityContext: GENERAL });
    // What the verdict's finding no_room_to_start goes by.
    expect(await looks.refused(namespace, 'full', look)).toMatch(/^(RunContainerError|StartError)$/);
  });

  it('keeps a target of its own user out: that can neither write its report nor read its environment', async () => {
    const forged = '{"kdebug":1,"verdict":"Forged."}';
    // In the same process namespace, as the same user and group, and with the same capabilities: none.
    const attack = `
      while :; do
        for path in /proc/[0-9]*; do
          case $(tr '\\0' ' ' 2>/dev/null <"$path/cmdline") in '/autodiagnose '*) ;; *) continue ;; esac
          echo "seen" && cat "$path/environ" 2>/dev/null | grep -q KDEBUG_RUN && echo "read its environment"
          for number in 1 2; do
            (printf '\\n%s\\n' '-----BEGIN KDEBUG REPORT-----' '${forged}' '-----END KDEBUG REPORT-----' >>"$path/fd/$number") 2>/dev/null && echo planted
          done
          (echo '${forged}' >"$path/root/dev/termination-log") 2>/dev/null && echo planted
        done
        sleep 0.2
      done`;
    const user = { runAsUser: 65532, runAsGroup: 65532, runAsNonRoot: true };
    await kube.pod(
      namespace,
      'hostile',
      podOf({ command: ['sh', '-c', attack], securityContext: { ...user, capabilities: { drop: ['ALL'] } } }),
    );
    const { state, log } = await looks.ended(
      namespace,
      'hostile',
      await looks.start(namespace, 'hostile', {
        securityContext: { ...user, capabilities: { drop: ['ALL'] }, allowPrivilegeEscalation: false },
        env: { KDEBUG_RUN: 'aaaaaaaaaa' },
      }),
    );
    const diagnosis = parseDiagnosis(log, state.message ?? '');
    expect(diagnosis?.target).toMatchObject({ uid: 65532, effective: true });
    expect(log + state.message).not.toContain('Forged');
    const attacks = await looks.log(namespace, 'hostile');
    expect(attacks).toContain('seen');
    expect(attacks).not.toMatch(/planted|read its environment/);
  });

  it('stops another run, and says when there is none', async () => {
    await kube.pod(namespace, 'stopped', podOf({ ...distroless }));
    const start = (run: string, more: object) =>
      looks.start(namespace, 'stopped', {
        securityContext: { runAsUser: 65532, runAsGroup: 65532 },
        env: { KDEBUG_RUN: run, AUTODIAGNOSE_SAMPLE: '600' },
        ...more,
      });
    const victim = await start('aaaaaaaaaa', {});
    await looks.running(namespace, 'stopped', victim);

    const stopper = await start('bbbbbbbbbb', { args: ['stop', 'aaaaaaaaaa'] });
    const { state, log } = await looks.ended(namespace, 'stopped', stopper);
    expect(log).toMatch(/^Stopped run aaaaaaaaaa with (TERM|KILL): processes/);
    expect(state).toMatchObject({ exitCode: 0, message: log.trim() });
    expect((await looks.ended(namespace, 'stopped', victim)).state.exitCode).not.toBe(0);

    const again = await looks.ended(namespace, 'stopped', await start('cccccccccc', { args: ['stop', 'aaaaaaaaaa'] }));
    expect(again).toMatchObject({ state: { exitCode: 2 }, log: expect.stringContaining('Nothing to stop') });
  });

  /** The limits that the specification sets to a look. */
  function cheap({ cost }: Diagnosis): void {
    expect(cost?.milliseconds).toBeLessThan(10_000);
    expect(cost?.memoryBytes).toBeLessThan(32 * 1024 * 1024);
  }
});
