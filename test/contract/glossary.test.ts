import { expect, it } from 'vitest';
import { readProjectFile } from './source-tree.ts';

const MAX_WORDS = 40;

/** The first column of each table of the section `## Words`. */
function glossary(): readonly string[] {
  const section =
    readProjectFile('docs/architecture.md')
      .split(/^## /m)
      .find((part) => part.startsWith('Words')) ?? '';
  const rows = [...section.matchAll(/^\| ([^|]+) \|/gm)].map(([, word]) => (word ?? '').trim());
  return rows.filter((row) => row !== '---' && !/'s? word$/.test(row)).flatMap((row) => row.split(', '));
}

it('the glossary of docs/architecture.md explains at most 40 words, each once', () => {
  const words = glossary();
  expect(words.length).toBeGreaterThan(30);
  expect(words.length).toBeLessThanOrEqual(MAX_WORDS);
  expect(new Set(words).size).toBe(words.length);
});
