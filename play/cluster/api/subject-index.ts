import type { BindingObject, PolicyRule, Subject } from '../objects/rbac.ts';
import type { RbacStore } from '../objects/rbac-store.ts';
import { type User, userOfServiceAccount } from './identity.ts';

/** A binding that applies to somebody, by one of its subjects. `rules` are missing when the role is. */
export interface Grant {
  readonly binding: BindingObject;
  readonly subject: Subject;
  readonly rules: readonly PolicyRule[] | undefined;
}

interface Place {
  readonly binding: BindingObject;
  readonly order: number;
  readonly subject: Subject;
}

/** Which bindings apply to whom: made anew after a change, then one look-up for each of the user's names. */
export class SubjectIndex {
  readonly #store: RbacStore;
  #madeAt = -1;
  #places = new Map<string, Place[]>();

  constructor(store: RbacStore) {
    this.#store = store;
  }

  /** Cluster-wide bindings first, then those of the namespace, each by name; one grant a binding. */
  grantsOf(user: User, namespace: string): readonly Grant[] {
    this.#refresh();
    const names = [`User/${user.name}`, ...user.groups.map((group) => `Group/${group}`)];
    const scopes = namespace === '' ? [''] : ['', namespace];
    const places = scopes.flatMap((scope) => names.flatMap((name) => this.#places.get(`${scope}|${name}`) ?? []));
    const first = new Map<BindingObject, Place>();
    for (const place of places.sort((a, b) => a.order - b.order)) {
      if (!first.has(place.binding)) first.set(place.binding, place);
    }
    return [...first.values()].map(({ binding, subject }) => ({ binding, subject, rules: this.#rulesOf(binding) }));
  }

  #rulesOf({ roleRef, metadata }: BindingObject): readonly PolicyRule[] | undefined {
    const role = this.#store.role(roleRef.kind, metadata.namespace ?? '', roleRef.name);
    return role && (role.rules ?? []);
  }

  #refresh(): void {
    if (this.#madeAt === this.#store.changes) return;
    this.#madeAt = this.#store.changes;
    this.#places = new Map();
    let order = 0;
    for (const binding of this.#store.bindings()) {
      for (const subject of binding.subjects ?? []) {
        order += 1;
        this.#add({ binding, subject, order });
      }
    }
  }

  #add(place: Place): void {
    const scope = place.binding.metadata.namespace ?? '';
    const key = `${scope}|${nameOf(place.subject, scope)}`;
    const known = this.#places.get(key);
    if (known) known.push(place);
    else this.#places.set(key, [place]);
  }
}

function nameOf(subject: Subject, bindingNamespace: string): string {
  if (subject.kind !== 'ServiceAccount') return `${subject.kind}/${subject.name}`;
  return `User/${userOfServiceAccount(subject.namespace ?? bindingNamespace, subject.name)}`;
}

/** The grant in a sentence, as the access reviews tell it (rbac/validation, describers). */
export function describe({ binding, subject }: Grant): string {
  const { kind, metadata, roleRef } = binding;
  const name = metadata.namespace === undefined ? metadata.name : `${metadata.name}/${metadata.namespace}`;
  const account = `${subject.name}/${subject.namespace ?? metadata.namespace ?? ''}`;
  const who = subject.kind === 'ServiceAccount' ? account : subject.name;
  return `${kind} "${name}" of ${roleRef.kind} "${roleRef.name}" to ${subject.kind} "${who}"`;
}
