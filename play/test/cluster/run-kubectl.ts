import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';

export const hasKubectl: boolean = spawnSync('kubectl', ['version', '--client']).status === 0;

/** Runs the real kubectl with the kubeconfig `config` of a directory, which is its home too. */
export function runKubectl(directory: string, words: readonly string[]): Promise<{ out: string; code: number }> {
  const env = { PATH: process.env.PATH, HOME: directory, KUBECONFIG: join(directory, 'config') };
  return new Promise((resolve) => {
    execFile('kubectl', [...words], { env, timeout: 15_000 }, (error, stdout, stderr) => {
      resolve({ out: stdout + stderr, code: error === null ? 0 : Number(error.code ?? 1) });
    });
  });
}
