import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BedOptions, startBed } from '../../play/app/bed.ts';
import { type Answer, ask, askInThread, type ThreadAnswer } from '../../play/app/conversation.ts';
import type { LocalSlack } from '../../play/slack/index.ts';
import { itInFull } from '../support/sample.ts';
import { Kube } from './kube.ts';

/** Where the stories are told: the same on the local and on a real cluster. */
export interface Scene {
  /** The text of an administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** The context in it. */
  readonly context: string;
  readonly transport: 'http' | 'socket';
  /** Lines of the two long logs; fewer where time is short. */
  readonly longLogs: readonly number[];
  /** Lines a second of the long logs, where the writer can be paced. */
  readonly linesPerSecond?: number;
  /** Where the bot runs; default: in this process (`startBed`). */
  readonly start?: (options: BedOptions) => Promise<StoryBed>;
}

/** A bot with its Slack, wherever it runs. */
export interface StoryBed {
  readonly slack: LocalSlack;
  stop(): Promise<void>;
}

const BUSYBOX = 'localhost/busybox:1';
const CHANNEL = 'C0SHOP';
/** A node on which other work runs needs minutes to write and hand over 160 MB. */
const LONG_LOG_MS = 400_000;

const policyFor = (context: string, namespaces: readonly string[]): string => `version: 1
clusters:
  test: { context: "${context}", default: true }
identity: { mode: serviceAccount }
images:
  autodiagnose: { image: "localhost/autodiagnose:1", class: observe, timeout: 1m, diagnostic: true }
  debian: { image: "${BUSYBOX}", class: observe, command: allowed }
  lines: { image: "localhost/lines:1", class: observe, command: allowed }
  missing: { image: "localhost/no-such-image:1", class: observe }
defaultImage: autodiagnose
channels:
  ${CHANNEL}:
    rules:
      - { id: look, clusters: [test], namespaces: [${namespaces.join(', ')}], classes: [observe, intrusive, elevated], profiles: [restricted, baseline, general] }
limits: { startDeadline: 90s, maxLogBytes: 400Mi, runsPerUserPerMinute: 100, runsPerUser: 100, pendingApprovalsPerUser: 100, ephemeralContainersPerPodAndUser: 100 }
`;

/**
 * The end-to-end tests of issue 3: Slack's request in, the thread out. `slow`: also those in which a kubelet waits long before it says
 * more; `more`: also those of more than one run of a pod that stays as it is.
 */
export function tellStories(open: () => Promise<Scene>, close: () => Promise<void>, slow = true, more = true): void {
  let bed: StoryBed;
  let kube: Kube;
  let scene: Scene;
  let shop: string;
  let vault: string;
  const shell = (name: string, ...command: string[]) => ({
    name,
    image: BUSYBOX,
    imagePullPolicy: 'IfNotPresent',
    command,
  });

  beforeAll(async () => {
    scene = await open();
    kube = new Kube(scene.kubeconfig);
    [shop, vault] = await Promise.all([kube.namespace('kdebug-shop'), kube.namespace('kdebug-vault', 'restricted')]);
    bed = await (scene.start ?? startBed)({
      kubeconfig: scene.kubeconfig,
      policy: policyFor(scene.context, [shop, vault]),
      transport: scene.transport,
    });
    await kube.pod(shop, 'pod-1234', { terminationGracePeriodSeconds: 1, containers: [shell('app', 'sleep', '3600')] });
  });

  afterAll(async () => {
    await bed?.stop();
    await kube?.cleanUp();
    await close();
  });

  const say = (words: string): Promise<Answer> => ask(bed.slack, { user: 'U0ROY', channel: CHANNEL, words });

  const inThread = (words: string, limitMs?: number): Promise<ThreadAnswer> =>
    askInThread(bed.slack, { user: 'U0ROY', channel: CHANNEL, words }, limitMs);

  const fileOf = async ({ fileId, result }: ThreadAnswer): Promise<Buffer> => {
    const file = bed.slack.files().find(({ id }) => id === fileId);
    if (!file) throw new Error(`there is no file: ${result}`);
    return file.content();
  };

  describe('one run', () => {
    it('answers the main job in its thread with a verdict', async () => {
      const thread = await inThread('pod-1234 --image=autodiagnose');
      // The local cluster has no recording of a look beside this pod.
      expect(thread.anchor).toMatch(/nothing found in|worth knowing|Threshold: |play has no recording/i);
      expect(thread.result).toContain(thread.run);
      expect(thread.result).toMatch(/Exit code\s*:?\s*0/);
      expect(bed.slack.unknown).toEqual([]);
    });

    it("answers Jonas: a distroless pod's own file, through its process", async () => {
      await kube.pod(shop, 'neato-5thn0', {
        terminationGracePeriodSeconds: 1,
        containers: [{ name: 'neato', image: 'localhost/distroless:1', imagePullPolicy: 'IfNotPresent' }],
      });
      const thread = await inThread('neato-5thn0 --image=debian --target=neato -- cat /proc/1/root/etc/resolv.conf');
      expect(thread.anchor).toContain('Succeeded');
      expect(thread.result).toContain('nameserver');
    });

    it('tells exit code 3 as such', async () => {
      const thread = await inThread(`pod-1234 --image=debian -- sh -c 'echo looking; exit 3'`);
      expect(thread.anchor).toContain('failed with exit code 3');
      expect(thread.result).toContain('looking');
    });

    it.runIf(slow)('ends at once, with the words of the registry, when the image cannot be had', async () => {
      const thread = await inThread('pod-1234 --image=missing');
      expect(thread.anchor).toMatch(/did not start: its image (?:cannot be pulled|does not exist): /);
      expect(thread.result).toContain('localhost/no-such-image:1');
    });

    it('ends at once when the image has no such program', async () => {
      const thread = await inThread('pod-1234 --image=debian -- /no/such');
      expect(thread.anchor).toMatch(/did not start: (RunContainerError|StartError)/);
      expect(thread.result).toContain('no such file or directory');
    });

    it.runIf(slow)('says so when the pod wants a non-root user and the image has none', async () => {
      await kube.pod(shop, 'picky', {
        terminationGracePeriodSeconds: 1,
        securityContext: { runAsNonRoot: true },
        containers: [{ ...shell('app', 'sleep', '3600'), image: 'localhost/busybox-nonroot:1' }],
      });
      const thread = await inThread('picky --image=debian --profile=general -- id');
      expect(thread.anchor).toContain('did not start: CreateContainerConfigError');
      expect(thread.result).toContain('non-root');
    });

    it('passes a dollar sign through as it was typed', async () => {
      const thread = await inThread(`pod-1234 --image=debian -- echo '$(HOME)'`);
      expect(thread.result).toContain('$(HOME)');
    });

    it('names the wrong word privately, and starts nothing', async () => {
      const before = bed.slack.messages(CHANNEL).length;
      const answer = await say('pod-1234 --imgae=debian');
      expect(answer).toMatchObject({ kind: 'private' });
      expect(JSON.stringify(answer)).toContain('--image');
      expect(bed.slack.messages(CHANNEL)).toHaveLength(before);
    });

    it('says which pod it did not find', async () => {
      expect(await say('pod-4321')).toMatchObject({ kind: 'private', text: expect.stringContaining('pod-4321') });
    });
  });

  describe.runIf(more)('a target that changes meanwhile', () => {
    it('tells the end of the target apart from a failure of the diagnosis', async () => {
      await kube.pod(shop, 'short', {
        terminationGracePeriodSeconds: 1,
        restartPolicy: 'Never',
        // Long enough that a busy node says that it runs before it ends.
        containers: [shell('app', 'sleep', '20')],
      });
      const thread = await inThread('short --image=debian -- sleep 60');
      expect(thread.anchor).toContain('The target exited');
    });

    it('tells that the pod is gone when it is deleted', async () => {
      await kube.pod(shop, 'doomed', { terminationGracePeriodSeconds: 1, containers: [shell('app', 'sleep', '3600')] });
      const answer = inThread(`doomed --image=debian -- sh -c 'echo here; sleep 60'`);
      await kube.until(
        shop,
        'doomed',
        (pod) => pod.status?.ephemeralContainerStatuses?.[0]?.state?.running !== undefined,
      );
      await kube.remove(shop, 'doomed');
      const thread = await answer;
      expect(thread.anchor).toMatch(/The pod is gone|The target exited/);
    });

    itInFull('waits for a crash-looping target and runs in its next running window', async () => {
      await kube.pod(
        shop,
        'looping',
        { terminationGracePeriodSeconds: 1, containers: [shell('app', 'sh', '-c', 'sleep 4; exit 1')] },
        (pod) => pod.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff',
      );
      const thread = await inThread('looping --image=debian -- echo made it');
      expect(thread.anchor).toContain('Succeeded');
      expect(thread.result).toContain('made it');
    });
  });

  it.runIf(more)("sees a restricted namespace's target as its own user and group, without any capability", async () => {
    await kube.pod(vault, 'careful', {
      terminationGracePeriodSeconds: 1,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65532,
        runAsGroup: 65532,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          ...shell('app', 'sleep', '3600'),
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    });
    const thread = await inThread(`careful -n ${vault} --image=debian -- ls /proc/1/root`);
    expect(thread.result).toContain('restricted (picked automatically), runs as user 65532:65532');
    expect(thread.anchor).toContain('Succeeded');
    expect(thread.result).toMatch(/\bbin\b/);
  });

  describe.runIf(more)('a long log', () => {
    it.each([0, 1])('arrives whole and in order, or with its gaps marked (log %d)', async (which) => {
      const count = scene.longLogs[which] ?? 0;
      const thread = await inThread(
        `pod-1234 --image=lines --timeout=3m -- lines ${count} 80 ${scene.linesPerSecond ?? 0}`,
        LONG_LOG_MS,
      );
      expect(thread.anchor).toContain('Succeeded');
      const { missing, ...wrong } = linesIn(await fileOf(thread), count);
      expect(wrong).toEqual({ repeated: 0, disordered: 0 });
      // The reader may doubt what was whole; what it must never do is to lose a line without a word.
      if (missing > 0) {
        console.warn(`${missing} of ${count} lines are missing`);
        expect(thread.result).toMatch(/possible gap|may be missing|could not be read/);
      }
    });
  });
}

/** Counts what is wrong with a log of lines that each begin with their number, from 1. */
function linesIn(log: Buffer, count: number): { missing: number; repeated: number; disordered: number } {
  const seen = new Uint8Array(count + 1);
  let [repeated, disordered, last] = [0, 0, 0];
  for (let at = 0; at < log.length; ) {
    const number = Number.parseInt(log.toString('latin1', at, at + 10), 10);
    if (seen[number]) repeated += 1;
    if (number < last) disordered += 1;
    seen[number] = 1;
    last = number;
    const newline = log.indexOf(10, at);
    at = newline < 0 ? log.length : newline + 1;
  }
  return { missing: count - seen.subarray(1).reduce((sum, one) => sum + one, 0), repeated, disordered };
}
