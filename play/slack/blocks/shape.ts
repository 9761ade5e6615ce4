/**
 * Small combinators that check JSON against Block Kit's rules and collect Slack's kind of complaint:
 * `must be less than 3001 characters [json-pointer:/blocks/0/text/text]`. A check never throws.
 */
interface Scope {
  readonly path: string;
  readonly report: (path: string, complaint: string) => void;
}

export type Check = (value: unknown, scope: Scope) => void;

/** `required` names first; every other key of an object must be known. */
export interface Shape {
  readonly required?: Readonly<Record<string, Check>>;
  readonly optional?: Readonly<Record<string, Check>>;
}

function complain(scope: Scope, complaint: string): void {
  scope.report(scope.path, complaint);
}

function below(scope: Scope, key: string | number): Scope {
  return { ...scope, path: `${scope.path}/${key}` };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Characters are UTF-16 units: the stricter reading, as Slack does not say. */
export function string(max: number, min = 1): Check {
  return (value, scope) => {
    if (typeof value !== 'string') complain(scope, 'must be a string');
    else if (value.length > max) complain(scope, `must be less than ${max + 1} characters`);
    else if (value.length < min) complain(scope, `must be more than ${min - 1} characters`);
  };
}

export function pattern(expression: RegExp): Check {
  return (value, scope) => {
    if (typeof value !== 'string' || !expression.test(value)) complain(scope, 'failed to match the allowed pattern');
  };
}

export const boolean: Check = (value, scope) => {
  if (typeof value !== 'boolean') complain(scope, 'must be a boolean');
};

export function integer(min: number, max: number): Check {
  return (value, scope) => {
    if (typeof value !== 'number' || !Number.isInteger(value)) complain(scope, 'must be an integer');
    else if (value < min || value > max) complain(scope, `must be between ${min} and ${max}`);
  };
}

export function oneOf(...allowed: string[]): Check {
  return (value, scope) => {
    if (typeof value !== 'string' || !allowed.includes(value)) complain(scope, 'must be a valid enum value');
  };
}

export function list(item: Check, max: number, min = 1): Check {
  return (value, scope) => {
    if (!Array.isArray(value)) return complain(scope, 'must be an array');
    if (value.length > max) complain(scope, `no more than ${max} items allowed`);
    if (value.length < min) complain(scope, `no fewer than ${min} items allowed`);
    value.forEach((one, index) => {
      item(one, below(scope, index));
    });
  };
}

/** Never a name from the prototype: `constructor` is no known property. */
function own(checks: Readonly<Record<string, Check>>, name: string): Check | undefined {
  return Object.hasOwn(checks, name) ? checks[name] : undefined;
}

export function object(shape: Shape): Check {
  const known: Record<string, Check> = { ...shape.required, ...shape.optional };
  return (value, scope) => {
    if (!isObject(value)) return complain(scope, 'must be an object');
    const missing = Object.keys(shape.required ?? {}).filter((name) => value[name] === undefined);
    for (const name of missing) complain(scope, `missing required field: ${name}`);
    for (const [name, one] of Object.entries(value)) {
      const check = own(known, name);
      if (check === undefined) complain(scope, `invalid additional property: ${name}`);
      else check(one, below(scope, name));
    }
  };
}

/** Chooses by the object's `type`; an unknown one is refused by name. */
export function byType(shapes: Readonly<Record<string, Check>>): Check {
  return (value, scope) => {
    const type = isObject(value) ? value.type : undefined;
    const check = own(shapes, String(type));
    if (check === undefined) complain(scope, `unsupported type: ${String(type)}`);
    else check(value, scope);
  };
}

/** An object of one `type`. */
export function typed(type: string, shape: Shape): Check {
  return object({
    required: { type: oneOf(type), ...shape.required },
    ...(shape.optional ? { optional: shape.optional } : {}),
  });
}

export const anything: Check = () => undefined;
