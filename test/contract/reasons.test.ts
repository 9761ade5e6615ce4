import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { REASONS } from '../../src/core/errors.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

it('every reason code is expected by name in some test', () => {
  const tests = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .join('\n');
  const unexpected = Object.keys(REASONS).filter((code) => !new RegExp(`\\b${code}\\b`).test(tests));
  expect(unexpected).toEqual([]);
});
