import { readFileSync, writeFileSync } from 'node:fs';
import { ApiException, type V1PodSpec, type V1SecurityContext } from '@kubernetes/client-node';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findingOf, sectionOf } from '../../images/test/autodiagnose/script.ts';
import { table, withPart } from '../../scripts/generated.ts';
import { type Profile, securityContextOf, type UserAndGroup } from '../../src/core/container/profiles.ts';
import type { Diagnosis } from '../../src/core/diagnosis/facts/report.ts';
import { Kube } from '../e2e/kube.ts';
import { Looks, podOf } from './autodiagnose-looks.ts';
import { filesInLog } from './files-in-log.ts';

const kubeconfigPath = process.env.KUBECONFIG ?? '';
const PAGE = new URL('../../docs/stacks.md', import.meta.url);
const LEVELS = ['privileged', 'baseline', 'restricted'] as const;
type Level = (typeof LEVELS)[number];

const TARGET_USER = { uid: 10001, gid: 10001 };
const STRANGER = { uid: 65532, gid: 65532 };
const ROOT = { uid: 0, gid: 0 };

const VIEWERS: readonly { readonly profile: Profile; readonly runAs: UserAndGroup }[] = [
  { profile: 'restricted', runAs: TARGET_USER },
  { profile: 'restricted', runAs: STRANGER },
  { profile: 'baseline', runAs: ROOT },
  { profile: 'general', runAs: ROOT },
];

/** Each target, and what its right stacks hold: in the file, and in the report. */
const TARGETS = {
  jvm: { frames: [/Found one Java-level deadlock/, /Shop\.placeOrders/, /Shop\.countStock/], finding: 'deadlock' },
  python: { frames: [/loop_over_prices \(\/app\/app\.py/, /count_stock/, /stock-worker.*waiting for a lock/] },
  node: { frames: [/loopOverPrices \(app\.cjs/] },
  go: { frames: [/main\.waitForStock/, /chan receive/, /main\.loopOverPrices/] },
} satisfies Readonly<Record<string, { frames: readonly RegExp[]; finding?: string }>>;
type Target = keyof typeof TARGETS;
const RUNTIMES = Object.keys(TARGETS) as readonly Target[];

const RESTRICTED: V1SecurityContext = {
  runAsNonRoot: true,
  runAsUser: TARGET_USER.uid,
  runAsGroup: TARGET_USER.gid,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};

interface Wishes {
  readonly env?: Readonly<Record<string, string>>;
  readonly readOnly?: boolean;
  readonly tmp?: boolean;
}

/** A pod of one target, which Pod Security *restricted* admits. */
function specOf(target: Target, { env = {}, readOnly = false, tmp = false }: Wishes = {}): V1PodSpec {
  const container = {
    image: `localhost/target-${target}:1`,
    // Little of a core: several of them run at a time, beside other tests.
    env: Object.entries({ HOT: '0.2', ...env }).map(([name, value]) => ({ name, value })),
    securityContext: { ...RESTRICTED, readOnlyRootFilesystem: readOnly },
    volumeMounts: tmp ? [{ name: 'tmp', mountPath: '/tmp' }] : [],
  };
  return podOf(container, { volumes: tmp ? [{ name: 'tmp', emptyDir: {} }] : [] });
}

interface Look {
  readonly diagnosis: Diagnosis;
  readonly log: string;
  readonly threads: string;
}

describe.skipIf(kubeconfigPath === '')('the stacks image', () => {
  let kube: Kube;
  let looks: Looks;

  beforeAll(() => {
    const kubeconfig = readFileSync(kubeconfigPath, 'utf8');
    kube = new Kube(kubeconfig);
    looks = new Looks(kubeconfig);
  });
  // Each pod of a target is busy as long as it lives.
  afterEach(() => kube.cleanUp());

  async function podIn(namespace: string, name: string, target: Target, wishes?: Wishes): Promise<void> {
    await kube.pod(namespace, name, specOf(target, wishes));
    await expect.poll(() => looks.log(namespace, name), { timeout: 60_000, interval: 300 }).toContain('ready');
  }

  /** One look as the target's own user, or as somebody else; its files are checked. */
  async function look(
    namespace: string,
    name: string,
    env: Readonly<Record<string, string>> = {},
    securityContext: V1SecurityContext = { ...RESTRICTED, readOnlyRootFilesystem: true },
  ): Promise<Look> {
    const wishes = {
      image: 'localhost/stacks:1',
      env: { STACKS_SECONDS: '1', KDEBUG_TARGET: 'app', ...env },
      securityContext,
    };
    const { diagnosis, log } = await looks.report(namespace, name, wishes);
    return { diagnosis, log, threads: String(filesInLog(log).get('threads.txt') ?? '') };
  }

  async function expectUnharmed(namespace: string, name: string): Promise<void> {
    const { status } = await kube.read(namespace, name);
    const [state] = status?.containerStatuses ?? [];
    expect({ name, restarts: state?.restartCount, running: state?.state?.running !== undefined }).toEqual({
      name,
      restarts: 0,
      running: true,
    });
  }

  /** What one viewer got of one target: `stacks`, or what it lacked. Fails when the stacks are not the right ones. */
  async function cellOf(namespace: string, target: Target, viewer: (typeof VIEWERS)[number]): Promise<string> {
    const context = JSON.parse(JSON.stringify(securityContextOf(viewer.profile, viewer.runAs) ?? {}));
    let seen: Look;
    try {
      seen = await look(namespace, target, {}, context);
    } catch (error) {
      if (error instanceof ApiException && error.code === 403) return 'refused by Pod Security';
      throw error;
    }
    const section = sectionOf(seen.diagnosis, 'stacks');
    if (section?.state === 'not-readable') {
      expect(section.helps?.[0], seen.log).toBe('identity');
      expect(seen.diagnosis.target).toMatchObject(TARGET_USER);
      return `no: lacks the target’s user, or SYS_PTRACE`;
    }
    // The look before this one would have left it open.
    expect(findingOf(seen.diagnosis, 'inspector_open'), seen.log).toBeUndefined();
    const { frames, finding } = { finding: undefined, ...TARGETS[target] };
    for (const frame of frames) expect(seen.threads, seen.log).toMatch(frame);
    if (finding !== undefined) expect(findingOf(seen.diagnosis, finding), seen.log).toBeDefined();
    return 'yes';
  }

  async function rowsOf(level: Level): Promise<readonly (readonly string[])[]> {
    const namespace = await kube.namespace('kdebug-stacks', level);
    await Promise.all(RUNTIMES.map((target) => podIn(namespace, target, target)));
    const rows: (readonly string[])[] = [];
    for (const viewer of VIEWERS) {
      const cells = await Promise.all(RUNTIMES.map((target) => cellOf(namespace, target, viewer)));
      const { uid, gid } = viewer.runAs;
      const own = uid === TARGET_USER.uid ? " (the target's own)" : '';
      rows.push([level, `*${viewer.profile}*`, `${uid}:${gid}${own}`, ...cells]);
    }
    for (const target of RUNTIMES) await expectUnharmed(namespace, target);
    await kube.cleanUp();
    return rows;
  }

  it('sees what docs/stacks.md says, by profile, Pod Security level and runtime', async () => {
    const rows: (readonly string[])[] = [];
    for (const level of LEVELS) rows.push(...(await rowsOf(level)));
    const head = ['Pod Security', 'profile', 'runs as', 'JVM', 'Python', 'Node.js', 'Go with pprof'];
    const page = readFileSync(PAGE, 'utf8');
    const made = withPart(page, 'stacks-visibility', table(head, rows));
    if (process.env.KDEBUG_WRITE_DOCS === '1') writeFileSync(PAGE, made);
    else expect(page).toBe(made);
  });

  it('says who waits for whom in a deadlock, and counts the heap when asked', async () => {
    const namespace = await kube.namespace('kdebug-stacks', 'restricted');
    await podIn(namespace, 'jvm', 'jvm', { readOnly: true, tmp: true });
    const { diagnosis, log } = await look(namespace, 'jvm', { STACKS_HISTOGRAM: 'yes' });
    expect(diagnosis.verdict).toMatch(
      /order-worker in Shop\.\w+, .*stock-worker|stock-worker in Shop\.\w+, .*order-worker/,
    );
    expect(diagnosis.self).toMatchObject(TARGET_USER);
    expect(log).toMatch(/2 threads for a Shop\$Orders, held by “order-worker”/);
    expect(String(filesInLog(log).get('histogram.txt'))).toContain('java.lang.String');
    await expectUnharmed(namespace, 'jvm');
  });

  it('reads Python and Node with a read-only root; of a JVM it says what lacks, and where its log has the threads', async () => {
    const namespace = await kube.namespace('kdebug-stacks', 'restricted');
    await Promise.all(RUNTIMES.map((target) => podIn(namespace, target, target, { readOnly: true })));
    expect((await look(namespace, 'python')).threads).toContain('loop_over_prices');
    expect((await look(namespace, 'node')).threads).toContain('loopOverPrices');
    const { diagnosis } = await look(namespace, 'jvm');
    expect(sectionOf(diagnosis, 'stacks')).toMatchObject({ state: 'not-readable' });
    expect(diagnosis.verdict).toContain('/tmp');
    expect(await looks.log(namespace, 'jvm')).not.toContain('Full thread dump');
    const withLog = await look(namespace, 'jvm', { STACKS_TO_LOG: 'yes' });
    expect(withLog.log).toContain('was told to write its threads into its own log');
    await expect.poll(() => looks.log(namespace, 'jvm')).toContain('Found one Java-level deadlock');
    for (const target of RUNTIMES) await expectUnharmed(namespace, target);
  });

  it('does not attach to a JVM that forbids it', async () => {
    const namespace = await kube.namespace('kdebug-stacks', 'restricted');
    await podIn(namespace, 'jvm', 'jvm', { env: { JAVA_TOOL_OPTIONS: '-XX:+DisableAttachMechanism' } });
    const { diagnosis } = await look(namespace, 'jvm');
    expect(diagnosis.verdict).toContain('-XX:+DisableAttachMechanism in JAVA_TOOL_OPTIONS');
    expect(await looks.log(namespace, 'jvm')).not.toContain('Full thread dump');
  });

  it('finds a busy event loop, and closes the inspector of a loop that never turns', async () => {
    const namespace = await kube.namespace('kdebug-stacks', 'restricted');
    await podIn(namespace, 'node', 'node', { env: { HOT: '1' } });
    const { diagnosis, log } = await look(namespace, 'node');
    expect(findingOf(diagnosis, 'event_loop_busy')?.text).toMatch(
      // A loop that was entered before the profiler came may count as its caller: V8 does not see optimized code then.
      /is busy \d+% of the time(, mostly in (recompute|discount|loopOverPrices|listOnTimeout) |$)/,
    );
    expect(findingOf(diagnosis, 'inspector_open'), log).toBeUndefined();
    expect(JSON.parse(String(filesInLog(log).get('stacks.cpuprofile')))).toHaveProperty('nodes');
    // The loop never comes to write that the inspector ended: the kernel knows.
    const list = ['/bin/sh', '-c', 'netstat -tln'];
    const wishes = { image: 'localhost/lines:1', command: list, securityContext: RESTRICTED };
    const listeners = await looks.ended(namespace, 'node', await looks.start(namespace, 'node', wishes));
    expect(listeners.log).toContain('Active Internet connections');
    expect(listeners.log).not.toContain('9229');
    await expectUnharmed(namespace, 'node');
  });

  it.each(['TERM', 'KILL'])('leaves no inspector open when it gets %s', async (signal) => {
    const namespace = await kube.namespace('kdebug-stacks', 'restricted');
    await podIn(namespace, 'node', 'node');
    const wishes = {
      image: 'localhost/stacks:1',
      env: { STACKS_SECONDS: '20', KDEBUG_TARGET: 'app' },
      securityContext: RESTRICTED,
    };
    const name = await looks.start(namespace, 'node', wishes);
    await expect.poll(() => looks.log(namespace, 'node'), { timeout: 30_000 }).toContain('Debugger attached');
    const killer = await looks.start(namespace, 'node', {
      image: 'localhost/lines:1',
      command: ['/bin/sh', '-c', `kill -s ${signal} $(pidof stacks)`],
      securityContext: RESTRICTED,
    });
    expect((await looks.ended(namespace, 'node', killer)).state.exitCode).toBe(0);
    expect((await looks.ended(namespace, 'node', name)).state.exitCode).toBe(signal === 'KILL' ? 137 : 0);
    // Node writes "Debugger ending" when the last client goes, not when the port is closed.
    const loop = `for i in $(seq ${signal === 'KILL' ? 80 : 5}); do netstat -tln | grep -q :9229 || exit 0; sleep 1; done; exit 1`;
    const watcher = await looks.start(namespace, 'node', {
      image: 'localhost/lines:1',
      command: ['/bin/sh', '-c', `netstat -tln | grep -q Active || exit 2; ${loop}`],
      securityContext: RESTRICTED,
    });
    expect((await looks.ended(namespace, 'node', watcher)).state.exitCode).toBe(0);
    await expectUnharmed(namespace, 'node');
  });

  it('says so where it sees no target', async () => {
    const namespace = await kube.namespace('kdebug-stacks', 'restricted');
    await podIn(namespace, 'node', 'node');
    const wishes = { image: 'localhost/stacks:1', target: '', securityContext: RESTRICTED };
    const { diagnosis } = await looks.report(namespace, 'node', wishes);
    expect(diagnosis.verdict).toContain('Name the container');
    expect(diagnosis.target).toMatchObject({ effective: false });
    expect(sectionOf(diagnosis, 'stacks')?.helps).toEqual(['target']);
  });
});
