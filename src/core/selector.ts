import { isDnsSubdomain } from './container/names.ts';

const NAME = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const NAME_LENGTH = 63;

/** A selector goes into the address of a request; nobody types a longer one. */
const MAX_LENGTH = 1_000;

/** A key, an operator or a comma; white space between them is skipped. */
const TOKEN = /\s*(==|!=|[=!<>(),]|[^\s=!<>(),]+)/y;

/**
 * The canonical spelling of a label selector (`app=web,tier in (a,b),!legacy,size>3`), or `undefined` for what is none, the
 * empty one included: it would match every pod. Kubernetes apimachinery, labels.Parse; two differences, both stricter:
 * an empty member of a set is refused, and so is an empty requirement. At most 1,000 characters.
 */
export function parseSelector(text: string): string | undefined {
  const tokens = text.length > MAX_LENGTH ? undefined : splitSelector(text);
  if (!tokens || tokens.length === 0) return undefined;
  const requirements: string[] = [];
  let at = 0;
  for (;;) {
    const requirement = readRequirement(tokens, at);
    if (!requirement) return undefined;
    requirements.push(requirement.text);
    at = requirement.next;
    if (at === tokens.length) return requirements.join(',');
    if (tokens[at] !== ',') return undefined;
    at += 1;
  }
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

interface Requirement {
  readonly text: string;
  /** Index of the first token after it. */
  readonly next: number;
}

function readRequirement(tokens: readonly string[], at: number): Requirement | undefined {
  if (tokens[at] === '!') return existence(tokens[at + 1], '!', at + 2);
  const key = tokens[at];
  const operator = tokens[at + 1];
  if (key === undefined || !isLabelKey(key)) return undefined;
  if (operator === undefined || operator === ',') return existence(key, '', at + 1);
  if (operator === 'in' || operator === 'notin') return readSet(tokens, at);
  if (operator === '=' || operator === '==' || operator === '!=') return readEquality(tokens, at);
  return readComparison(tokens, at);
}

const existence = (key: string | undefined, mark: string, next: number): Requirement | undefined =>
  key !== undefined && isLabelKey(key) ? { text: mark + key, next } : undefined;

/** An equality's value may be empty: `app=` matches pods whose label `app` is empty. */
function readEquality(tokens: readonly string[], at: number): Requirement | undefined {
  const mark = tokens[at + 1] === '!=' ? '!=' : '=';
  const value = tokens[at + 2];
  if (value === undefined || value === ',') return { text: `${tokens[at]}${mark}`, next: at + 2 };
  return isLabelValue(value) ? { text: `${tokens[at]}${mark}${value}`, next: at + 3 } : undefined;
}

function readComparison(tokens: readonly string[], at: number): Requirement | undefined {
  const [key, operator, value] = tokens.slice(at, at + 3);
  if ((operator !== '<' && operator !== '>') || value === undefined || !/^\d{1,18}$/.test(value)) return undefined;
  return isLabelValue(value) ? { text: `${key}${operator}${value}`, next: at + 3 } : undefined;
}

function readSet(tokens: readonly string[], at: number): Requirement | undefined {
  if (tokens[at + 2] !== '(') return undefined;
  const close = tokens.indexOf(')', at + 3);
  if (close < 0) return undefined;
  const inner = tokens.slice(at + 3, close);
  const isList =
    inner.length % 2 === 1 && inner.every((token, index) => (index % 2 === 0 ? isLabelValue(token) : token === ','));
  if (!isList) return undefined;
  const values = inner.filter((token) => token !== ',');
  return { text: `${tokens[at]} ${tokens[at + 1]} (${values.join(',')})`, next: close + 1 };
}

/** Whether it can be the value of a label; the empty one is not asked for here. */
export const isLabelValue = (text: string): boolean => text.length <= NAME_LENGTH && NAME.test(text);

/** Whether it can be the key of a label, with its prefix or without. */
export function isLabelKey(text: string): boolean {
  const slash = text.indexOf('/');
  return isLabelValue(text.slice(slash + 1)) && (slash < 0 || isDnsSubdomain(text.slice(0, slash)));
}
