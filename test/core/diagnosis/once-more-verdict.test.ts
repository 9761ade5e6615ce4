import { expect, it } from 'vitest';
import type { OnceMore } from '../../../src/core/container/once-more.ts';
import type { ContainerStatus, ContainerTermination, Pod } from '../../../src/core/container/pod.ts';
import { onceMoreVerdict } from '../../../src/core/diagnosis/once-more-verdict.ts';
import type { Outcome } from '../../../src/core/outcome.ts';
import { aPod, aSecondRun, aStatus, aTermination } from '../../support/builders.ts';
import { REAL_ENDS } from './real-ends.ts';

const ONCE_MORE = aSecondRun({ command: [], variables: ['DB_URL'] });

const lineOf = (outcome: Outcome, logEnd = '', onceMore = ONCE_MORE, message = '', isPodGoing = false) =>
  onceMoreVerdict(onceMore, {
    outcome,
    logEnd,
    timeoutMs: 60_000,
    termination: aTermination({ message }),
    containerName: 'kdebug-a',
    pod: undefined,
    isPodGoing,
  });

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
  ['no end', { kind: 'timed-out' }, 'up\n', 'web is still running after 1 min: “up”'],
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
    'web with the image of revision 41 is still running after 1 min, without a word',
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

it('tells the end of what was followed to the end of its time and has ended since', () => {
  const terminated = aTermination({ exitCode: 3, reason: 'Error' });
  const verdict = onceMoreVerdict(ONCE_MORE, {
    outcome: { kind: 'timed-out' },
    logEnd: 'ERROR: no database\n',
    timeoutMs: 60_000,
    termination: undefined,
    containerName: 'kdebug-a',
    pod: aPod({ status: { ephemeralContainerStatuses: [aStatus({ name: 'kdebug-a', terminated })] } }),
    isPodGoing: false,
  });
  expect(verdict?.line).toBe('web ended with exit code 3 after 2 s: “no database”');
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

const FAILED: Outcome = { kind: 'failed', exitCode: 1, reason: 'Error' };
/** Before the second run, which took from 07:30:10 to 07:30:12. */
const BEFORE = { startedAt: '2026-11-21T07:29:00Z', finishedAt: '2026-11-21T07:29:03Z' };
const SECOND = aTermination({ startedAt: '2026-11-21T07:30:10Z', finishedAt: '2026-11-21T07:30:12Z' });

const podWith = (status: Partial<ContainerStatus>, memoryLimit?: string): Pod =>
  aPod({
    spec: { containers: [{ name: 'web', image: 'web:1', securityContext: {}, ...(memoryLimit && { memoryLimit }) }] },
    status: { containerStatuses: [aStatus(status)] },
  });

interface Told {
  readonly outcome?: Outcome;
  readonly log?: string;
  readonly first?: Partial<ContainerTermination>;
  readonly status?: Partial<ContainerStatus>;
  readonly memoryLimit?: string;
  readonly onceMore?: OnceMore;
}

/** The first two lines that a person reads. */
function told({ outcome = FAILED, log = '', first, status, memoryLimit, onceMore = ONCE_MORE }: Told) {
  const lastTermination = first && aTermination({ ...BEFORE, exitCode: 1, reason: 'Error', ...first });
  const pod = podWith({ ...(lastTermination && { lastTermination }), ...status }, memoryLimit);
  const verdict = onceMoreVerdict(onceMore, {
    outcome,
    logEnd: log,
    timeoutMs: 60_000,
    termination: SECOND,
    containerName: 'kdebug-a',
    pod,
    isPodGoing: false,
  });
  return [verdict?.line, verdict?.findings[0]?.next];
}

it('says that its container ended in the same way, which makes its words the cause', () => {
  expect(told({ log: 'panic: no table', first: {} })).toEqual([
    'web ended with exit code 1 after 2 s: “panic: no table”',
    'Its container ended with the same code. Its log below has the lines before.',
  ]);
});

it.each<[string, Told, string]>([
  [
    'a failure',
    { first: { exitCode: 139 } },
    'Its container ended otherwise, with exit code 139 (it crashed with a segmentation fault): this may be another reason.',
  ],
  [
    'a good end',
    { outcome: { kind: 'succeeded' }, first: { exitCode: 3 } },
    'Its container ended otherwise, with exit code 3: this may be another reason.',
  ],
  [
    'an end with more memory',
    { outcome: { kind: 'succeeded' }, first: { exitCode: 137, reason: 'OOMKilled' }, memoryLimit: '64Mi' },
    'Its container was killed for lack of memory at its limit of 64Mi, which this run does not have.',
  ],
])('says after %s that its container ended otherwise', (_, end, next) => {
  expect(told(end)[1]).toBe(next);
});

const IN_USE = 'listen tcp :8080: bind: address already in use\n';

it.each<[string, Partial<ContainerStatus>]>([
  ['runs', { running: { startedAt: '2026-11-21T07:30:11Z' } }],
  ['ran', { lastTermination: aTermination({ startedAt: '2026-11-21T07:30:09Z', finishedAt: '2026-11-21T07:30:11Z' }) }],
])('blames no port that its own container may have held, which %s at the same time', (_, status) => {
  const [line, next] = told({ log: IN_USE, status });
  expect(line).toBe(
    'web ended with exit code 1 after 2 s, while its container ran, too: “listen tcp :8080: bind: address already in use”',
  );
  expect(next).toContain('That one may hold');
});

it.each([
  ['a port that a neighbour holds', IN_USE, {}],
  ['another trouble than a lock', 'panic: no table\n', { running: { startedAt: '2026-11-21T07:30:11Z' } }],
])('names %s', (_, log, status) => {
  expect(told({ log, status, first: {} })[0]).toBe(`web ended with exit code 1 after 2 s: “${log.trim()}”`);
});

it('blames no file in a mount that only the second run lacks', () => {
  const onceMore = { ...ONCE_MORE, unmountable: ['config at /etc/shop/app.yaml (read-only)'] };
  const log = 'open /etc/shop/app.yaml: no such file or directory\n';
  expect(told({ log, first: {}, onceMore })).toEqual([
    'web ended with exit code 1 after 2 s, without its mount config at /etc/shop/app.yaml (read-only) (subPath): “open /etc/shop/app.yaml: no such file or directory”',
    'Its container has that mount, so this is not why that one ends.',
  ]);
  expect(told({ log: 'open /data: denied', onceMore })[0]).not.toContain('subPath');
});

it('names the limit of the pod that its memory did not suffice for', () => {
  const outcome = { kind: 'oom-killed', exitCode: 137 } as const;
  expect(told({ outcome, memoryLimit: '128Mi' })[0]).toBe(
    'web was killed after 2 s: out of memory, at its pod’s limit of 128 MiB',
  );
  expect(told({ outcome })).toEqual([
    'web was killed after 2 s: out of memory',
    'It had no limit of its own, so the pod or the node is short of memory.',
  ]);
});

it.each<[string, Partial<ContainerTermination>, string]>([
  [
    'a limit',
    { exitCode: 137, reason: 'OOMKilled' },
    'Its container was killed for lack of memory at its limit of 64Mi, which this run does not have.',
  ],
  [
    'a probe',
    { exitCode: 143 },
    'Its container was ended from outside, with exit code 143, as a failing liveness probe does.',
  ],
  ['itself', {}, 'Its container ended with exit code 1.'],
])('says of what goes on here how %s ended it there', (_, first, why) => {
  const next = told({ outcome: { kind: 'timed-out' }, first, memoryLimit: '64Mi' })[1];
  expect(next).toBe(`${why} kdebug cannot stop it: it goes on until it ends by itself or its pod is deleted.`);
});

it('quotes the runtime where the program did not start at all', () => {
  const message =
    'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: exec: "wgett": executable file not found in $PATH';
  expect(told({ outcome: { kind: 'start-failed', reason: 'StartError', message } })[0]).toBe(
    'web did not start: “exec: "wgett": executable file not found in $PATH”',
  );
});

it('says which signal ended it', () => {
  const outcome = { kind: 'failed', exitCode: 139, reason: 'Error' } as const;
  expect(told({ outcome })[0]).toBe(
    'web ended with exit code 139 (it crashed with a segmentation fault) after 2 s, without a word',
  );
});

it.each(REAL_ENDS)('quotes, of the log of %s, the line that says why', (_, log, line) => {
  expect(told({ log, first: {} })[0]).toBe(`web ended with exit code 1 after 2 s: “${line}”`);
});
