import type { Plan } from '../../core/container/plan.ts';
import type { Pod } from '../../core/container/pod.ts';
import { KdebugError } from '../../core/errors.ts';
import { roomFor } from '../../core/planning/plan-request.ts';
import type { Refusal } from '../../core/request/origin.ts';
import { problemOfRoom, type Room } from '../../core/request/target.ts';
import type { FlowDeps } from './deps.ts';
import { refusal } from './refusals.ts';

/** A slot stays reserved for longer than a launch with all retries, until the watch has its container. */
const RESERVED_MS = 120_000;

interface Reservation {
  readonly name: string;
  readonly requesterId: string;
  readonly untilMs: number;
}

/**
 * Reserves slots for the containers that this replica is about to launch: simultaneous launches in one pod do not see
 * each other in the pod's own list. Every replica counts only its own, so each further replica launching in the same
 * instant may exceed the limit by one.
 */
export class PodRoom {
  readonly #deps: Pick<FlowDeps, 'clusters' | 'policies' | 'clock'>;
  /** By pod uid. */
  readonly #reserved = new Map<string, readonly Reservation[]>();
  #sweepAtMs = 0;

  constructor(deps: Pick<FlowDeps, 'clusters' | 'policies' | 'clock'>) {
    this.#deps = deps;
  }

  /**
   * Reserves a slot for the container `name`; returns the reason if the pod, or the person's share of it, is full. A
   * repeat for the same container reserves nothing more. The launch itself reports a missing or replaced pod. `room`: by
   * default, the limits for the plan's requester.
   */
  async reserve(plan: Plan, name: string, room?: Room): Promise<Refusal | undefined> {
    const pod = await currentPod(plan, this.#deps);
    // Synchronous from here on, so no other launch comes between.
    const reserved = this.#reservedIn(plan.podUid);
    if (reserved.some((slot) => slot.name === name)) return undefined;
    const problem =
      pod &&
      !isIn(pod, name) &&
      problemOfRoom(
        withReserved(pod, reserved),
        room ?? roomFor(plan.requesterId, this.#deps.policies.current().limits),
      );
    if (problem) return refusal(problem.code, problem.subject);
    const untilMs = this.#deps.clock.elapsed() + RESERVED_MS;
    this.#reserved.set(plan.podUid, [...reserved, { name, requesterId: plan.requesterId, untilMs }]);
    return undefined;
  }

  /** Frees the slot of a container that was refused. */
  release({ podUid }: Plan, name: string): void {
    const others = (this.#reserved.get(podUid) ?? []).filter((slot) => slot.name !== name);
    if (others.length > 0) this.#reserved.set(podUid, others);
    else this.#reserved.delete(podUid);
  }

  #reservedIn(uid: string): readonly Reservation[] {
    const nowMs = this.#deps.clock.elapsed();
    if (nowMs >= this.#sweepAtMs) this.#sweep(nowMs);
    return (this.#reserved.get(uid) ?? []).filter(({ untilMs }) => untilMs > nowMs);
  }

  /** Occasionally removes pods without reserved slots. */
  #sweep(nowMs: number): void {
    this.#sweepAtMs = nowMs + RESERVED_MS;
    for (const [uid, slots] of this.#reserved)
      if (slots.every(({ untilMs }) => untilMs <= nowMs)) this.#reserved.delete(uid);
  }
}

/** The current pod of a plan; undefined if it is gone or replaced. */
export async function currentPod(
  { cluster, namespace, podName, podUid }: Pick<Plan, 'cluster' | 'namespace' | 'podName' | 'podUid'>,
  { clusters }: Pick<FlowDeps, 'clusters'>,
): Promise<Pod | undefined> {
  try {
    const pod = await clusters.get(cluster).pod(namespace, podName);
    return pod.metadata.uid === podUid ? pod : undefined;
  } catch (thrown) {
    if (thrown instanceof KdebugError && thrown.code === 'pod_not_found') return undefined;
    throw thrown;
  }
}

export const isIn = (pod: Pod, name: string): boolean =>
  pod.spec.ephemeralContainers.some((known) => known.name === name);

function withReserved(pod: Pod, reserved: readonly Reservation[]): Pod {
  const more = reserved.filter(({ name }) => !isIn(pod, name)).map((slot) => ({ ...slot, image: '' }));
  return { ...pod, spec: { ...pod.spec, ephemeralContainers: [...pod.spec.ephemeralContainers, ...more] } };
}
