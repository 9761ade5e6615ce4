import type { PodObject } from './pod.ts';
import type { ResourceVersions } from './resource-versions.ts';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** One change, with what was there before (a selector may match one and not the other). */
export interface Change {
  readonly type: ChangeType;
  readonly version: number;
  readonly pod: PodObject;
  readonly previous?: PodObject;
}

type ChangeListener = (change: Change) => void;

/**
 * All pods, with a bounded history for watches. Reads are by namespace; a change costs one map write and one call a
 * listener of that namespace. The serialized form of an object is made once, however many watch it.
 */
export class PodStore {
  readonly versions: ResourceVersions;
  readonly #namespaces = new Map<string, Map<string, PodObject>>();
  readonly #listeners = new Map<string, Set<ChangeListener>>();
  readonly #json = new WeakMap<PodObject, string>();
  readonly #historyLength: number;
  #history: Change[] = [];
  #forgotten = 0;

  constructor(versions: ResourceVersions, historyLength: number) {
    this.versions = versions;
    this.#historyLength = historyLength;
  }

  get(namespace: string, name: string): PodObject | undefined {
    return this.#namespaces.get(namespace)?.get(name);
  }

  /** Pods of one namespace, or all, in the order of their names within each namespace. */
  list(namespace?: string): readonly PodObject[] {
    if (namespace !== undefined) return byName([...(this.#namespaces.get(namespace)?.values() ?? [])]);
    return [...this.#namespaces.keys()].sort().flatMap((each) => this.list(each));
  }

  /** Stores the pod under a new resource version and tells the watchers. Returns what was stored. */
  put(pod: PodObject): PodObject {
    const { namespace, name } = pod.metadata;
    const pods = this.#pods(namespace);
    const previous = pods.get(name);
    const version = this.versions.next();
    const stored = { ...pod, metadata: { ...pod.metadata, resourceVersion: String(version) } };
    pods.set(name, stored);
    this.#tell({ type: previous ? 'MODIFIED' : 'ADDED', version, pod: stored, ...(previous ? { previous } : {}) });
    return stored;
  }

  remove(pod: PodObject): void {
    const { namespace, name, uid } = pod.metadata;
    const last = this.get(namespace, name);
    if (!last || last.metadata.uid !== uid) return;
    this.#pods(namespace).delete(name);
    const version = this.versions.next();
    const stored = { ...last, metadata: { ...last.metadata, resourceVersion: String(version) } };
    this.#tell({ type: 'DELETED', version, pod: stored, previous: last });
  }

  /** Changes after `version`, or `undefined` when the history does not reach back that far (410). */
  since(version: number): readonly Change[] | undefined {
    if (version < this.#forgotten) return undefined;
    let low = 0;
    let high = this.#history.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#history[middle]?.version ?? 0) <= version) low = middle + 1;
      else high = middle;
    }
    return this.#history.slice(low);
  }

  /** Makes every older resource version "too old", as compaction does. */
  forgetHistory(): void {
    this.#forgotten = this.versions.current();
    this.#history = [];
  }

  /** The same pods under older versions, without a past: what is left after a restore of an older etcd. */
  setBack(version: number): void {
    this.versions.setBack(version);
    for (const pods of this.#namespaces.values())
      for (const [name, pod] of pods) {
        const resourceVersion = String(Math.min(Number(pod.metadata.resourceVersion), version));
        pods.set(name, { ...pod, metadata: { ...pod.metadata, resourceVersion } });
      }
    this.forgetHistory();
  }

  /** `namespace` empty: all of them. The returned function ends it. */
  subscribe(namespace: string, listener: ChangeListener): () => void {
    const listeners = this.#listeners.get(namespace) ?? new Set();
    this.#listeners.set(namespace, listeners);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  json(pod: PodObject): string {
    const known = this.#json.get(pod);
    if (known !== undefined) return known;
    const made = JSON.stringify(pod);
    this.#json.set(pod, made);
    return made;
  }

  #pods(namespace: string): Map<string, PodObject> {
    const known = this.#namespaces.get(namespace);
    if (known) return known;
    const made = new Map<string, PodObject>();
    this.#namespaces.set(namespace, made);
    return made;
  }

  #tell(change: Change): void {
    this.#history.push(change);
    if (this.#history.length > this.#historyLength * 2) {
      const dropped = this.#history.splice(0, this.#history.length - this.#historyLength);
      this.#forgotten = dropped.at(-1)?.version ?? this.#forgotten;
    }
    for (const key of [change.pod.metadata.namespace, '']) {
      for (const listener of this.#listeners.get(key) ?? []) listener(change);
    }
  }
}

function byName(pods: PodObject[]): PodObject[] {
  return pods.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}
