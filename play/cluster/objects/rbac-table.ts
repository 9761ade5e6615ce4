import type { BindingObject, RbacObject } from './rbac.ts';
import { age, type Columns, column } from './table.ts';

/** The columns that `kubectl get` prints of roles and of bindings. */
export const ROLE_COLUMNS: Columns<RbacObject> = {
  definitions: [column('Name'), column('Created At')],
  cells: ({ metadata }) => [metadata.name, metadata.creationTimestamp],
};

export const BINDING_COLUMNS: Columns<BindingObject> = {
  definitions: [
    column('Name'),
    column('Role'),
    column('Age'),
    column('Users', 1),
    column('Groups', 1),
    column('ServiceAccounts', 1),
  ],
  cells: ({ metadata, roleRef, subjects = [] }, now) => {
    const named = (kind: string) =>
      subjects
        .filter((each) => each.kind === kind)
        .map(({ name, namespace }) => (kind === 'ServiceAccount' ? `${namespace ?? ''}/${name}` : name))
        .join(', ');
    return [
      metadata.name,
      `${roleRef.kind}/${roleRef.name}`,
      age(metadata.creationTimestamp, now),
      named('User'),
      named('Group'),
      named('ServiceAccount'),
    ];
  },
};
