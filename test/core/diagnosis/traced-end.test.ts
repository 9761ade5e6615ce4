import { expect, it } from 'vitest';
import { carrierName } from '../../../src/core/container/carrier.ts';
import type { ContainerTermination } from '../../../src/core/container/pod.ts';
import { onceMoreVerdict, type SecondEnd } from '../../../src/core/diagnosis/once-more-verdict.ts';
import { ownLogOf, type TracedRun, tracedEndOf, wasEndedByTracer } from '../../../src/core/diagnosis/traced-end.ts';
import { asRunId } from '../../../src/core/ids.ts';
import type { Outcome } from '../../../src/core/outcome.ts';
import { aPod, aSecondRun, aStatus, aTermination } from '../../support/builders.ts';

const ONCE_MORE = aSecondRun({ carrier: { image: 'blackbox:1', volume: 'tmp', endsAfterMs: 60_000 } });

const RUN = asRunId('abcdefghij');
const KEY = 'a1'.repeat(16);
const CARRIED = aPod({
  status: {
    ephemeralContainerStatuses: [
      aStatus({ name: carrierName(RUN, 'uid-1'), terminated: aTermination({ message: `${KEY}\n` }) }),
    ],
  },
});
const seen = (termination: ContainerTermination | undefined, parts: Partial<TracedRun> = {}) =>
  tracedEndOf({ plan: { onceMore: ONCE_MORE, podUid: 'uid-1' }, runId: RUN, termination, pod: CARRIED, ...parts });

const reported = (verdict: string, code?: string) =>
  JSON.stringify({
    kdebug: 1,
    key: KEY,
    verdict,
    findings: code === undefined ? [] : [{ code, text: verdict.replace(/\.$/, '') }],
    sections: [],
  });

const failed = (exitCode: number): Outcome => ({ kind: 'failed', exitCode, reason: 'Error' });

function told(outcome: Outcome, message: string, logEnd = '', end: Partial<SecondEnd> = {}) {
  const termination = aTermination({ message, exitCode: outcome.kind === 'failed' ? outcome.exitCode : 0 });
  const verdict = onceMoreVerdict(ONCE_MORE, {
    outcome,
    termination,
    report: seen(termination),
    logEnd,
    timeoutMs: 60_000,
    containerName: 'kdebug-a',
    pod: undefined,
    isPodGoing: false,
    ...end,
  });
  return [verdict?.line, verdict?.findings[0]?.next];
}

it('leads with a death by a signal, and with the words of a program that exits', () => {
  const fault = 'Process 7 (shop) died of SIGSEGV (address 0x0, a nil pointer) in pay+0x4 (shop).';
  expect(told(failed(139), reported(fault, 'died_of_signal'), 'paying\n')).toEqual([
    'web died of SIGSEGV (address 0x0, a nil pointer) in pay+0x4 (shop), after 2 s',
    'Its last words: “paying”. Its log below has the lines before.',
  ]);
  const exit = 'Process 7 (shop) ended itself with exit code 3, called in leave+0x8 (shop).';
  expect(told(failed(3), reported(exit, 'died_of_exit'), 'no table orders\n')).toEqual([
    'web ended with exit code 3 after 2 s: “no table orders”',
    'It ended itself with exit code 3, called in leave+0x8 (shop). Its log below has the lines before.',
  ]);
});

it('knows abort() in a first process and in the child of a tracer for the same end', () => {
  const status = (exitCode: number) => ({
    pod: aPod({ status: { containerStatuses: [aStatus({ lastTermination: aTermination({ exitCode }) })] } }),
  });
  const abort = reported('Process 7 (shop) gave itself up by abort(), called in pay+0x5 (shop).', 'died_of_signal');
  expect(told(failed(134), abort, '', status(139))).toEqual([
    'web gave itself up by abort(), called in pay+0x5 (shop), after 2 s',
    'Its container ended with exit code 139, as abort() ends a first process. Its log below has the lines before.',
  ]);
  expect(told(failed(134), abort, '', status(134))[1]).toContain('Its container ended with the same code.');
  expect(told(failed(134), abort, '', status(127))[1]).toContain('Its container ended with exit code 127, as abort()');
  expect(told(failed(134), abort, '', status(133))[1]).toContain('as abort() ends a first process');
  expect(told(failed(139), abort, '', status(134))[1]).toContain('Its container ended otherwise, with exit code 134');
});

it('says where a program ended that said nothing', () => {
  const exit = 'Process 7 (shop) ended itself with exit code 3, called in leave+0x8 (shop).';
  expect(told(failed(3), reported(exit, 'died_of_exit'))[0]).toBe(
    'web ended itself with exit code 3, called in leave+0x8 (shop), after 2 s',
  );
});

it('says where a program was when there was no memory left', () => {
  const kill = 'Process 7 (shop) was killed for memory in grow+0x2b (shop): the container had 63 MiB of its 64 MiB.';
  expect(told({ kind: 'oom-killed', exitCode: 137 }, reported(kill, 'died_of_memory'))[1]).toContain('in grow+0x2b');
});

it('says where a program was last seen whose tracer was killed together with it', () => {
  const log = [
    'loading',
    'kdebug blackbox saw: memory 52 of 64 MiB after 0.3 s: process 7 (shop) was in load+0x4 (shop)',
    'kdebug blackbox saw: stack of thread 7 (shop), the innermost first:',
    'more',
    'kdebug blackbox saw: memory 60 of 64 MiB after 0.4 s: process 7 (shop) was in grow+0x2b (shop)',
    'kdebug blackbox saw:     grow+0x2b (shop)',
    'loaded',
    '',
  ].join('\n');
  expect(ownLogOf(log)).toBe('loading\nmore\nloaded\n');
  const killed = { kind: 'oom-killed', exitCode: 137 } as const;
  const seenThen =
    'Shortly before, its log says: “memory 60 of 64 MiB after 0.4 s: process 7 (shop) was in grow+0x2b (shop)”.';
  expect(told(killed, '', log)[1]).toContain(seenThen);
  const kill = 'Process 7 (shop) was killed for memory in spend+0x2b (shop).';
  expect(told(killed, reported(kill, 'died_of_memory'), log)[1]).not.toContain('Shortly before');
  expect(told(killed, '', 'loading\n')[1]).not.toContain('Shortly before');
  expect(told(failed(3), '', log)[0]).toContain('“loaded”');
});

it('tells of a program that the kernel did not start as the runtime does', () => {
  const words = 'Could not start: exec: "/shop": stat /shop: no such file or directory.';
  expect(told(failed(127), reported(words))[0]).toBe(
    'web did not start: “exec: "/shop": stat /shop: no such file or directory”',
  );
});

it('knows a program that its tracer ended, and no other that ends with 124', () => {
  const alive = reported('Process 7 (shop) was still running after 60 s and was ended.');
  const report = (message: string) => seen(aTermination({ message }));
  expect(wasEndedByTracer(report(alive), failed(124))).toBe(true);
  expect(wasEndedByTracer(report(alive), failed(1))).toBe(false);
  expect(wasEndedByTracer(undefined, failed(124))).toBe(false);
  expect(wasEndedByTracer(report(reported('Process 7 ended itself.', 'died_of_exit')), failed(124))).toBe(false);
  expect(told({ kind: 'timed-out' }, alive, 'listening\n')).toEqual([
    'web was still running after 1 min: “listening”',
    'Process 7 (shop) was still running after 60 s and was ended.',
  ]);
});

it('reads no report of a run without a tracer, nor one that is none', () => {
  const { carrier: _, ...untraced } = ONCE_MORE;
  const termination = aTermination({ message: reported('x.') });
  expect(seen(termination)?.verdict).toBe('x.');
  expect(seen(termination, { plan: { onceMore: untraced, podUid: 'uid-1' } })).toBeUndefined();
  expect(seen(termination, { plan: { podUid: 'uid-1' } })).toBeUndefined();
  expect(seen(aTermination({ message: 'boom' }))).toBeUndefined();
  expect(seen(undefined)).toBeUndefined();
});

it('reads no report without the key of the container that brought the tracer', () => {
  const termination = aTermination({ message: reported('x.') });
  expect(seen(termination, { pod: undefined })).toBeUndefined();
  expect(seen(termination, { pod: aPod() })).toBeUndefined();
  expect(seen(termination, { runId: asRunId('abcdefghik') })).toBeUndefined();
  expect(seen(aTermination({ message: reported('x.').replace(KEY, 'b2'.repeat(16)) }))).toBeUndefined();
  expect(seen(aTermination({ message: reported('x.').replace(`"key":"${KEY}",`, '') }))).toBeUndefined();
});

it('takes what the tracer adds for none of the program’s words', () => {
  expect(ownLogOf('up\nkdebug blackbox, run x, now\nkdebug blackbox, run y, later\n#0 main\n')).toBe(
    'up\nkdebug blackbox, run x, now',
  );
  expect(ownLogOf('up\n')).toBe('up\n');
});

it.each([
  [
    'LeakSanitizer',
    '==13==LeakSanitizer has encountered a fatal error.\n==13==HINT: LeakSanitizer does not work under ptrace',
  ],
  ['s6', 's6-overlay-suexec: fatal: can only run as pid 1'],
])('does not call for the cause what %s says of its tracer', (_, log) => {
  const exit = reported('Process 7 (shop) ended itself with exit code 1, called in leave+0x8 (shop).', 'died_of_exit');
  const [line, next] = told(failed(1), exit, log);
  expect(line).toContain('web ended with exit code 1');
  expect(next).toContain('only because of its tracer');
  expect(next).toContain('--untraced');
});

it('does not call for the cause what a program lacks because it is traced', () => {
  const report = JSON.stringify({
    kdebug: 1,
    key: KEY,
    unsure: true,
    verdict: 'Process 7 (shop) ended itself with exit code 1. It ran without the rights that its file gives.',
    findings: [{ code: 'died_of_exit', text: 'Process 7 (shop) ended itself with exit code 1' }],
    sections: [],
  });
  expect(told(failed(1), report, 'bind() failed (13: Permission denied)')[1]).toContain('lacked the rights');
});

it('says that the tracer did not start the program, and why', () => {
  const words = 'Started too late: this run was given up, so nothing was done.';
  expect(told(failed(125), words)).toEqual([`web was not started: “${words}”`, 'Ask for it again.']);
  expect(told(failed(1), words)[0]).toContain('web ended with exit code 1');
});

it('blames no manifest where the tracer is gone', () => {
  const message = 'exec: "/.kdebug/kdebug-abc": stat /.kdebug/kdebug-abc: no such file or directory';
  const [line, next] = told({ kind: 'start-failed', reason: 'StartError', message }, '');
  expect(line).toContain('its tracer is no longer in the volume');
  expect(next).toContain('--untraced');
});

it('says that no report could be believed', () => {
  const heading = 'up\nkdebug blackbox, run x, now\nmemory of the container: 11 MiB\n';
  expect(told(failed(124), '', heading)).toEqual([
    'web ended with exit code 124 after 2 s: “up”',
    'Its tracer ends it so when its time is over, but left no report that could be believed.',
  ]);
  expect(told(failed(2), '', heading)[1]).toContain('Its tracer left no report that could be believed.');
});
