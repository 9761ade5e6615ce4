import { readFileSync } from 'node:fs';
import { parsePolicy } from '../../src/config/load-policy.ts';
import type { Policy } from '../../src/core/policy/policy.ts';

export const fixture = (name: string): string => new URL(`../fixtures/policy/${name}`, import.meta.url).pathname;

/** Four lines, so that what a test adds begins on the fifth. */
export const MINIMAL = readFileSync(fixture('minimal.yaml'), 'utf8').replace(/^#.*\n/, '');

export function loaded(text: string): Policy {
  const result = parsePolicy(text, 'p.yaml');
  if (result.kind === 'invalid') throw new Error(result.problems.join('\n'));
  return result.policy;
}

export function problems(text: string): readonly string[] {
  const result = parsePolicy(text, 'p.yaml');
  return result.kind === 'invalid' ? result.problems : [];
}
