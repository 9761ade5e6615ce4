import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** What `npm run build` makes, in a folder of its own: several test files may build at once. */
export interface BuiltProgram {
  /** What `npm start` starts. */
  readonly main: string;
  remove(): void;
}

export async function buildProgram(): Promise<BuiltProgram> {
  const directory = mkdtempSync(join(tmpdir(), 'kdebug-built-'));
  const out = join(directory, 'dist');
  await promisify(execFile)(process.execPath, ['--import', 'tsx', 'scripts/build.ts', out], { cwd: ROOT });
  return { main: join(out, 'main.js'), remove: () => rmSync(directory, { recursive: true, force: true }) };
}
