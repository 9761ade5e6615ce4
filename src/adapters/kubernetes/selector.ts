import { KdebugError } from '../../core/errors.ts';
import { parseSelector } from '../../core/selector.ts';

type Labels = Readonly<Record<string, string>>;
type Requirement = (labels: Labels) => boolean;

/**
 * A label selector as a function, with the API server's semantics (apimachinery, labels.Requirement): `!=` and `notin`
 * also match pods without the label, `>` and `<` only whole numbers. The empty selector matches every pod.
 * @throws KdebugError invalid_selector
 */
export function compileSelector(selector: string): Requirement {
  if (selector.trim() === '') return () => true;
  const canonical = parseSelector(selector);
  if (canonical === undefined) throw new KdebugError('invalid_selector', { detail: selector.slice(0, 200) });
  const requirements = canonical.split(/,(?![^(]*\))/).map(compileRequirement);
  return (labels) => requirements.every((matches) => matches(labels));
}

const SET = /^(\S+) (in|notin) \((.*)\)$/;
const COMPARISON = /^([^=!<>]+)(!=|=|<|>)(.*)$/;

/** One requirement in the canonical spelling that `parseSelector` yields. */
function compileRequirement(text: string): Requirement {
  if (text.startsWith('!')) return (labels) => !Object.hasOwn(labels, text.slice(1));
  const set = SET.exec(text);
  if (set) return member(set[1] ?? '', set[2] === 'in', new Set((set[3] ?? '').split(',')));
  const comparison = COMPARISON.exec(text);
  if (!comparison) return (labels) => Object.hasOwn(labels, text);
  const [key = '', operator = '', value = ''] = comparison.slice(1);
  if (operator === '=' || operator === '!=') return member(key, operator === '=', new Set([value]));
  return compare(key, operator === '>' ? 1n : -1n, BigInt(value));
}

function member(key: string, wanted: boolean, values: ReadonlySet<string>): Requirement {
  return (labels) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    return wanted === (value !== undefined && values.has(value));
  };
}

function compare(key: string, sign: bigint, bound: bigint): Requirement {
  return (labels) => {
    const value = labels[key];
    return value !== undefined && /^[-+]?\d{1,19}$/.test(value) && (BigInt(value) - bound) * sign > 0n;
  };
}
