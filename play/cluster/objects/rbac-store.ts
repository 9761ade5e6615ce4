import { type BindingObject, isBinding, type RbacKind, type RbacObject, type RoleObject } from './rbac.ts';
import type { ResourceVersions } from './resource-versions.ts';

/** Roles and bindings. A change is seen by the very next request. */
export class RbacStore {
  readonly #versions: ResourceVersions;
  readonly #objects = new Map<string, RbacObject>();
  #changes = 0;

  constructor(versions: ResourceVersions) {
    this.#versions = versions;
  }

  /** Grows with every change: what was derived from the objects is good as long as this stays. */
  get changes(): number {
    return this.#changes;
  }

  get(kind: RbacKind, namespace: string, name: string): RbacObject | undefined {
    return this.#objects.get(keyOf(kind, namespace, name));
  }

  role(kind: string, namespace: string, name: string): RoleObject | undefined {
    if (kind !== 'Role' && kind !== 'ClusterRole') return undefined;
    const found = this.get(kind, kind === 'Role' ? namespace : '', name);
    return found && !isBinding(found) ? found : undefined;
  }

  /** By namespace and name; `namespace` empty: all of them. */
  list(kind: RbacKind, namespace: string): readonly RbacObject[] {
    const prefix = namespace === '' ? `${kind}/` : keyOf(kind, namespace, '');
    const wanted = [...this.#objects.keys()].filter((key) => key.startsWith(prefix)).sort();
    return wanted.flatMap((key) => this.#objects.get(key) ?? []);
  }

  bindings(): readonly BindingObject[] {
    return [...this.list('ClusterRoleBinding', ''), ...this.list('RoleBinding', '')].filter(isBinding);
  }

  /** Stores it under a new resource version and returns what was stored. */
  put(object: RbacObject): RbacObject {
    const resourceVersion = String(this.#versions.next());
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion } };
    this.#objects.set(keyFor(object), stored);
    this.#changes += 1;
    return stored;
  }

  remove(object: RbacObject): void {
    if (this.#objects.delete(keyFor(object))) this.#changes += 1;
  }

  /** All that a namespace takes with it. */
  removeNamespace(namespace: string): void {
    for (const object of [...this.list('Role', namespace), ...this.list('RoleBinding', namespace)]) this.remove(object);
  }
}

const keyOf = (kind: RbacKind, namespace: string, name: string) => `${kind}/${namespace}/${name}`;

const keyFor = ({ kind, metadata }: RbacObject) => keyOf(kind, metadata.namespace ?? '', metadata.name);
