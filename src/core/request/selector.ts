import { isDnsSubdomain } from '../container/names.ts';

/** One condition on a pod's labels (apimachinery, labels.Requirement). */
export type Requirement =
  | { readonly key: string; readonly operator: 'exists' | 'not-exists' }
  | { readonly key: string; readonly operator: '=' | '!='; readonly value: string }
  | { readonly key: string; readonly operator: '<' | '>'; readonly value: string }
  | { readonly key: string; readonly operator: 'in' | 'notin'; readonly values: readonly string[] };

/** A pod must meet every requirement. The empty selector matches every pod. */
export type Selector = readonly Requirement[];

const NAME = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const NAME_LENGTH = 63;

/** A selector becomes part of a request's URL, and nobody types a longer one. */
const MAX_LENGTH = 1_000;

/** A key, an operator or a comma, after optional white space. */
const TOKEN = /\s*(==|!=|[=!<>(),]|[^\s=!<>(),]+)/y;

/**
 * Parses a label selector (`app=web,tier in (a,b),!legacy,size>3`). Returns `undefined` for anything else, and for the
 * empty text, which would match every pod. Follows Kubernetes apimachinery, labels.Parse, but refuses an empty member
 * of a set and an empty requirement. At most 1,000 characters.
 */
export function parseSelector(text: string): Selector | undefined {
  const tokens = text.length > MAX_LENGTH ? undefined : splitSelector(text);
  if (!tokens || tokens.length === 0) return undefined;
  const requirements: Requirement[] = [];
  let at = 0;
  for (;;) {
    const read = readRequirement(tokens, at);
    if (!read) return undefined;
    requirements.push(read.requirement);
    at = read.next;
    if (at === tokens.length) return requirements;
    if (tokens[at] !== ',') return undefined;
    at += 1;
  }
}

/** The canonical spelling; `parseSelector` restores the requirements. */
export const printSelector = (selector: Selector): string => selector.map(printRequirement).join(',');

function printRequirement(requirement: Requirement): string {
  const { key } = requirement;
  switch (requirement.operator) {
    case 'exists':
      return key;
    case 'not-exists':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${requirement.operator} (${requirement.values.join(',')})`;
    default:
      return `${key}${requirement.operator}${requirement.value}`;
  }
}

type Labels = Readonly<Record<string, string>>;

/** Follows the API server: `!=` and `notin` also match pods without the label; `>` and `<` match only whole numbers. */
export const matchesSelector = (selector: Selector, labels: Labels): boolean =>
  selector.every((requirement) => meets(requirement, labels));

function meets(requirement: Requirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined;
  switch (requirement.operator) {
    case 'exists':
      return value !== undefined;
    case 'not-exists':
      return value === undefined;
    case '=':
      return value === requirement.value;
    case '!=':
      return value !== requirement.value;
    case 'in':
      return value !== undefined && requirement.values.includes(value);
    case 'notin':
      return value === undefined || !requirement.values.includes(value);
    default:
      return isBeyond(value, requirement);
  }
}

function isBeyond(text: string | undefined, { operator, value }: { operator: '<' | '>'; value: string }): boolean {
  if (text === undefined || !/^[-+]?\d{1,19}$/.test(text)) return false;
  const difference = BigInt(text) - BigInt(value);
  return operator === '>' ? difference > 0n : difference < 0n;
}

function splitSelector(text: string): readonly string[] | undefined {
  const trimmed = text.trim();
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < trimmed.length) {
    const match = TOKEN.exec(trimmed);
    if (!match) return undefined;
    tokens.push(match[1] ?? '');
  }
  return tokens;
}

interface ReadRequirement {
  readonly requirement: Requirement;
  readonly next: number;
}

function readRequirement(tokens: readonly string[], at: number): ReadRequirement | undefined {
  if (tokens[at] === '!') return readExistence(tokens[at + 1], 'not-exists', at + 2);
  const key = tokens[at];
  const operator = tokens[at + 1];
  if (key === undefined || !isLabelKey(key)) return undefined;
  if (operator === undefined || operator === ',') return readExistence(key, 'exists', at + 1);
  if (operator === 'in' || operator === 'notin') return readSet(tokens, { at, key, operator });
  if (operator === '=' || operator === '==') return readEquality(tokens, { at, key, operator: '=' });
  if (operator === '!=') return readEquality(tokens, { at, key, operator });
  if (operator === '<' || operator === '>') return readComparison(tokens, { at, key, operator });
  return undefined;
}

interface Start<Operator> {
  readonly at: number;
  readonly key: string;
  readonly operator: Operator;
}

const readExistence = (
  key: string | undefined,
  operator: 'exists' | 'not-exists',
  next: number,
): ReadRequirement | undefined =>
  key !== undefined && isLabelKey(key) ? { requirement: { key, operator }, next } : undefined;

/** The value may be empty: `app=` matches pods whose label `app` is empty. */
function readEquality(
  tokens: readonly string[],
  { at, key, operator }: Start<'=' | '!='>,
): ReadRequirement | undefined {
  const value = tokens[at + 2];
  if (value === undefined || value === ',') return { requirement: { key, operator, value: '' }, next: at + 2 };
  return isLabelValue(value) ? { requirement: { key, operator, value }, next: at + 3 } : undefined;
}

function readComparison(
  tokens: readonly string[],
  { at, key, operator }: Start<'<' | '>'>,
): ReadRequirement | undefined {
  const value = tokens[at + 2];
  if (value === undefined || !/^\d{1,18}$/.test(value)) return undefined;
  return { requirement: { key, operator, value }, next: at + 3 };
}

function readSet(tokens: readonly string[], { at, key, operator }: Start<'in' | 'notin'>): ReadRequirement | undefined {
  if (tokens[at + 2] !== '(') return undefined;
  const close = tokens.indexOf(')', at + 3);
  if (close < 0) return undefined;
  const inner = tokens.slice(at + 3, close);
  const isList =
    inner.length % 2 === 1 && inner.every((token, index) => (index % 2 === 0 ? isLabelValue(token) : token === ','));
  if (!isList) return undefined;
  return { requirement: { key, operator, values: inner.filter((token) => token !== ',') }, next: close + 1 };
}

/** Refuses the empty text, which Kubernetes allows. */
export const isLabelValue = (text: string): boolean => text.length <= NAME_LENGTH && NAME.test(text);

/** Accepts a key with or without a prefix. */
export function isLabelKey(text: string): boolean {
  const slash = text.indexOf('/');
  return isLabelValue(text.slice(slash + 1)) && (slash < 0 || isDnsSubdomain(text.slice(0, slash)));
}
