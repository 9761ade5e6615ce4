import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { IN_FULL_ALONE } from './vitest.config.ts';
import full from './vitest.full.config.ts';

const SAMPLING = 'test/support/sample.ts';

/** What a test file imports, itself or through other files of the tests. */
function importsOf(path: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(/ from '(\.[^']+\.ts)'/g)) {
    const target = join(dirname(path), name);
    if (target.startsWith('test/') && existsSync(target)) importsOf(target, seen);
  }
  return seen;
}

const sampling = readdirSync('test', { encoding: 'utf8', recursive: true })
  .map((path) => join('test', path))
  .filter((path) => path.endsWith('.test.ts') && importsOf(path).has(SAMPLING));

/** `.ci/run`, after `npm test`: what `npm run test:full` has beyond it. A file that samples nothing would only repeat itself. */
export default defineConfig({ test: { ...full.test, include: [...IN_FULL_ALONE.map(filesIn), ...sampling] } });

function filesIn(pattern: string): string {
  return pattern.endsWith('/**') ? `${pattern}/*.test.ts` : pattern;
}
