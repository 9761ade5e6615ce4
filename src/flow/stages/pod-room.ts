import type { Plan } from '../../core/container/plan.ts';
import type { Pod } from '../../core/container/pod.ts';
import { problemOfRoom } from '../../core/container/target.ts';
import { KdebugError } from '../../core/errors.ts';
import { roomFor } from '../../core/policy/plan-request.ts';
import type { Refusal } from '../../core/run/run.ts';
import type { FlowDeps } from '../deps.ts';
import { refusal } from '../inbox/refusals.ts';

/** How long a place is held: longer than a launch takes with all its tries, and until the watch has shown its container. */
const HELD_MS = 120_000;

interface HeldPlace {
  readonly name: string;
  readonly requesterId: string;
  readonly untilMs: number;
}

/**
 * The places that this replica is about to fill: launches of one instant in one pod do not see each other in the pod's own list. Other
 * replicas do the same for theirs only, so a pod can get one too many for each further replica that launches in that very instant.
 */
export class PodRoom {
  readonly #deps: Pick<FlowDeps, 'clusters' | 'policies' | 'clock'>;
  /** By pod uid. */
  readonly #held = new Map<string, readonly HeldPlace[]>();
  #sweepAtMs = 0;

  constructor(deps: Pick<FlowDeps, 'clusters' | 'policies' | 'clock'>) {
    this.#deps = deps;
  }

  /**
   * Takes a place for the container `name`, unless the pod or the person's share of it is full: then why not. The same container
   * takes one place, however often it is asked for. A pod that is gone or replaced is told so by the launch.
   */
  async take(plan: Plan, name: string): Promise<Refusal | undefined> {
    const pod = await this.#podOf(plan);
    // From here to the end in one turn: nobody comes between.
    const held = this.#heldIn(plan.podUid);
    if (held.some((place) => place.name === name)) return undefined;
    const problem =
      pod &&
      !isIn(pod, name) &&
      problemOfRoom(withHeld(pod, held), roomFor(plan.requesterId, this.#deps.policies.current().limits));
    if (problem) return refusal(problem.code, problem.subject);
    const untilMs = this.#deps.clock.now() + HELD_MS;
    this.#held.set(plan.podUid, [...held, { name, requesterId: plan.requesterId, untilMs }]);
    return undefined;
  }

  /** The container was refused, so its place is free again. */
  giveBack({ podUid }: Plan, name: string): void {
    const left = (this.#held.get(podUid) ?? []).filter((place) => place.name !== name);
    if (left.length > 0) this.#held.set(podUid, left);
    else this.#held.delete(podUid);
  }

  #heldIn(uid: string): readonly HeldPlace[] {
    const nowMs = this.#deps.clock.now();
    if (nowMs >= this.#sweepAtMs) this.#sweep(nowMs);
    return (this.#held.get(uid) ?? []).filter(({ untilMs }) => untilMs > nowMs);
  }

  /** Forgets pods in which nothing is held any more, once in a while. */
  #sweep(nowMs: number): void {
    this.#sweepAtMs = nowMs + HELD_MS;
    for (const [uid, places] of this.#held) if (places.every(({ untilMs }) => untilMs <= nowMs)) this.#held.delete(uid);
  }

  async #podOf({ cluster, namespace, podName, podUid }: Plan): Promise<Pod | undefined> {
    try {
      const pod = await this.#deps.clusters.get(cluster).pod(namespace, podName);
      return pod.metadata.uid === podUid ? pod : undefined;
    } catch (thrown) {
      if (thrown instanceof KdebugError && thrown.code === 'pod_not_found') return undefined;
      throw thrown;
    }
  }
}

const isIn = (pod: Pod, name: string): boolean => pod.spec.ephemeralContainers.some((known) => known.name === name);

function withHeld(pod: Pod, held: readonly HeldPlace[]): Pod {
  const more = held.filter(({ name }) => !isIn(pod, name)).map((place) => ({ ...place, image: '' }));
  return { ...pod, spec: { ...pod.spec, ephemeralContainers: [...pod.spec.ephemeralContainers, ...more] } };
}
