import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { type PodObject, rfc3339 } from './pod.ts';
import type { ResourceVersions } from './resource-versions.ts';

export interface EventObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
  };
  readonly involvedObject: {
    readonly kind: string;
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly apiVersion: string;
    readonly resourceVersion?: string;
    readonly fieldPath?: string;
  };
  readonly reason: string;
  readonly message: string;
  /** Empty for the scheduler, which writes the newer kind of event. */
  readonly source: { readonly component?: string; readonly host?: string };
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  readonly count: number;
  readonly type: 'Normal' | 'Warning';
  readonly eventTime: null;
  readonly reportingComponent: string;
  readonly reportingInstance: string;
}

interface EventToTell {
  readonly pod: PodObject;
  /** For example `spec.ephemeralContainers{debug}`; absent: the pod as a whole. */
  readonly fieldPath?: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly component?: string;
}

/** core/v1 events: of pods as they happen, of other objects as a recording tells them. Repeated ones are counted up, the oldest are forgotten beyond `limit`. */
export class Events {
  readonly #clock: Clock;
  readonly #versions: ResourceVersions;
  readonly #limit: number;
  readonly #events = new Map<string, EventObject>();
  readonly #listeners = new Set<(event: EventObject) => void>();

  constructor(clock: Clock, versions: ResourceVersions, limit: number) {
    this.#clock = clock;
    this.#versions = versions;
    this.#limit = limit;
  }

  tell(event: EventToTell): void {
    const key = [event.pod.metadata.uid, event.fieldPath, event.reason, event.message].join('\n');
    const known = this.#events.get(key);
    const told = known ? this.#again(known) : this.#first(event);
    this.#store(key, told);
  }

  #store(key: string, event: EventObject): void {
    this.#events.set(key, event);
    for (const listener of this.#listeners) listener(event);
    if (this.#events.size <= this.#limit) return;
    const oldest = this.#events.keys().next();
    if (!oldest.done) this.#events.delete(oldest.value);
  }

  /** Keeps one as it is. */
  keep(event: EventObject): void {
    const metadata = { ...event.metadata, resourceVersion: String(this.#versions.next()) };
    this.#store(event.metadata.uid, { ...event, metadata });
  }

  /** In the order in which they first happened. */
  list(namespace: string): readonly EventObject[] {
    return [...this.#events.values()].filter((each) => namespace === '' || each.metadata.namespace === namespace);
  }

  /** Hears of every further event, of a repeated one too. The returned function ends it. */
  subscribe(listener: (event: EventObject) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #again(known: EventObject): EventObject {
    const metadata = { ...known.metadata, resourceVersion: String(this.#versions.next()) };
    return { ...known, metadata, lastTimestamp: rfc3339(this.#clock.now()), count: known.count + 1 };
  }

  #first({ pod, fieldPath, type, reason, message, component = 'kubelet' }: EventToTell): EventObject {
    const { namespace, name, uid } = pod.metadata;
    const version = this.#versions.next();
    const now = rfc3339(this.#clock.now());
    const host = pod.spec.nodeName ?? '';
    return {
      metadata: {
        name: `${name}.${version.toString(16).padStart(16, '0')}`,
        namespace,
        uid: randomUUID(),
        resourceVersion: String(version),
        creationTimestamp: now,
      },
      involvedObject: {
        kind: 'Pod',
        namespace,
        name,
        uid,
        apiVersion: 'v1',
        ...(fieldPath === undefined ? {} : { fieldPath }),
      },
      reason,
      message,
      source: component === 'kubelet' ? { component, host } : {},
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
      type,
      eventTime: null,
      reportingComponent: component,
      reportingInstance: component === 'kubelet' ? host : component,
    };
  }
}
