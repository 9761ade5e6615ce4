import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsOf, readProjectFile, sourcePaths } from './source-tree.ts';

/** Worth a look in review: a larger folder, file or tree may still be right. */
const MANY_FILES_IN_FOLDER = 12;
const LONG_FILE = 250;
const MANY_FILES = 470;
/** A file that imports more than so many others, types aside, knows too much. */
const MAX_IMPORTS = 20;
/** Wires the rest together. */
const WIRING: ReadonlySet<string> = new Set([]);

const { ORDERS } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as {
  readonly ORDERS: Readonly<Record<string, readonly string[]>>;
};

const lineCount = (path: string): number => readProjectFile(path).split('\n').length - 1;

const paths = sourcePaths();
describe('src/', () => {
  it.each(Object.entries(ORDERS))('has everything of %s in its order, and nothing else', (folder, names) => {
    const found = paths.filter((path) => path.startsWith(`${folder}/`)).map((path) => path.slice(folder.length + 1));
    expect([...new Set(found.map((path) => path.split('/')[0]))].sort()).toEqual([...names].sort());
  });

  it.each(Object.entries(ORDERS))('is told in docs/architecture.md in the order of %s', (folder, names) => {
    const row = readProjectFile('docs/architecture.md')
      .split('\n')
      .find((line) => line.startsWith(`| \`${folder}/\` | \``));
    expect(row?.split('|')[2]?.trim()).toBe(names.map((name) => `\`${name}\``).join(' · '));
  });

  it('has no two folders of core and flow that import each other', () => {
    const imports = new Set(
      paths.flatMap((path) => importsOf(path).map((target) => `${dirname(path)} ${dirname(target)}`)),
    );
    const pairs = [...imports].filter((pair) => {
      const [from = '', to = ''] = pair.split(' ');
      return from < to && /^src\/(core|flow)\b/.test(from) && imports.has(`${to} ${from}`);
    });
    expect(pairs).toEqual([]);
  });

  it('has no file that imports more than twenty others, but what wires them', () => {
    const wide = paths.filter((path) => new Set(importsOf(path, 'values')).size > MAX_IMPORTS);
    expect(wide).toEqual([...WIRING].sort());
  });

  it('has large folders and long files that a review should look at', () => {
    const counts = new Map<string, number>();
    for (const path of paths) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    const large = [...counts].filter(([, count]) => count > MANY_FILES_IN_FOLDER);
    const long = paths.filter((path) => lineCount(path) > LONG_FILE);
    for (const [folder, count] of large) console.warn(`for review: ${folder} has ${count} files`);
    for (const path of long) console.warn(`for review: ${path} has ${lineCount(path)} lines`);
    if (paths.length > MANY_FILES) console.warn(`for review: src has ${paths.length} files`);
    expect(paths.length).toBeGreaterThan(0);
  });

  it('has no conditional spread of an object: `defined({ … })` leaves out what is undefined', () => {
    const found = paths.filter((path) => /\.\.\.\((?:[^()]|\([^()]*\))*&&\s*\{/.test(readProjectFile(path)));
    expect(found).toEqual([]);
  });
});
