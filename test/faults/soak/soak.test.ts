import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { hasRedis } from '../../adapters/store/redis/redis-server.ts';
import { isFull, seedGiven } from '../../support/sample.ts';

const SECONDS = 30;
const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));

describe.runIf(isFull && hasRedis)('a soak', () => {
  it(`of ${SECONDS} seconds loses nothing and doubles nothing`, () => {
    const seed = seedGiven === undefined ? [] : [`--seed=${seedGiven}`];
    const { status, stdout, stderr } = spawnSync('npx', ['tsx', MAIN, `--seconds=${SECONDS}`, ...seed], {
      encoding: 'utf8',
    });
    process.stdout.write(stdout.split('\n').slice(-2).join('\n'));
    expect(status, `${stdout}\n${stderr}`).toBe(0);
  });
});
