import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsOf, readProjectFile, sourcePaths } from './source-tree.ts';

const MAX_FILES_IN_FOLDER = 12;
const MAX_LINES = 250;
/** A file of fewer lines than this that one neighbour imports belongs into the neighbour. */
const MIN_LINES_OF_A_PART = 25;
/** Raised from 415 for the first answer: its rules by theme, the logs, the sources and the messages of it. */
const MAX_FILES = 470;

/** Tables: a row for each thing, and nothing to understand between the rows. */
const TABLES: ReadonlySet<string> = new Set([
  'src/core/command/line/flags.ts',
  'src/core/errors.ts',
  'src/core/diagnosis/images/image-findings.ts',
]);

const lineCount = (path: string): number => readProjectFile(path).split('\n').length - 1;

const paths = sourcePaths();
const importers = new Map<string, string[]>();
for (const path of paths)
  for (const target of new Set(importsOf(path))) {
    importers.set(target, [...(importers.get(target) ?? []), path]);
  }

describe('src/', () => {
  it('has no folder of more than twelve files', () => {
    const counts = new Map<string, number>();
    for (const path of paths) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    const full = [...counts].filter(([, count]) => count > MAX_FILES_IN_FOLDER);
    expect(full).toEqual([]);
  });

  it('has at most 470 files', () => {
    expect(paths.length).toBeLessThanOrEqual(MAX_FILES);
  });

  it('has no file of more than 250 lines but tables', () => {
    const long = paths.filter((path) => !TABLES.has(path) && lineCount(path) > MAX_LINES);
    expect(long).toEqual([]);
    expect([...TABLES].filter((path) => lineCount(path) <= MAX_LINES)).toEqual([]);
  });

  it('has no small file that only one of its neighbours imports', () => {
    const parts = paths.filter((path) => {
      const [importer, ...others] = importers.get(path) ?? [];
      const isAlone = importer !== undefined && others.length === 0 && dirname(importer) === dirname(path);
      return isAlone && lineCount(path) < MIN_LINES_OF_A_PART;
    });
    expect(parts).toEqual([]);
  });

  it('has no conditional spread of an object: `defined({ … })` leaves out what is undefined', () => {
    const found = paths.filter((path) => /\.\.\.\((?:[^()]|\([^()]*\))*&&\s*\{/.test(readProjectFile(path)));
    expect(found).toEqual([]);
  });
});
