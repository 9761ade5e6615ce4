import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { Authorizer } from './api/authorizer.ts';
import { kubeconfigOf } from './api/certificates.ts';
import type { Faults } from './api/faults.ts';
import { groupsOfServiceAccount, type Tokens, userOfServiceAccount } from './api/identity.ts';
import type { RequestLog } from './api/request-log.ts';
import type { ApiServer } from './api/server.ts';
import type { Kubelet } from './kubelet/kubelet.ts';
import type { ContainerLog } from './log/container-log.ts';
import { type FollowOptions, followLog } from './log/follow-log.ts';
import type { Rotation } from './log/rotation.ts';
import type { EventObject } from './objects/events.ts';
import type { Labels, PodObject } from './objects/pod.ts';
import type { Change as PodChange } from './objects/pod-store.ts';
import { type PodToAdd, podObject, workloadsOf } from './pod-spec.ts';
import type { Images } from './programs/images.ts';
import { beginDeletion } from './resources/pods.ts';
import { applyRbac } from './resources/rbac-apply.ts';
import type { Watches } from './resources/watch.ts';
import type { Webhooks } from './resources/webhooks.ts';
import { loadRecording } from './troubles/load-recording.ts';
import { readRecording } from './troubles/recording.ts';
import type { World } from './world.ts';

/** The only node, unless pods name others. */
export const NODE = 'local-node';

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
  readonly webhooks: Webhooks;
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
    this.webhooks = parts.world.webhooks;
  }

  /** A kubeconfig for another user, with a token of their own. */
  kubeconfigFor(user: string, groups: readonly string[] = []): string {
    const token = randomBytes(16).toString('hex');
    this.tokens.set(token, user, groups);
    return kubeconfigOf(this.url, this.caPem, { user, token });
  }

  /** The same for a service account; it needs no object of its own here. */
  kubeconfigForServiceAccount(namespace: string, name: string): string {
    return this.kubeconfigFor(userOfServiceAccount(namespace, name), groupsOfServiceAccount(namespace));
  }

  /** Makes or replaces roles and bindings, as `kubectl apply` of parsed files does. @throws Error what is wrong with one */
  apply(...objects: readonly object[]): void {
    for (const object of objects) applyRbac(this.#parts.world, object);
  }

  /** Adds a namespace, or replaces its labels (`pod-security.kubernetes.io/enforce` counts). */
  addNamespace(name: string, labels: Labels = {}): void {
    this.#parts.world.places.addNamespace(name, labels);
  }

  /**
   * Loads a folder of recorded objects and logs (`readRecording`), as if the moment of the recording were now. Its pods
   * stay as they are; what is added to one runs only where its target does, and then finds nothing. `namespace` replaces
   * the recorded one. @throws Error what is wrong with the folder
   */
  loadRecorded(folder: string, namespace?: string): void {
    const { world, kubelet, makeLog } = this.#parts;
    loadRecording({ world, node: kubelet, makeLog }, readRecording(folder, world.clock.now()), namespace);
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

  /** All pods, by namespace and name. */
  pods(): readonly PodObject[] {
    return this.#parts.world.pods.list();
  }

  /** Hears of every further change of a pod. The returned function ends it. */
  watchPods(listener: (change: PodChange) => void): () => void {
    return this.#parts.world.pods.subscribe('', listener);
  }

  /** All stored events, in the order in which they first happened. */
  events(): readonly EventObject[] {
    return this.#parts.world.events.list('');
  }

  /** Hears of every further event. The returned function ends it. */
  watchEvents(listener: (event: EventObject) => void): () => void {
    return this.#parts.world.events.subscribe(listener);
  }

  /** A container's log as it grows, from its newest `tailLines` lines on. @throws Error why it cannot be read now */
  followLog(at: { namespace: string; pod: string; container: string }, options: FollowOptions): AsyncIterable<Buffer> {
    return followLog(this.#parts.kubelet, this.#existing(at.namespace, at.pod), { ...options, name: at.container });
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

  /** An older etcd is restored: resource versions go back by so many, and every watch ends. */
  restoreVersions(back: number): void {
    const { pods } = this.#parts.world;
    pods.setBack(pods.versions.current() - back);
    this.watches.endAll('clean');
  }

  /** Cuts every open connection, as a restart of the API server does. */
  dropConnections(): void {
    this.#parts.server.dropConnections();
  }

  /** Ends the server and the containers; safe to call twice. */
  async stop(): Promise<void> {
    const { kubelet, server, directory } = this.#parts;
    this.rotation.stop();
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

/** What a running cluster is made of. */
export interface LocalClusterParts {
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
  readonly server: ApiServer;
  readonly makeLog: () => ContainerLog;
  readonly directory: string;
}
