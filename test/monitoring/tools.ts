import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

const FOLDERS = [
  process.env.KDEBUG_TOOLS ?? join(homedir(), '.cache', 'kdebug-tools'),
  ...(process.env.PATH ?? '').split(delimiter),
];

/** Where a program is that `.ci/tools` installs; undefined, said once, where it is not: its tests are skipped. */
export function toolPath(name: string): string | undefined {
  const found = FOLDERS.map((folder) => join(folder, name)).find(isExecutable);
  if (found === undefined) console.warn(`skipped: there is no ${name} here (.ci/tools installs it)`);
  return found;
}

/** What it prints. @throws Error with that, unless it exits with 0 */
export function runTool(name: string, words: readonly string[], cwd?: string): string {
  const { status, stdout, stderr } = spawnSync(toolPath(name) ?? name, words, { cwd, encoding: 'utf8' });
  const said = `${stdout}${stderr}`;
  if (status !== 0) throw new Error(`${name} ${words.join(' ')} exited with ${status}:\n${said}`);
  return said;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
