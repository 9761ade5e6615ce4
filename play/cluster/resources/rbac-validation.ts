import { cause, type StatusCause } from '../api/status.ts';
import {
  type BindingObject,
  isBinding,
  isNamespacedKind,
  type PolicyRule,
  RBAC_GROUP,
  type RbacObject,
  type Subject,
} from '../objects/rbac.ts';

/** Everything that the API server has against a role or a binding, in its order (pkg/apis/rbac/validation). */
export function rbacCauses(object: RbacObject): readonly StatusCause[] {
  const isNamespaced = isNamespacedKind(object.kind);
  return [
    ...nameCauses(object.metadata.name),
    ...(isBinding(object)
      ? bindingCauses(object, isNamespaced)
      : (object.rules ?? []).flatMap((rule, at) => ruleCauses(rule, `rules[${at}]`, isNamespaced))),
  ];
}

const required = (field: string, why = '') =>
  cause('FieldValueRequired', field, why === '' ? 'Required value' : `Required value: ${why}`);

const wrong = (field: string, value: unknown, why: string) =>
  cause('FieldValueInvalid', field, `Invalid value: ${JSON.stringify(value)}: ${why}`);

function unsupported(field: string, value: string, values: readonly string[]): readonly StatusCause[] {
  if (values.includes(value)) return [];
  const list = values.map((each) => `"${each}"`).join(', ');
  return [cause('FieldValueNotSupported', field, `Unsupported value: "${value}": supported values: ${list}`)];
}

/** Any name that fits into a path: `slack:U1` does. */
function nameCauses(name: string): readonly StatusCause[] {
  if (name === '') return [required('metadata.name', 'name or generateName is required')];
  if (name === '.' || name === '..') return [wrong('metadata.name', name, `may not be '${name}'`)];
  return ['/', '%']
    .filter((each) => name.includes(each))
    .map((each) => wrong('metadata.name', name, `may not contain '${each}'`));
}

function ruleCauses(rule: PolicyRule, path: string, isNamespaced: boolean): readonly StatusCause[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const noVerbs = verbs.length === 0 ? [required(`${path}.verbs`, 'verbs must contain at least one value')] : [];
  if (nonResourceURLs.length > 0) {
    const field = `${path}.nonResourceURLs`;
    const isMixed = apiGroups.length + resources.length + resourceNames.length > 0;
    const both = 'rules cannot apply to both regular resources and non-resource URLs';
    return [
      ...noVerbs,
      ...(isNamespaced ? [wrong(field, nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs')] : []),
      ...(isMixed ? [wrong(field, nonResourceURLs, both)] : []),
    ];
  }
  return [
    ...noVerbs,
    ...(apiGroups.length === 0
      ? [required(`${path}.apiGroups`, 'resource rules must supply at least one api group')]
      : []),
    ...(resources.length === 0
      ? [required(`${path}.resources`, 'resource rules must supply at least one resource')]
      : []),
  ];
}

function bindingCauses({ roleRef, subjects = [] }: BindingObject, isNamespaced: boolean): readonly StatusCause[] {
  return [
    ...unsupported('roleRef.apiGroup', roleRef.apiGroup, [RBAC_GROUP]),
    ...unsupported('roleRef.kind', roleRef.kind, isNamespaced ? ['Role', 'ClusterRole'] : ['ClusterRole']),
    ...(roleRef.name === '' ? [required('roleRef.name')] : []),
    ...subjects.flatMap((subject, at) => subjectCauses(subject, `subjects[${at}]`, isNamespaced)),
  ];
}

function subjectCauses(subject: Subject, path: string, isNamespaced: boolean): readonly StatusCause[] {
  const { kind, apiGroup = '', name, namespace } = subject;
  const noName = name === '' ? [required(`${path}.name`)] : [];
  if (kind === 'ServiceAccount') {
    const noNamespace = !isNamespaced && namespace === undefined ? [required(`${path}.namespace`)] : [];
    return [...noName, ...unsupported(`${path}.apiGroup`, apiGroup, ['']), ...noNamespace];
  }
  if (kind === 'User' || kind === 'Group') {
    return [...noName, ...unsupported(`${path}.apiGroup`, apiGroup, [RBAC_GROUP])];
  }
  return [...noName, ...unsupported(`${path}.kind`, kind, ['ServiceAccount', 'User', 'Group'])];
}
