import type { ContainerLog } from '../log/container-log.ts';
import { isSameJson } from '../objects/json.ts';
import type { PodObject } from '../objects/pod.ts';
import type { LogSource } from '../resources/logs.ts';
import type { NodeSide } from '../world.ts';
import { ephemeralStatuses, phaseOf, podStatus } from './pod-status.ts';
import { PodWorker } from './pod-worker.ts';
import type { PodWorkloads, WorkerParts } from './worker-parts.ts';

interface KubeletParts extends Omit<WorkerParts, 'onChange'> {
  readonly nodeName: string;
  /** 0 to 1: where in its period the relist begins. */
  readonly phase: number;
  /** Whether the runtime tells as whom a container runs. */
  readonly reportsUsers: boolean;
}

/**
 * The nodes' side of all pods: containers live here, and what the API shows of them is written at the next relist, so
 * that short runs go straight to their end. A node that is down takes nothing up and writes nothing.
 */
export class Kubelet implements NodeSide, LogSource {
  readonly nodeName: string;
  readonly #parts: KubeletParts;
  readonly #workers = new Map<string, PodWorker>();
  readonly #changed = new Set<PodWorker>();
  /** By pod and container id: logs that came with a recording. */
  readonly #recordedLogs = new Map<string, ReadonlyMap<string, ContainerLog>>();
  readonly #down = new Set<string>();
  readonly #phaseMs: number;
  #isScheduled = false;
  #isStopped = false;
  #addresses = 1;

  constructor(parts: KubeletParts) {
    this.#parts = parts;
    this.nodeName = parts.nodeName;
    this.#phaseMs = parts.world.clock.now() + parts.phase * parts.timing.relistMs;
  }

  podAdded(pod: PodObject, workloads: PodWorkloads = {}): void {
    this.#addresses += 1;
    const ip = `10.244.${(this.#addresses >> 8) & 255}.${this.#addresses & 255}`;
    const worker = this.#addWorker(pod, workloads, ip);
    this.#parts.world.events.tell({
      pod,
      type: 'Normal',
      reason: 'Scheduled',
      message: `Successfully assigned ${pod.metadata.namespace}/${pod.metadata.name} to ${pod.spec.nodeName ?? ''}`,
      component: 'default-scheduler',
    });
    if (this.isNodeDown(pod.spec.nodeName ?? '')) return;
    worker.startMains();
  }

  /** Takes over a pod that stays as it was recorded. `logs` by container id. */
  podRecorded(pod: PodObject, logs: ReadonlyMap<string, ContainerLog>): void {
    this.#addWorker(pod, {}, pod.status.podIP ?? '').freeze();
    this.#recordedLogs.set(pod.metadata.uid, logs);
  }

  #addWorker(pod: PodObject, workloads: PodWorkloads, ip: string): PodWorker {
    const onChange = () => this.#noteChange(worker);
    const worker: PodWorker = new PodWorker(pod, workloads, ip, { ...this.#parts, onChange });
    this.#workers.set(pod.metadata.uid, worker);
    return worker;
  }

  ephemeralAdded(pod: PodObject): void {
    const worker = this.#workers.get(pod.metadata.uid);
    if (!worker) return;
    worker.pod = pod;
    // The kubelet does not look at a pod again that is over.
    const isOver = ['Succeeded', 'Failed'].includes(pod.status.phase);
    if (isOver || this.isNodeDown(pod.spec.nodeName ?? '')) return;
    worker.startEphemerals();
    const { relistMs, startMs } = this.#parts.timing;
    // The pod's sync shows "waiting" long before the first relist shows anything else.
    if (relistMs > 0) this.#parts.world.clock.after(startMs / 4, () => this.#publish(worker));
  }

  podDeleting(pod: PodObject): void {
    const worker = this.#workers.get(pod.metadata.uid);
    const isGone =
      this.#parts.world.pods.get(pod.metadata.namespace, pod.metadata.name)?.metadata.uid !== pod.metadata.uid;
    if (isGone) {
      this.#forget(pod, worker);
      return;
    }
    if (!worker) {
      this.#parts.world.pods.remove(pod);
      return;
    }
    if (this.isNodeDown(pod.spec.nodeName ?? '')) return;
    const { startMs, relistMs } = this.#parts.timing;
    this.#parts.world.clock.after(startMs, () => {
      worker.stop();
      this.#publish(worker);
      this.#parts.world.clock.after(relistMs, () => this.#forget(pod, worker));
    });
  }

  isNodeDown(nodeName: string): boolean {
    return this.#down.has(nodeName);
  }

  logOf(podUid: string, containerId: string): ContainerLog | undefined {
    const recorded = this.#recordedLogs.get(podUid)?.get(containerId);
    return recorded ?? this.#workers.get(podUid)?.instance(containerId)?.log;
  }

  /** @throws Error when the node has no such pod */
  worker(pod: PodObject): PodWorker {
    const worker = this.#workers.get(pod.metadata.uid);
    if (!worker) throw new Error(`no node runs pod ${pod.metadata.name}`);
    return worker;
  }

  nodeDown(nodeName: string): void {
    this.#down.add(nodeName);
    this.#parts.world.places.setNode(nodeName, false);
  }

  /** The kubelet is back: everything that waited starts at once, and the status catches up. */
  nodeUp(nodeName: string): void {
    this.#down.delete(nodeName);
    this.#parts.world.places.setNode(nodeName, true);
    for (const worker of this.#workers.values()) {
      if (worker.pod.spec.nodeName !== nodeName) continue;
      if (phaseOf(worker.view) === 'Pending') worker.startMains();
      worker.startEphemerals();
      if (worker.pod.metadata.deletionTimestamp !== undefined) this.podDeleting(worker.pod);
      this.#noteChange(worker);
    }
  }

  stop(): void {
    this.#isStopped = true;
    for (const worker of this.#workers.values()) worker.discard();
    this.#workers.clear();
    for (const logs of this.#recordedLogs.values()) for (const log of logs.values()) log.discard();
    this.#recordedLogs.clear();
    this.#changed.clear();
  }

  #forget(pod: PodObject, worker: PodWorker | undefined): void {
    this.#workers.delete(pod.metadata.uid);
    if (worker) this.#changed.delete(worker);
    worker?.discard();
    for (const log of this.#recordedLogs.get(pod.metadata.uid)?.values() ?? []) log.discard();
    this.#recordedLogs.delete(pod.metadata.uid);
    this.#parts.world.pods.remove(pod);
  }

  #noteChange(worker: PodWorker): void {
    if (this.#isStopped) return;
    this.#changed.add(worker);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const { relistMs } = this.#parts.timing;
    if (relistMs === 0) {
      setImmediate(() => this.#relist());
      return;
    }
    const { clock } = this.#parts.world;
    const into = (((clock.now() - this.#phaseMs) % relistMs) + relistMs) % relistMs;
    clock.after(relistMs - into, () => this.#relist());
  }

  #relist(): void {
    this.#isScheduled = false;
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const worker of changed) this.#publish(worker);
  }

  /** Writes the status as it is now. A node that is down keeps it for later. */
  #publish(worker: PodWorker): void {
    const { namespace, name, uid } = worker.pod.metadata;
    const current = this.#parts.world.pods.get(namespace, name);
    if (this.#isStopped || !current || current.metadata.uid !== uid || this.isNodeDown(current.spec.nodeName ?? ''))
      return;
    // The API's object is the newer one in everything but the status: labels and ephemeral containers may have come.
    worker.pod = current;
    const { reportsUsers } = this.#parts;
    const status = worker.isFrozen
      ? { ...current.status, ...ephemeralStatuses(worker.view, reportsUsers) }
      : podStatus(worker.view, reportsUsers);
    if (!isSameJson(status, current.status)) worker.pod = this.#parts.world.pods.put({ ...current, status });
  }
}
