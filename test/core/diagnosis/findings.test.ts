import { describe, expect, it } from 'vitest';
import { FINDINGS, findingRule } from '../../../src/core/diagnosis/verdict.ts';

describe('the table of findings', () => {
  it('has every code once, and finds it again', () => {
    expect(new Set(FINDINGS.map(({ code }) => code)).size).toBe(FINDINGS.length);
    for (const rule of FINDINGS) expect(findingRule(rule.code)).toBe(rule);
    expect(findingRule('toString')).toBeUndefined();
  });

  it.each(FINDINGS)('says of $code what it means, one next step, and where its threshold comes from', (rule) => {
    expect(rule.code).toMatch(/^[a-z][a-z0-9_]{2,39}$/);
    expect(rule.means).toMatch(/^.{20,200}\.$/);
    expect(rule.next).toMatch(/^[A-Z].{10,200}[.?]$/);
    expect(rule.source.length).toBeGreaterThan(10);
    if (rule.threshold !== undefined) expect(rule.unit).toBeTruthy();
  });
});
