import { expect, it } from 'vitest';
import { readOptions } from '../options.ts';

it.each([
  ['without its value', ['--once'], "Option '--once <value>' argument missing"],
  [
    'with a file that is not there',
    ['--kubeconfig', '/no/such/file'],
    "no such file or directory, open '/no/such/file'",
  ],
  ['that does not exist', ['--nonsense'], "Unknown option '--nonsense'"],
])('an option %s is named', (_what, words, problem) => {
  expect(readOptions(words)).toEqual({ problem: expect.stringContaining(problem) });
});

it('without options Roy types in his channel, over signed HTTP, with a page', () => {
  expect(readOptions([])).toMatchObject({ user: 'U0ROY', channel: 'C0SHOP', socket: false, 'no-page': false });
});
