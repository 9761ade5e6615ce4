import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Authorizer } from './api/authorizer.ts';
import { kubeconfigOf, makeCertificates } from './api/certificates.ts';
import { Faults } from './api/faults.ts';
import { Tokens } from './api/identity.ts';
import { RequestLog } from './api/request-log.ts';
import { ApiServer } from './api/server.ts';
import { systemClock } from './clock.ts';
import { Kubelet } from './kubelet/kubelet.ts';
import { timingOf } from './kubelet/timing.ts';
import { ContainerLog } from './log/container-log.ts';
import { Rotation } from './log/rotation.ts';
import { Events } from './objects/events.ts';
import { Places } from './objects/places.ts';
import type { Labels, PodObject } from './objects/pod.ts';
import { PodStore } from './objects/pod-store.ts';
import { ResourceVersions } from './objects/resource-versions.ts';
import type { LocalClusterOptions } from './options.ts';
import { type PodToAdd, podObject, workloadsOf } from './pod-spec.ts';
import { Images } from './programs/images.ts';
import { Workloads } from './programs/workloads.ts';
import { reviewHandlers } from './resources/access-reviews.ts';
import { ephemeralHandlers } from './resources/ephemeral-containers.ts';
import { logHandlers } from './resources/logs.ts';
import { placeHandlers } from './resources/namespaces.ts';
import { beginDeletion, podHandlers } from './resources/pods.ts';
import { Watches } from './resources/watch.ts';
import type { World } from './world.ts';

const NODE = 'local-node';
const MAX_EVENTS = 20_000;

/** A Kubernetes API and its nodes in this process. Every control acts at once; what it leads to follows the kubelet's clock. */
export class LocalCluster {
  readonly url: string;
  readonly caPem: string;
  /** Of the user `admin`, who may do everything. */
  readonly kubeconfig: string;
  readonly adminToken: string;
  readonly tokens: Tokens;
  readonly authorizer: Authorizer;
  readonly faults: Faults;
  readonly requests: RequestLog;
  readonly watches: Watches;
  readonly images: Images;
  readonly rotation: Rotation;
  readonly #parts: LocalClusterParts;

  constructor(parts: LocalClusterParts) {
    this.#parts = parts;
    this.url = parts.url;
    this.caPem = parts.caPem;
    this.adminToken = parts.adminToken;
    this.kubeconfig = kubeconfigOf(parts.url, parts.caPem, { user: 'admin', token: parts.adminToken });
    this.tokens = parts.tokens;
    this.authorizer = parts.authorizer;
    this.faults = parts.faults;
    this.requests = parts.requests;
    this.watches = parts.watches;
    this.images = parts.images;
    this.rotation = parts.rotation;
  }

  /** A kubeconfig for another user, with a token of their own. */
  kubeconfigFor(user: string, groups: readonly string[] = []): string {
    const token = randomBytes(16).toString('hex');
    this.tokens.set(token, user, groups);
    return kubeconfigOf(this.url, this.caPem, { user, token });
  }

  /** Adds a namespace, or replaces its labels (`pod-security.kubernetes.io/enforce` counts). */
  addNamespace(name: string, labels: Labels = {}): void {
    this.#parts.world.places.addNamespace(name, labels);
  }

  /** Adds a pod; its node starts it at once, the API shows it running after the next relist. */
  addPod(pod: PodToAdd): PodObject {
    const { world, kubelet } = this.#parts;
    const made = podObject(pod, world.clock.now(), NODE);
    if (!world.places.namespaces.has(made.metadata.namespace)) this.addNamespace(made.metadata.namespace);
    if (made.spec.nodeName !== undefined && !world.places.nodes.has(made.spec.nodeName))
      world.places.setNode(made.spec.nodeName, true);
    const stored = world.pods.put(made);
    if (!pod.isUnscheduled) kubelet.podAdded(stored, workloadsOf(pod));
    return stored;
  }

  pod(namespace: string, name: string): PodObject | undefined {
    return this.#parts.world.pods.get(namespace, name);
  }

  /** Deletes as `kubectl delete` does; without grace the pod is gone when this returns. @throws Error no such pod */
  deletePod(namespace: string, name: string, graceSeconds = 30): void {
    const deleting = beginDeletion(this.#parts.world, this.#existing(namespace, name), graceSeconds);
    this.#parts.kubelet.podDeleting(deleting);
  }

  /** Another pod under the same name, as a StatefulSet makes: the old one is gone at once. */
  replacePod(pod: PodToAdd): PodObject {
    this.deletePod(pod.namespace ?? 'default', pod.name, 0);
    return this.addPod(pod);
  }

  /** Ends a container's process; default as `kill -9`. Restarts follow the pod's policy. @throws Error no such container */
  killContainer(namespace: string, pod: string, container: string, exit = { exitCode: 137, reason: 'Error' }): void {
    this.#parts.kubelet.worker(this.#existing(namespace, pod)).kill(container, exit);
  }

  oomKill(namespace: string, pod: string, container: string): void {
    this.killContainer(namespace, pod, container, { exitCode: 137, reason: 'OOMKilled' });
  }

  /** Holds a container where a test wants it: `running` lets it go on. */
  setTargetState(
    namespace: string,
    pod: string,
    container: string,
    state: 'running' | 'exited' | 'crash-looping',
  ): void {
    this.#parts.kubelet.worker(this.#existing(namespace, pod)).hold(container, state);
  }

  /** The kubelet stops: no status is written, no log can be read, nothing starts; what runs goes on. */
  nodeDown(name = NODE): void {
    this.#parts.kubelet.nodeDown(name);
  }

  nodeUp(name = NODE): void {
    this.#parts.kubelet.nodeUp(name);
  }

  /** Watches that resume from before this moment get 410. */
  forgetHistory(): void {
    this.#parts.world.pods.forgetHistory();
  }

  /** Cuts every open connection, as a restart of the API server does. */
  dropConnections(): void {
    this.#parts.server.dropConnections();
  }

  /** Ends the server, the containers and every local process; safe to call twice. */
  async stop(): Promise<void> {
    const { kubelet, workloads, server, directory } = this.#parts;
    this.rotation.stop();
    workloads.stopAll();
    kubelet.stop();
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  }

  #existing(namespace: string, name: string): PodObject {
    const pod = this.pod(namespace, name);
    if (!pod) throw new Error(`no pod ${name} in namespace ${namespace}`);
    return pod;
  }
}

interface LocalClusterParts {
  readonly url: string;
  readonly caPem: string;
  readonly adminToken: string;
  readonly tokens: Tokens;
  readonly authorizer: Authorizer;
  readonly faults: Faults;
  readonly requests: RequestLog;
  readonly watches: Watches;
  readonly images: Images;
  readonly rotation: Rotation;
  readonly world: World;
  readonly kubelet: Kubelet;
  readonly workloads: Workloads;
  readonly server: ApiServer;
  readonly directory: string;
}

/** Starts a local cluster with one node and the namespace `default`; it listens on loopback only. */
export async function startLocalCluster(options: LocalClusterOptions = {}): Promise<LocalCluster> {
  const clock = options.clock ?? systemClock;
  const versions = new ResourceVersions();
  const pods = new PodStore(versions, options.historyLength ?? 8192);
  const world: World = {
    clock,
    pods,
    places: new Places(clock, versions),
    events: new Events(clock, versions, MAX_EVENTS),
  };
  world.places.addNamespace('default');
  world.places.setNode(NODE, true);
  const directory = mkdtempSync(join(tmpdir(), 'kdebug-cluster-'));
  const rotation = new Rotation(clock, options.logRotation?.periodMs ?? 10_000);
  const images = new Images();
  const workloads = new Workloads();
  const kubelet = new Kubelet({
    world,
    images,
    workloads,
    timing: timingOf(options.kubeletDelayMs ?? 1000),
    nodeName: NODE,
    phase: options.relistPhase ?? Math.random(),
    makeLog: () => newLog({ clock, directory, rotation, maxBytes: options.logRotation?.maxBytes ?? 10 * 1024 * 1024 }),
  });
  const control = controlPlane(options);
  const watches = new Watches();
  const certificates = await makeCertificates();
  const handlers = new Map([
    ...podHandlers(world, kubelet),
    ...ephemeralHandlers(world, kubelet, options.servesEphemeralContainers ?? true),
    ...watches.handlers(world, options.bookmarkMs ?? 60_000),
    ...logHandlers(world, kubelet, options.logBytesPerSecond),
    ...placeHandlers(world),
    ...reviewHandlers(control.authorizer),
  ]);
  const server = new ApiServer({ certificates, ...control, handlers });
  const url = await server.listen(options.port ?? 0);
  const shared = { images, rotation, world, kubelet, workloads, server, directory, watches };
  return new LocalCluster({ url, caPem: certificates.caPem, ...control, ...shared });
}

function controlPlane(options: LocalClusterOptions) {
  const adminToken = randomBytes(16).toString('hex');
  const tokens = new Tokens();
  tokens.set(adminToken, 'admin', ['system:masters']);
  return {
    adminToken,
    tokens,
    authorizer: new Authorizer(options.rules ?? []),
    faults: new Faults(),
    requests: new RequestLog(options.requestLogLength ?? 10_000),
  };
}

interface LogPlace {
  readonly clock: { now(): number };
  readonly directory: string;
  readonly rotation: Rotation;
  readonly maxBytes: number;
}

function newLog({ clock, directory, rotation, maxBytes }: LogPlace): ContainerLog {
  return new ContainerLog({
    now: () => clock.now(),
    newPath: () => join(directory, `${randomUUID()}.log`),
    onOverflow: (log) => rotation.add(log),
    maxBytes,
  });
}
