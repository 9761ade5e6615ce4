import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findingsInTools } from '../../../../scripts/gen-findings-tools.ts';
import { IMAGE_FINDINGS } from '../../../../src/core/diagnosis/images/image-findings.ts';

const TOOLS = new URL('../../../../images/tools/internal/', import.meta.url);
const SECTIONS = 'context processes memory cpu io files sockets dns peers tls filesystem environment runtime'.split(
  ' ',
);

/** What the programs are made of. */
const program = readdirSync(TOOLS, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.go') && !name.endsWith('_test.go'))
  .map((name) => readFileSync(new URL(name, TOOLS), 'utf8'))
  .join('\n');

describe('the findings of the image', () => {
  it('have codes of their own, sections that exist, and sentences within what a report takes', () => {
    const codes = IMAGE_FINDINGS.map(({ code }) => code);
    expect(new Set(codes).size).toBe(codes.length);
    for (const rule of IMAGE_FINDINGS) {
      expect(rule.code).toMatch(/^[a-z][a-z0-9_-]{0,39}$/);
      expect(rule).toMatchObject({ seenBy: 'image', section: expect.toBeOneOf(SECTIONS) });
      expect(rule.next.length, rule.code).toBeLessThanOrEqual(160);
      for (const sentence of [rule.means, rule.next, rule.source]) expect(sentence, rule.code).toMatch(/\.$/);
      expect(rule.unit === undefined, rule.code).toBe(rule.threshold === undefined);
    }
  });

  it('are each recorded by the program; one that is in no table ends it', () => {
    const unused = IMAGE_FINDINGS.filter(({ code }) => !program.includes(`"${code}"`));
    expect(unused.map(({ code }) => code)).toEqual([]);
  });

  it('are in the program as they are in the table', async () => {
    const table = readFileSync(new URL('rules/findings.tsv', TOOLS), 'utf8');
    expect(await findingsInTools.text(table)).toBe(table);
  });
});
