import { expect, it } from 'vitest';
import type { OnceMore } from '../../../src/core/container/once-more.ts';
import { onceMoreVerdict } from '../../../src/core/diagnosis/once-more-verdict.ts';
import type { Outcome } from '../../../src/core/outcome.ts';
import { aTermination } from '../../support/builders.ts';

const ONCE_MORE: OnceMore = {
  container: 'web',
  command: [],
  args: [],
  variables: ['DB_URL'],
  sources: [],
  mounts: [],
  unmountable: [],
  withoutEnv: [],
  switches: [],
  serviceAccount: 'default',
};

const lineOf = (outcome: Outcome, logEnd = '', onceMore = ONCE_MORE, message = '', isPodGoing = false) =>
  onceMoreVerdict(onceMore, { outcome, logEnd, timeoutMs: 60_000, termination: aTermination({ message }), isPodGoing });

it.each<[string, Outcome, string, string]>([
  [
    'an end with its last words',
    { kind: 'failed', exitCode: 1, reason: 'Error' },
    'starting\npanic: no table\ngoroutine 1 [running]:\n',
    'web ended with exit code 1 after 2 s: “panic: no table”',
  ],
  ['a good end', { kind: 'succeeded' }, 'migrated\n', 'web ended with exit code 0 after 2 s: “migrated”'],
  [
    'a silent end',
    { kind: 'failed', exitCode: 2, reason: 'Error' },
    '',
    'web ended with exit code 2 after 2 s, without a word',
  ],
  [
    'an end for lack of memory',
    { kind: 'oom-killed', exitCode: 137 },
    'a\n',
    'web was killed after 2 s: out of memory',
  ],
  ['no end', { kind: 'timed-out' }, 'up\n', 'web is still running after 1 min: it starts here'],
])('tells of %s', (_, outcome, log, line) => {
  expect(lineOf(outcome, log)?.line).toBe(line);
});

it('names what was left out, and quotes the kubelet where there is no log', () => {
  const failed = { kind: 'failed', exitCode: 1, reason: 'Error' } as const;
  const verdict = lineOf(failed, '', { ...ONCE_MORE, withoutEnv: ['DB_URL'] }, 'bad flag');
  expect(verdict?.line).toBe('web without DB_URL ended with exit code 1 after 2 s: “bad flag”');
  expect(verdict?.findings).toMatchObject([{ rank: 1 }]);
});

it.each<[string, Partial<OnceMore>, Outcome, string]>([
  [
    'an end',
    { revision: 41 },
    { kind: 'failed', exitCode: 1, reason: 'Error' },
    'web with the image of revision 41 ended with exit code 1 after 2 s, without a word',
  ],
  [
    'no end',
    { revision: 41 },
    { kind: 'timed-out' },
    'web with the image of revision 41 is still running after 1 min: it starts with that image here',
  ],
  [
    'an end without a variable',
    { revision: 41, withoutEnv: ['DB_URL'] },
    { kind: 'succeeded' },
    'web with the image of revision 41 and without DB_URL ended with exit code 0 after 2 s, without a word',
  ],
])('names the image of another revision at %s', (_, parts, outcome, line) => {
  expect(lineOf(outcome, '', { ...ONCE_MORE, ...parts })?.line).toBe(line);
});

it('says that nobody can stop what goes on', () => {
  expect(lineOf({ kind: 'timed-out' })?.findings).toMatchObject([
    { rank: 3, next: expect.stringContaining('cannot stop it') },
  ]);
});

it('says nothing of a program that never ran', () => {
  expect(lineOf({ kind: 'start-failed', reason: 'ErrImageNeverPull', message: '' })).toBeUndefined();
});

it.each<[Outcome, number]>([
  [{ kind: 'succeeded' }, 0],
  [{ kind: 'failed', exitCode: 1, reason: 'Error' }, 1],
])('says nothing about a program that ended with its pod: %j', (outcome, exitCode) => {
  const verdict = lineOf(outcome, 'bye\n', ONCE_MORE, '', true);
  expect(verdict?.line).toBe(`web ended with exit code ${exitCode} after 2 s, and its pod is being deleted`);
  expect(verdict?.findings).toMatchObject([{ rank: 3, next: expect.stringContaining('says nothing') }]);
});
