import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findingsInScript } from '../../../../scripts/gen-findings-script.ts';
import { IMAGE_FINDINGS } from '../../../../src/core/diagnosis/images/image-findings.ts';

const IMAGE = new URL('../../../../images/autodiagnose/', import.meta.url);
const SECTIONS = 'context processes memory cpu io files sockets dns peers tls filesystem environment runtime'.split(
  ' ',
);

/** The codes that the parts of the script record, by `found CODE` and `look_at_heap CODE`. */
const recorded = new Set(
  readdirSync(new URL('parts/', IMAGE)).flatMap((name) =>
    [...readFileSync(new URL(`parts/${name}`, IMAGE), 'utf8').matchAll(/\b(?:found|look_at_heap) ([a-z_]+)/g)].map(
      ([, code]) => code,
    ),
  ),
);

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

  it('are exactly those that the script records', () => {
    expect([...recorded].sort()).toEqual(IMAGE_FINDINGS.map(({ code }) => code).sort());
  });

  it('are in the script as they are in the table', async () => {
    const script = readFileSync(new URL('parts/findings.sh', IMAGE), 'utf8');
    expect(await findingsInScript.text(script)).toBe(script);
  });

  it('leave the script no threshold of its own: every value goes through its rule', () => {
    const parts = readdirSync(new URL('parts/', IMAGE)).filter(
      (name) => !/^(findings|read|report|stop|target)\.sh$/.test(name),
    );
    for (const name of parts) {
      const text = readFileSync(new URL(`parts/${name}`, IMAGE), 'utf8');
      expect(text.match(/"\$(share|value|kills|days|took|mib)" -(gt|ge|lt|le) \d{2,}/g), name).toBeNull();
    }
  });
});
