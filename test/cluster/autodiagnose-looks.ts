import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { get, type RequestOptions } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import {
  CoreV1Api,
  KubeConfig,
  PatchStrategy,
  setHeaderOptions,
  type V1Container,
  type V1ContainerState,
  type V1ContainerStateTerminated,
  type V1PodSpec,
  type V1SecurityContext,
} from '@kubernetes/client-node';
import { expectValid } from '../../images/test/autodiagnose/script.ts';
import type { Diagnosis } from '../../src/core/diagnosis/facts/report.ts';
import { parseDiagnosis } from '../../src/core/diagnosis/marked-report.ts';

const IMAGE = 'localhost/autodiagnose:1';

/** Root with SYS_PTRACE: the profile *general*. */
export const GENERAL: V1SecurityContext = { runAsUser: 0, runAsGroup: 0, capabilities: { add: ['SYS_PTRACE'] } };

export interface Ended {
  readonly state: V1ContainerStateTerminated;
  readonly log: string;
}

export interface LookWishes {
  readonly securityContext?: V1SecurityContext;
  readonly target?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly command?: readonly string[];
  readonly image?: string;
}

/** Puts autodiagnose beside containers of a cluster, as its administrator. */
export class Looks {
  readonly #config = new KubeConfig();
  readonly #core: CoreV1Api;
  #count = 0;

  constructor(kubeconfig: string) {
    this.#config.loadFromString(kubeconfig);
    this.#core = this.#config.makeApiClient(CoreV1Api);
  }

  /** Starts an ephemeral container and returns its name. Throws what the API server refuses. */
  async start(namespace: string, name: string, wishes: LookWishes): Promise<string> {
    const { securityContext, target = 'app', env = {}, args, command, image = IMAGE } = wishes;
    this.#count += 1;
    const container = `look-${this.#count}`;
    const body = {
      spec: {
        ephemeralContainers: [
          {
            name: container,
            image,
            imagePullPolicy: 'IfNotPresent',
            env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
            ...(target !== '' && { targetContainerName: target }),
            ...(args && { args: [...args] }),
            ...(command && { command: [...command] }),
            ...(securityContext && { securityContext }),
          },
        ],
      },
    };
    const merge = setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch);
    await this.#core.patchNamespacedPodEphemeralcontainers({ namespace, name, body }, merge);
    return container;
  }

  /** The log of the pod's own container. */
  log(namespace: string, name: string): Promise<string> {
    return this.#core.readNamespacedPodLog({ namespace, name, container: 'app' });
  }

  /** Resolves when an ephemeral container runs. */
  async running(namespace: string, name: string, container: string): Promise<void> {
    await this.#state(namespace, name, container, (state) => state?.running !== undefined);
  }

  /** Why an ephemeral container does not start. */
  async refused(namespace: string, name: string, container: string): Promise<string | undefined> {
    const why = (state: V1ContainerState | undefined) => state?.waiting?.message && state.waiting.reason;
    return why(await this.#state(namespace, name, container, (state) => why(state) !== undefined));
  }

  async ended(namespace: string, name: string, container: string): Promise<Ended> {
    const state = await this.#state(namespace, name, container, (each) => each?.terminated !== undefined);
    const log = await this.#core.readNamespacedPodLog({ namespace, name, container });
    if (state?.terminated === undefined) throw new Error('unreachable');
    return { state: state.terminated, log };
  }

  /** A whole look; both documents are held against the schema. */
  async look(namespace: string, name: string, wishes: LookWishes = { securityContext: GENERAL }): Promise<Diagnosis> {
    return (await this.report(namespace, name, wishes)).diagnosis;
  }

  /** The same with its log. */
  async report(namespace: string, name: string, wishes: LookWishes): Promise<{ diagnosis: Diagnosis; log: string }> {
    const { state, log } = await this.ended(namespace, name, await this.start(namespace, name, wishes));
    const marked = /-----BEGIN KDEBUG REPORT-----\n(.*)\n-----END/.exec(log)?.[1];
    const diagnosis = parseDiagnosis(log, '');
    if (marked === undefined || !diagnosis) throw new Error(`no report: ${state.exitCode} ${state.message} ${log}`);
    expectValid(marked);
    expectValid(state.message ?? '');
    if (Buffer.byteLength(state.message ?? '') > 1024) throw new Error('the termination message is too long');
    return { diagnosis, log };
  }

  /** Asks the pod's own HTTP server, through the API server; the faults of `localhost/distroless:1`. */
  async fault(namespace: string, name: string, request: string): Promise<number | undefined> {
    const cluster = this.#config.getCurrentCluster();
    if (!cluster) throw new Error('no cluster');
    const options: RequestOptions = {};
    await this.#config.applyToHTTPSOptions(options);
    const url = `${cluster.server}/api/v1/namespaces/${namespace}/pods/${name}:8080/proxy/${request}`;
    const [response]: IncomingMessage[] = await once(get(url, options), 'response');
    response?.resume();
    return response?.statusCode;
  }

  async #state(
    namespace: string,
    name: string,
    container: string,
    holds: (state: V1ContainerState | undefined) => boolean,
  ) {
    for (let left = 1_500; ; left -= 1) {
      const { status } = await this.#core.readNamespacedPod({ namespace, name });
      const state = status?.ephemeralContainerStatuses?.find((each) => each.name === container)?.state;
      if (holds(state)) return state;
      if (left === 0) throw new Error(`${namespace}/${name} ${container}: ${JSON.stringify(state)}`);
      await pause(100);
    }
  }
}

/** A pod of one container that ends at once when it is deleted. */
export const podOf = (container: Partial<V1Container>, more: Partial<V1PodSpec> = {}): V1PodSpec => ({
  terminationGracePeriodSeconds: 0,
  containers: [{ name: 'app', image: 'localhost/busybox:1', ...container }],
  ...more,
});
