import { spawnSync } from 'node:child_process';
import { ROOT, tool } from '../contract/rendered.ts';

/** All that it prints. @throws Error with that, unless it exits with 0 */
export function runTool(name: string, words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(tool(name) ?? name, words, { cwd: ROOT, encoding: 'utf8' });
  const said = `${stdout}${stderr}`;
  if (status !== 0) throw new Error(`${name} ${words.join(' ')} exited with ${status}:\n${said}`);
  return said;
}
