import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ALL_GENERATED } from '../../scripts/all-generated.ts';
import { withPart } from '../../scripts/generated.ts';
import { REASONS } from '../../src/core/errors.ts';

const read = (path: string): string => {
  const file = fileURLToPath(new URL(`../../${path}`, import.meta.url));
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
};

describe('files that are made from the code', () => {
  it.each(ALL_GENERATED)('are up to date: $path (else: npm run gen)', async ({ path, text }) => {
    const current = read(path);
    expect(await text(current)).toBe(current);
  });

  it('name every reason code in docs/errors.md, and no other', () => {
    const documented = [...read('docs/errors.md').matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, code]) => code);
    expect(documented.sort()).toEqual(Object.keys(REASONS).sort());
  });
});

describe('a generated part of a file', () => {
  it('replaces what stands between its comments and nothing else', () => {
    const page = 'before\n<!-- generated: x -->\nold\n<!-- end: x -->\nafter\n';
    const once = withPart(page, 'x', 'new');
    expect(once).toBe('before\n<!-- generated: x -->\n\nnew\n\n<!-- end: x -->\nafter\n');
    expect(withPart(once, 'x', 'new')).toBe(once);
  });

  it('refuses a page without its comments', () => {
    expect(() => withPart('nothing here', 'x', 'new')).toThrow('<!-- generated: x -->');
  });
});
