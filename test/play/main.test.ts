import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { sampleOf } from '../support/sample.ts';

const MAIN = fileURLToPath(new URL('../../play/main.ts', import.meta.url));

const WRONG: readonly (readonly [string, readonly string[], string])[] = [
  ['without its value', ['--once'], "Option '--once <value>' argument missing"],
  [
    'with a file that is not there',
    ['--kubeconfig', '/no/such/file'],
    "no such file or directory, open '/no/such/file'",
  ],
  ['that does not exist', ['--nonsense'], "Unknown option '--nonsense'"],
];

it.each(sampleOf('wrong options of play', WRONG, 1))(
  'an option %s is named, with the usage below it, and nothing starts',
  (_what, words, problem) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', MAIN, ...words], {
      encoding: 'utf8',
    });
    const [first] = stderr.split('\n');
    expect(first).toContain(problem);
    expect(stderr).toContain('npm run play -- --once');
    expect(stderr).not.toContain('    at ');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  },
);
