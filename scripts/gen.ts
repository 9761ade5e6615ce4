import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ALL_GENERATED } from './all-generated.ts';

/** `npm run gen`: writes everything that is made from the code. With `--check`: writes nothing, exits 1 when something is old. */
const checking = process.argv.includes('--check');

for (const { path, text } of ALL_GENERATED) {
  const current = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const wanted = await text(current);
  if (wanted === current) continue;
  if (checking) {
    console.log(`${path} is old: run npm run gen`);
    process.exitCode = 1;
    continue;
  }
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, wanted);
  console.log(`wrote ${path}`);
}
