import { type Check, isObject } from './shape.ts';

/** `check`, and after it a look at what the value's fields say together. */
export function also(check: Check, look: Check): Check {
  return (value, scope) => {
    check(value, scope);
    look(value, scope);
  };
}

/** Exactly one of these fields. */
export function oneOfFields(...names: readonly string[]): Check {
  return (value, { path, report }) => {
    if (!isObject(value)) return;
    const given = names.filter((name) => value[name] !== undefined);
    if (given.length === 0) report(path, `missing required field: ${names[0]}`);
    if (given.length > 1) report(path, `only one of these may be given: ${given.join(', ')}`);
  };
}

/** "initial_value" must be a text that the person could have typed. */
export const startsWithinLengths: Check = (value, { path, report }) => {
  if (!isObject(value) || typeof value.initial_value !== 'string') return;
  const { min_length: min, max_length: max } = value;
  const { length } = value.initial_value;
  if (typeof max === 'number' && length > max)
    report(`${path}/initial_value`, `must be less than ${max + 1} characters`);
  if (typeof min === 'number' && length > 0 && length < min)
    report(`${path}/initial_value`, `must be more than ${min - 1} characters`);
};

/** "initial_option must match one of the options": text, value and description alike. */
export const startsWithItsOptions: Check = (value, { path, report }) => {
  if (!isObject(value)) return;
  const groups = list(value.option_groups).flatMap((group) => (isObject(group) ? list(group.options) : []));
  const known = new Set([...list(value.options), ...groups].map(likeness));
  if (value.initial_option !== undefined && !known.has(likeness(value.initial_option)))
    report(`${path}/initial_option`, '`initial_option` does not match any of the `options`');
  list(value.initial_options).forEach((one, index) => {
    if (!known.has(likeness(one)))
      report(`${path}/initial_options/${index}`, '`initial_options` does not match any of the `options`');
  });
};

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function likeness(option: unknown): string {
  const { text, value, description } = isObject(option) ? option : {};
  return JSON.stringify([textOf(text), value, textOf(description)]);
}

const textOf = (value: unknown): unknown => (isObject(value) ? value.text : undefined);
