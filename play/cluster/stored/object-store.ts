import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { isObject } from '../objects/json.ts';
import { type JsonObject, rfc3339 } from '../objects/pod.ts';
import type { ResourceVersions } from '../objects/resource-versions.ts';
import { STORED_KINDS, type StoredObject } from './kinds.ts';

/** The objects of the kinds that nothing acts on, by resource, namespace and name. */
export class ObjectStore {
  readonly #clock: Clock;
  readonly #versions: ResourceVersions;
  readonly #objects = new Map<string, Map<string, StoredObject>>();

  constructor(clock: Clock, versions: ResourceVersions) {
    this.#clock = clock;
    this.#versions = versions;
  }

  get(resource: string, namespace: string, name: string): StoredObject | undefined {
    return this.#objects.get(resource)?.get(`${namespace}/${name}`);
  }

  /** In the order of their names. `namespace` empty: of all, and what is in none. */
  list(resource: string, namespace: string): readonly StoredObject[] {
    const all = [...(this.#objects.get(resource) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
    return namespace === '' ? all : all.filter(({ metadata }) => metadata.namespace === namespace);
  }

  /** The object as it would be stored; what its metadata lacks is filled in. @throws Error without a name */
  draft(resource: string, raw: JsonObject, namespace: string): StoredObject {
    const known = STORED_KINDS[resource];
    const metadata = isObject(raw.metadata) ? raw.metadata : {};
    if (!known || typeof metadata.name !== 'string') throw new Error(`no name, or no such kind: ${resource}`);
    const { kind, group, namespaced } = known;
    return {
      ...raw,
      kind,
      apiVersion: group === '' ? 'v1' : `${group}/v1`,
      metadata: {
        uid: randomUUID(),
        creationTimestamp: rfc3339(this.#clock.now()),
        ...metadata,
        name: metadata.name,
        ...(namespaced ? { namespace } : {}),
        resourceVersion: String(this.#versions.current()),
      },
    };
  }

  /** Makes or replaces it. @throws Error as `draft` */
  put(resource: string, raw: JsonObject, namespace: string): StoredObject {
    const draft = this.draft(resource, raw, namespace);
    const stored = { ...draft, metadata: { ...draft.metadata, resourceVersion: String(this.#versions.next()) } };
    const objects = this.#objects.get(resource) ?? new Map<string, StoredObject>();
    this.#objects.set(resource, objects);
    objects.set(keyOf(stored), stored);
    return stored;
  }

  remove(resource: string, object: StoredObject): void {
    this.#objects.get(resource)?.delete(keyOf(object));
  }

  removeNamespace(namespace: string): void {
    for (const [resource, objects] of this.#objects)
      for (const object of [...objects.values()])
        if (object.metadata.namespace === namespace) this.remove(resource, object);
  }
}

const keyOf = ({ metadata }: StoredObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;
