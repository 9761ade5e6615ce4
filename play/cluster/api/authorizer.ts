import type { User } from './identity.ts';

export interface Attributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/** One row of the allow table. `*` matches anything; absent lists match anything; resources as `pods`, `pods/log`. */
export interface AllowRule {
  readonly user?: string;
  readonly group?: string;
  readonly verbs: readonly string[];
  readonly resources: readonly string[];
  readonly namespaces?: readonly string[];
  readonly names?: readonly string[];
}

/** Who may do what: members of `system:masters` everything, everybody else what the table says, default nothing. */
export class Authorizer {
  #rules: readonly AllowRule[];

  constructor(rules: readonly AllowRule[]) {
    this.#rules = rules;
  }

  /** Replaces the whole table; the next request sees it. */
  setRules(rules: readonly AllowRule[]): void {
    this.#rules = rules;
  }

  allows(user: User, asked: Attributes): boolean {
    if (user.groups.includes('system:masters')) return true;
    if (asked.resource.startsWith('selfsubject') && user.name !== 'system:anonymous') return true;
    return this.#rules.some((rule) => isFor(rule, user) && covers(rule, asked));
  }
}

function isFor(rule: AllowRule, user: User): boolean {
  return rule.user === user.name || (rule.group !== undefined && user.groups.includes(rule.group));
}

function covers(rule: AllowRule, asked: Attributes): boolean {
  const resource = asked.subresource === '' ? asked.resource : `${asked.resource}/${asked.subresource}`;
  return (
    matches(rule.verbs, asked.verb) &&
    matches(rule.resources, resource) &&
    matches(rule.namespaces, asked.namespace) &&
    matches(rule.names, asked.name)
  );
}

function matches(allowed: readonly string[] | undefined, value: string): boolean {
  return allowed === undefined || allowed.includes('*') || allowed.includes(value);
}

/** The sentence of a refusal, word for word as RBAC says it. */
export function refusalOf(user: User, asked: Attributes): string {
  const resource = asked.subresource === '' ? asked.resource : `${asked.resource}/${asked.subresource}`;
  const scope = asked.namespace === '' ? 'at the cluster scope' : `in the namespace "${asked.namespace}"`;
  return `User "${user.name}" cannot ${asked.verb} resource "${resource}" in API group "${asked.group}" ${scope}`;
}
