import { setTimeout as pause } from 'node:timers/promises';
import {
  CoreV1Api,
  KubeConfig,
  PatchStrategy,
  RbacAuthorizationV1Api,
  setHeaderOptions,
  type V1ObjectMeta,
  type V1Pod,
  type V1PodSpec,
} from '@kubernetes/client-node';

/** A tenth of a second each: only a pod that hangs takes them all, so that no limit judges the node. */
const TRIES = 1_500;

/** The test's own hands on a cluster, as its administrator: makes the pods that the stories are about. */
export class Kube {
  readonly #core: CoreV1Api;
  readonly #rbac: RbacAuthorizationV1Api;
  readonly #namespaces: string[] = [];

  constructor(kubeconfig: string) {
    const config = new KubeConfig();
    config.loadFromString(kubeconfig);
    this.#core = config.makeApiClient(CoreV1Api);
    this.#rbac = config.makeApiClient(RbacAuthorizationV1Api);
  }

  /** A namespace of this test run; `enforce` is its Pod Security level. */
  async namespace(prefix: string, enforce?: string): Promise<string> {
    const name = `${prefix}-${Math.random().toString(36).slice(2, 8)}`;
    const labels = enforce === undefined ? {} : { 'pod-security.kubernetes.io/enforce': enforce };
    await this.#core.createNamespace({ body: { metadata: { name, labels } } });
    this.#namespaces.push(name);
    return name;
  }

  /**
   * Creates a pod, with the labels and owners that `named` has; resolves when `until` holds for it (default: all containers run). One that an
   * earlier try of the test left serves as well.
   */
  async pod(
    namespace: string,
    named: string | (V1ObjectMeta & { readonly name: string }),
    spec: V1PodSpec,
    until: (pod: V1Pod) => boolean = isRunning,
  ): Promise<V1Pod> {
    const { name, ...more } = typeof named === 'string' ? { name: named } : named;
    const body = { metadata: { ...more, name, namespace }, spec };
    // A new namespace gets its service account a moment later.
    for (let left = 50; ; left -= 1) {
      try {
        await this.#core.createNamespacedPod({ namespace, body });
        break;
      } catch (error) {
        if (await this.#stays(namespace, name)) break;
        if (left === 0) throw error;
        await pause(100);
      }
    }
    return this.until(namespace, name, until);
  }

  async #stays(namespace: string, name: string): Promise<boolean> {
    const pod = await this.#core.readNamespacedPod({ namespace, name }).catch(() => undefined);
    return pod !== undefined && pod.metadata?.deletionTimestamp === undefined;
  }

  async until(namespace: string, name: string, holds: (pod: V1Pod) => boolean): Promise<V1Pod> {
    for (let left = TRIES; ; left -= 1) {
      const pod = await this.#core.readNamespacedPod({ namespace, name });
      if (holds(pod)) return pod;
      if (left === 0) throw new Error(`${namespace}/${name} is not as it should be: ${JSON.stringify(pod.status)}`);
      await pause(100);
    }
  }

  read(namespace: string, name: string): Promise<V1Pod> {
    return this.#core.readNamespacedPod({ namespace, name });
  }

  /** The name of the pod with these labels, once there is one. */
  async podWith(namespace: string, labelSelector: string): Promise<string> {
    for (let left = TRIES; ; left -= 1) {
      const { items } = await this.#core.listNamespacedPod({ namespace, labelSelector });
      const name = items[0]?.metadata?.name;
      if (name !== undefined) return name;
      if (left === 0) throw new Error(`${namespace} has no pod with ${labelSelector}`);
      await pause(100);
    }
  }

  async remove(namespace: string, name: string): Promise<void> {
    await this.#core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 1 });
  }

  /** Lets a group debug in a namespace: what README and `npm run rbac` say a person needs. */
  async letGroupDebug(namespace: string, group: string): Promise<void> {
    const name = 'debuggers';
    const rules = [
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
      { apiGroups: [''], resources: ['pods/ephemeralcontainers'], verbs: ['patch'] },
    ];
    await this.#rbac.createNamespacedRole({ namespace, body: { metadata: { name }, rules } });
    await this.#rbac.createNamespacedRoleBinding({
      namespace,
      body: {
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
      },
    });
  }

  /** Changes the Pod Security level of a namespace between *privileged* and *baseline*; resolves when the API server goes by it. */
  async enforce(name: string, level: 'privileged' | 'baseline'): Promise<void> {
    const labels = { 'pod-security.kubernetes.io/enforce': level };
    const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
    await this.#core.patchNamespace({ name, body: { metadata: { labels } } }, merge);
    // Its admission reads namespaces from a watch of its own, which may lag behind.
    for (let left = 100; (await this.#takesPrivileged(name)) !== (level === 'privileged'); left -= 1) {
      if (left === 0) throw new Error(`${name} does not enforce ${level}`);
      await pause(50);
    }
  }

  async #takesPrivileged(namespace: string): Promise<boolean> {
    const securityContext = { privileged: true };
    const spec = { containers: [{ name: 'app', image: 'localhost/busybox:1', securityContext }] };
    const body = { metadata: { name: 'rehearsal', namespace }, spec };
    return this.#core.createNamespacedPod({ namespace, body, dryRun: 'All' }).then(
      () => true,
      () => false,
    );
  }

  /** Resolves when the namespace holds so many pods, and all of them run. */
  async running(namespace: string, pods: number): Promise<void> {
    for (let left = TRIES; ; left -= 1) {
      const { items } = await this.#core.listNamespacedPod({ namespace });
      if (items.length === pods && items.every(isRunning)) return;
      if (left === 0) throw new Error(`${items.length} of ${pods} pods, not all of them running`);
      await pause(100);
    }
  }

  async gone(namespace: string, name: string): Promise<void> {
    for (let left = TRIES; ; left -= 1) {
      try {
        await this.#core.readNamespacedPod({ namespace, name });
      } catch {
        return;
      }
      if (left === 0) throw new Error(`${namespace}/${name} is still there`);
      await pause(100);
    }
  }

  async cleanUp(): Promise<void> {
    await Promise.all(this.#namespaces.splice(0).map((name) => this.#core.deleteNamespace({ name })));
  }
}

const isRunning = (pod: V1Pod): boolean =>
  pod.status?.phase === 'Running' &&
  (pod.status.containerStatuses ?? []).every(({ state }) => state?.running !== undefined);
