import { PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import {
  Attach,
  CoreV1Api,
  KubeConfig,
  PatchStrategy,
  setHeaderOptions,
  type V1ContainerStateTerminated,
  type V1Pod,
  type V1PodSpec,
} from '@kubernetes/client-node';
import { buildEphemeralContainer } from '../../../src/core/container/build.ts';
import { type Profile, securityContextOf } from '../../../src/core/container/profiles.ts';
import { parseDiagnosis } from '../../../src/core/diagnosis/marked-report.ts';
import { asRunId } from '../../../src/core/ids.ts';
import { Kube } from '../../e2e/kube.ts';
import { aPlan } from '../../support/builders.ts';
import type { Victim } from './victims.ts';

/** Where the images are, so that those of a branch can be judged too. */
const PREFIX = process.env.KDEBUG_DEATHS_IMAGES ?? 'localhost/';
const TARGET = { uid: 10_001, gid: 10_001 };
const ROOT = { uid: 0, gid: 0 };

/** How a container ended, as everybody sees it. */
export interface End {
  readonly exitCode: number;
  readonly reason: string;
}

/** What the watch said of it. */
export interface Told {
  readonly verdict: string;
  readonly heldMs: number;
  /** It had not the time to read all, and said so. */
  readonly isLate: boolean;
  readonly exitCode: number;
  readonly log: string;
}

export type WatchProfile = Extract<Profile, 'restricted' | 'general'>;

/** Lets programs die in pods of a cluster, with the blackbox beside them or without. */
export class DeathScene {
  readonly #config = new KubeConfig();
  readonly #core: CoreV1Api;
  readonly #kube: Kube;
  readonly #namespaces = new Map<WatchProfile, string>();
  #count = 0;

  constructor(kubeconfig: string) {
    this.#config.loadFromString(kubeconfig);
    this.#core = this.#config.makeApiClient(CoreV1Api);
    this.#kube = new Kube(kubeconfig);
  }

  /** Pod Security refuses SYS_PTRACE where it is enforced at all. */
  async begin(): Promise<void> {
    this.#namespaces.set('restricted', await this.#kube.namespace('kdebug-deaths', 'restricted'));
    this.#namespaces.set('general', await this.#kube.namespace('kdebug-deaths', 'privileged'));
  }

  cleanUp(): Promise<void> {
    return this.#kube.cleanUp();
  }

  /** How a victim ends without us. */
  async alone(victim: Victim): Promise<End> {
    return this.#inPod(victim, 'restricted', (pod) => this.#die(pod));
  }

  /**
   * How it ends with the blackbox beside it, and what that said; `when` are conditions at which it looks at the living process. Throws where
   * one of the two does not end.
   */
  async watched(
    victim: Victim,
    profile: WatchProfile,
    when?: string,
  ): Promise<{ readonly end: End; readonly told: Told }> {
    return this.#inPod(victim, profile, async (pod) => {
      const container = await this.#watch(pod, profile, when);
      const end = await this.#die(pod);
      return { end, told: await this.#told(pod, container) };
    });
  }

  async #inPod<T>(victim: Victim, profile: WatchProfile, use: (pod: V1Pod) => Promise<T>): Promise<T> {
    const namespace = this.#namespaces.get(profile) ?? '';
    this.#count += 1;
    const name = `victim-${this.#count}`;
    const pod = await this.#kube.pod(namespace, name, specOf(victim));
    try {
      await this.#logged(pod, 'app', /^ready$/m);
      return await use(pod);
    } finally {
      await this.#core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 });
    }
  }

  /** The container that kdebug would make of `/kdebug POD --image=blackbox`, or of `/kdebug watch POD --when=…`. */
  async #watch(pod: V1Pod, profile: WatchProfile, when: string | undefined): Promise<string> {
    const { namespace, name, uid } = namesOf(pod);
    const securityContext = securityContextOf(profile, profile === 'general' ? ROOT : TARGET);
    const plan = aPlan({
      namespace,
      podName: name,
      podUid: uid,
      targetContainerName: 'app',
      imageAlias: 'blackbox',
      image: `${PREFIX}blackbox:1`,
      imagePullPolicy: 'IfNotPresent',
      profile,
      class: 'intrusive',
      env: when === undefined ? [] : [{ name: 'BLACKBOX_WHEN', value: when }],
      ...(securityContext && { securityContext }),
    });
    const mark = { runId: asRunId('r-deaths'), approverIds: [], notAfterMs: Date.now() + 300_000, ref: 'none' };
    const body = { spec: { ephemeralContainers: [buildEphemeralContainer(plan, mark)] } };
    const merge = setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch);
    await this.#core.patchNamespacedPodEphemeralcontainers({ namespace, name, body }, merge);
    const container = body.spec.ephemeralContainers[0]?.name ?? '';
    await this.#logged(pod, container, /^Watching |^Could not /m);
    return container;
  }

  /** Lets it die; a container that lives on behind that is an error. */
  async #die(pod: V1Pod): Promise<End> {
    const { namespace, name } = namesOf(pod);
    const stdin = new PassThrough();
    const attached = await new Attach(this.#config).attach(namespace, name, 'app', null, null, stdin, false);
    stdin.write('go\n');
    try {
      const { exitCode, reason = '' } = await this.#ended(pod, 'app');
      return { exitCode, reason };
    } finally {
      attached.close();
    }
  }

  async #told(pod: V1Pod, container: string): Promise<Told> {
    const { exitCode } = await this.#ended(pod, container);
    const log = await this.#log(pod, container);
    const diagnosis = parseDiagnosis(log, '');
    const [, held = 'NaN'] = /held for (\d+) ms/.exec(log) ?? [];
    const isLate = log.includes('not all was read in that time');
    return { verdict: diagnosis?.verdict ?? '', heldMs: Number(held), isLate, exitCode, log };
  }

  async #ended(pod: V1Pod, container: string): Promise<V1ContainerStateTerminated> {
    const { namespace, name } = namesOf(pod);
    const seen = await this.#kube.until(namespace, name, (each) => endOf(each, container) !== undefined);
    const end = endOf(seen, container);
    if (end === undefined) throw new Error('unreachable');
    return end;
  }

  async #logged(pod: V1Pod, container: string, words: RegExp): Promise<void> {
    const until = Date.now() + 120_000;
    while (!words.test(await this.#log(pod, container).catch(() => ''))) {
      if (Date.now() > until) throw new Error(`${namesOf(pod).name} ${container}: ${await this.#log(pod, container)}`);
      await pause(200);
    }
  }

  #log(pod: V1Pod, container: string): Promise<string> {
    const { namespace, name } = namesOf(pod);
    return this.#core.readNamespacedPodLog({ namespace, name, container });
  }
}

const namesOf = ({ metadata }: V1Pod) => ({
  namespace: metadata?.namespace ?? '',
  name: metadata?.name ?? '',
  uid: metadata?.uid ?? '',
});

/** Its first end: one that a probe ended is started again. */
function endOf({ status }: V1Pod, container: string): V1ContainerStateTerminated | undefined {
  const all = [...(status?.containerStatuses ?? []), ...(status?.ephemeralContainerStatuses ?? [])];
  const found = all.find(({ name }) => name === container);
  return found?.lastState?.terminated ?? found?.state?.terminated;
}

/** One container under *restricted*, whose standard input stays open. */
const specOf = ({ image, command, memory, probe }: Victim): V1PodSpec => ({
  terminationGracePeriodSeconds: 1,
  // In a pod that is not restarted, the end of its only container ends those beside it.
  restartPolicy: probe ? 'Always' : 'Never',
  containers: [
    {
      name: 'app',
      image: `${PREFIX}${image}:1`,
      imagePullPolicy: 'IfNotPresent',
      command: [...command],
      stdin: true,
      ...(probe && { livenessProbe: probe }),
      resources: { limits: { memory }, requests: { cpu: '10m', memory: '16Mi' } },
      securityContext: {
        runAsNonRoot: true,
        runAsUser: TARGET.uid,
        runAsGroup: TARGET.gid,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        seccompProfile: { type: 'RuntimeDefault' },
      },
    },
  ],
});
