import { type PolicyRule, RBAC_GROUP } from '../objects/rbac.ts';
import type { RbacStore } from '../objects/rbac-store.ts';
import type { User } from './identity.ts';
import { type ApiError, forbidden, forbiddenPath } from './status.ts';
import { describe, SubjectIndex } from './subject-index.ts';

/** What somebody wants to do: a resource, or else (`isResource` false) a path. */
export interface Attributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
  readonly isResource: boolean;
}

/** `reason` is what an access review tells; empty for members of `system:masters` and for a plain no. */
export interface Decision {
  readonly allowed: boolean;
  readonly reason: string;
}

/** A grant without objects, for tests. `*` matches anything; absent lists match anything; resources as `pods`, `pods/log`. */
export interface AllowRule {
  readonly user?: string;
  readonly group?: string;
  readonly verbs: readonly string[];
  readonly resources: readonly string[];
  readonly namespaces?: readonly string[];
  readonly names?: readonly string[];
}

/** RBAC (rbac.authorization.k8s.io/v1): default nothing, `system:masters` everything without a look at any rule. */
export class Authorizer {
  readonly #index: SubjectIndex;
  #rules: readonly AllowRule[];

  constructor(store: RbacStore, rules: readonly AllowRule[]) {
    this.#index = new SubjectIndex(store);
    this.#rules = rules;
  }

  /** Replaces the grants without objects; the next request sees it. */
  setRules(rules: readonly AllowRule[]): void {
    this.#rules = rules;
  }

  decide(user: User, asked: Attributes): Decision {
    if (user.groups.includes('system:masters')) return { allowed: true, reason: '' };
    const missing: string[] = [];
    for (const grant of this.#index.grantsOf(user, asked.namespace)) {
      const { kind, name } = grant.binding.roleRef;
      if (!grant.rules) missing.push(`${kind.toLowerCase()}.${RBAC_GROUP} "${name}" not found`);
      else if (grant.rules.some((rule) => allows(rule, asked)))
        return { allowed: true, reason: `RBAC: allowed by ${describe(grant)}` };
    }
    if (asked.isResource && this.#rules.some((rule) => isFor(rule, user) && covers(rule, asked)))
      return { allowed: true, reason: '' };
    return { allowed: false, reason: missing.length === 0 ? '' : `RBAC: ${aggregated(missing)}` };
  }

  /** @throws ApiError 403 in RBAC's own words */
  check(user: User, asked: Attributes): void {
    const { allowed, reason } = this.decide(user, asked);
    if (!allowed) throw refusalOf(user, asked, reason);
  }

  /** How `check` refuses while the server has not read all its objects: no binding, or not the ClusterRole of one. */
  refusalAtStart(user: User, asked: Attributes, missingRole?: string): ApiError {
    const reason = missingRole === undefined ? '' : `RBAC: clusterrole.${RBAC_GROUP} "${missingRole}" not found`;
    return refusalOf(user, asked, reason);
  }
}

const fullName = ({ resource, subresource }: Attributes) =>
  subresource === '' ? resource : `${resource}/${subresource}`;

function refusalOf(user: User, asked: Attributes, reason: string): ApiError {
  const more = reason === '' ? '' : `: ${reason}`;
  if (!asked.isResource) return forbiddenPath(`User "${user.name}" cannot ${asked.verb} path "${asked.path}"${more}`);
  const { verb, group, resource, namespace, name } = asked;
  const scope = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const told = `User "${user.name}" cannot ${verb} resource "${fullName(asked)}" in API group "${group}" ${scope}`;
  return forbidden(resource, name, told + more, group);
}

/** Several errors in brackets, each told once (apimachinery, Aggregate). */
function aggregated(errors: readonly string[]): string {
  const once = [...new Set(errors)];
  return once.length === 1 ? (once[0] ?? '') : `[${once.join(', ')}]`;
}

function allows(rule: PolicyRule, asked: Attributes): boolean {
  if (!has(rule.verbs, asked.verb)) return false;
  if (!asked.isResource) return (rule.nonResourceURLs ?? []).some((url) => isPathOf(url, asked.path));
  const named = rule.resourceNames ?? [];
  return (
    has(rule.apiGroups ?? [], asked.group) &&
    isResourceOf(rule.resources ?? [], asked) &&
    (named.length === 0 || named.includes(asked.name))
  );
}

const has = (list: readonly string[], value: string) => list.includes('*') || list.includes(value);

function isResourceOf(resources: readonly string[], asked: Attributes): boolean {
  if (has(resources, fullName(asked))) return true;
  return asked.subresource !== '' && resources.includes(`*/${asked.subresource}`);
}

const isPathOf = (url: string, path: string) =>
  url === '*' || url === path || (url.endsWith('*') && path.startsWith(url.replace(/\*+$/, '')));

const isFor = (rule: AllowRule, user: User) =>
  rule.user === user.name || (rule.group !== undefined && user.groups.includes(rule.group));

function covers(rule: AllowRule, asked: Attributes): boolean {
  return (
    has(rule.verbs, asked.verb) &&
    has(rule.resources, fullName(asked)) &&
    has(rule.namespaces ?? ['*'], asked.namespace) &&
    has(rule.names ?? ['*'], asked.name)
  );
}
