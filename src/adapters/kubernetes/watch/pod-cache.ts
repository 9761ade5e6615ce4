import type { Pod, PodRef } from '../../../core/container/pod.ts';
import type { PodSeen } from '../../../flow/ports/cluster.ts';
import type { Log } from '../../../flow/ports/machine.ts';
import type { PodChange } from './watch-stream.ts';

export interface Subscriber {
  readonly pod: PodRef;
  readonly onSeen: (seen: PodSeen) => void;
  /** The last notified state, to avoid repeats. */
  notifiedState?: string;
}

/** A namespace's pods as last seen, and their subscribers. Callbacks run one at a time; one that throws is logged. */
export class PodCache {
  readonly #pods = new Map<string, Pod>();
  readonly #subscribers = new Map<string, Set<Subscriber>>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  get(name: string): Pod | undefined {
    return this.#pods.get(name);
  }

  pods(): Iterable<Pod> {
    return this.#pods.values();
  }

  get hasSubscribers(): boolean {
    return this.#subscribers.size > 0;
  }

  subscribe(subscriber: Subscriber): void {
    const { name } = subscriber.pod;
    const others = this.#subscribers.get(name);
    if (others) others.add(subscriber);
    else this.#subscribers.set(name, new Set([subscriber]));
  }

  unsubscribe(subscriber: Subscriber): void {
    const { name } = subscriber.pod;
    const others = this.#subscribers.get(name);
    others?.delete(subscriber);
    if (others?.size === 0) this.#subscribers.delete(name);
  }

  has(subscriber: Subscriber): boolean {
    return this.#subscribers.get(subscriber.pod.name)?.has(subscriber) === true;
  }

  apply({ kind, pod }: PodChange): void {
    const { name, uid } = pod.metadata;
    if (kind === 'set') this.#pods.set(name, pod);
    else if (this.#pods.get(name)?.metadata.uid === uid) this.#pods.delete(name);
    this.#notifyAll(name);
  }

  /** Replaces everything after a list, and notifies the subscribers of every pod that changed, came or went. */
  replace(pods: readonly Pod[]): void {
    this.#pods.clear();
    for (const pod of pods) this.#pods.set(pod.metadata.name, pod);
    for (const name of this.#subscribers.keys()) this.#notifyAll(name);
  }

  /** Notifies one subscriber, unless it already has this state. */
  notify(subscriber: Subscriber, pod: Pod | undefined): void {
    const state = pod ? `${pod.metadata.uid}/${pod.metadata.resourceVersion}` : 'gone';
    if (subscriber.notifiedState === state) return;
    subscriber.notifiedState = state;
    try {
      subscriber.onSeen(seenOf(subscriber.pod, pod));
    } catch (error) {
      this.#log.error('pod watch subscriber threw', { error, podName: subscriber.pod.name });
    }
  }

  #notifyAll(name: string): void {
    for (const subscriber of [...(this.#subscribers.get(name) ?? [])]) this.notify(subscriber, this.#pods.get(name));
  }
}

function seenOf(wanted: PodRef, pod: Pod | undefined): PodSeen {
  if (!pod) return { kind: 'gone' };
  return pod.metadata.uid === wanted.uid ? { kind: 'pod', pod } : { kind: 'replaced' };
}
