import { describe, expect, it } from 'vitest';
import {
  compareFiles,
  type FrontFacts,
  isConnectionDead,
  isFirstLineAwaited,
  isLarge,
  type LogFacts,
  type NextFacts,
  nextStep,
  type StreamFacts,
  whyOpenFollow,
} from '../../../../src/adapters/kubernetes/complete-log/handover-policy.ts';
import { LOG_TIMES } from '../../../../src/adapters/kubernetes/complete-log/log-times.ts';

const FRONT: FrontFacts = {
  follow: true,
  end: undefined,
  firstLines: 2,
  wasOpened: true,
  isReadable: true,
  isFromStart: true,
  endedAtMs: undefined,
};
const NEXT: NextFacts = { follow: true, end: undefined, firstLines: 2, stepMs: 3_000, mayBeDelivered: false };
const NOW = 100_000;

/** A follow that has read a small log to where the container is now. */
const QUIET: LogFacts = {
  nowMs: NOW,
  containerEndedAtMs: undefined,
  front: FRONT,
  next: undefined,
  waiting: 0,
  isOneOpening: false,
  hasFinalRead: false,
  openedAtMs: 0,
  failures: 0,
  mayOpen: true,
  silentMs: 0,
  isFlowing: true,
  isSilenceProbed: false,
  newestAgeMs: 0,
  fileBytes: 0,
  isWithinLine: false,
};
const LARGE = LOG_TIMES.smallBytes;

const stepOf = (facts: Partial<LogFacts>, front: Partial<FrontFacts> = {}) => {
  const step = nextStep({ ...QUIET, front: { ...FRONT, ...front }, ...facts }, LOG_TIMES);
  if (step.kind === 'open') return `open ${step.stream}`;
  return step.kind === 'wait' ? 'wait' : `${step.kind}: ${step.because}`;
};

describe('with nothing to read now', () => {
  it('the first stream is opened', () => {
    expect(stepOf({ front: undefined })).toBe('hand over: start');
  });

  it('a running container is waited for', () => {
    expect(stepOf({})).toBe('wait');
  });

  it.each([
    ['has ended', { end: 'failed' }],
    ['is still read', {}],
  ] as const)('a front that must not be read yet is waited for, also when it %s', (_, front) => {
    const facts = { next: NEXT, silentMs: 1e6, containerEndedAtMs: 0 };
    expect(stepOf(facts, { ...front, isReadable: false })).toBe('wait');
  });
});

describe('a silent front with a successor', () => {
  it.each<[string, Partial<NextFacts>, Partial<LogFacts>, number]>([
    ['is at its end after 3 s', {}, {}, 3_000],
    ['is at its end after 2 s when the successor is adjacent', { stepMs: 1_000 }, {}, 2_000],
    ['is not adjacent beyond the margin', { stepMs: 1_001 }, {}, 3_000],
    ['is not adjacent in the middle of a line', { stepMs: 1_000 }, { isWithinLine: true }, 3_000],
    [
      'is at its end after 15 s when the container has ended',
      {},
      { containerEndedAtMs: NOW, hasFinalRead: true },
      15_000,
    ],
    [
      'is at its end after 3 s when the successor ended without a line',
      { firstLines: 0, stepMs: undefined, end: 'clean' },
      {},
      3_000,
    ],
    ['may be in the same file, but not when the successor has a second line', { mayBeDelivered: true }, {}, 3_000],
    [
      'may be in the same file, but not when the successor has ended',
      { mayBeDelivered: true, firstLines: 1, end: 'clean' },
      {},
      3_000,
    ],
    ['is at its end with one line that is not in the front', { firstLines: 1 }, {}, 3_000],
  ])('%s', (_, next, facts, afterMs) => {
    const stepAfter = (silentMs: number) => stepOf({ next: { ...NEXT, ...next }, ...facts, silentMs });
    expect(stepAfter(afterMs - 1)).toBe('wait');
    expect(stepAfter(afterMs)).toBe('hand over: silence');
  });

  it.each<[string, NextFacts | undefined]>([
    ['has none', undefined],
    ['has one that has shown nothing', { ...NEXT, firstLines: 0, stepMs: undefined }],
    ['may have delivered its only line', { ...NEXT, firstLines: 1, mayBeDelivered: true }],
  ])('goes on when it %s', (_, next) => {
    expect(stepOf({ next, silentMs: 1e6 })).toBe('wait');
  });
});

describe('after the end of the container', () => {
  it('the follow gets 1.5 s to end on its own, then comes the final read', () => {
    expect(stepOf({ containerEndedAtMs: NOW - 1_499 })).toBe('wait');
    expect(stepOf({ containerEndedAtMs: NOW - 1_500 })).toBe('open final');
  });

  it.each<[string, Partial<LogFacts>, string]>([
    ['of a large log comes at once', { fileBytes: LARGE }, 'open final'],
    ['of an almost large log does not', { fileBytes: LARGE - 1 }, 'wait'],
    ['of a lagging log comes at once', { newestAgeMs: 4_001 }, 'open final'],
    ['of an almost lagging log does not', { newestAgeMs: 4_000 }, 'wait'],
    ['of an old log without bytes does not', { newestAgeMs: 4_001, isFlowing: false }, 'wait'],
    ['of a log without a line does not', { newestAgeMs: undefined }, 'wait'],
    ['is opened once', { fileBytes: LARGE, hasFinalRead: true }, 'wait'],
    ['waits out the pause after a failure', { fileBytes: LARGE, mayOpen: false }, 'wait'],
  ])('the final read %s', (_, facts, step) => {
    expect(stepOf({ containerEndedAtMs: NOW, ...facts })).toBe(step);
  });
});

describe('a front that has ended', () => {
  const endedAtMs = NOW - 1_000;
  const clean = { end: 'clean', endedAtMs } as const;

  it.each<[string, Partial<LogFacts>, Partial<FrontFacts>, string]>([
    ['cleanly waits 1.5 s for the status', {}, clean, 'wait'],
    ['cleanly is broken off when no status comes', {}, { ...clean, endedAtMs: NOW - 1_500 }, 'hand over: broken'],
    ['with an error waits for no status', {}, { ...clean, end: 'failed' }, 'hand over: broken'],
    ['that was the final read waits for no status', {}, { ...clean, follow: false }, 'done: all read'],
    ['together with the container has read a small log', { containerEndedAtMs: NOW }, clean, 'done: all read'],
    ['1.5 s before the container, too', { containerEndedAtMs: endedAtMs + 1_500 }, clean, 'done: all read'],
    [
      'longer before the container is broken off',
      { containerEndedAtMs: endedAtMs + 1_501 },
      clean,
      'hand over: broken',
    ],
    ['at an unknown time is broken off', { containerEndedAtMs: NOW }, { end: 'clean' }, 'hand over: broken'],
    [
      'needs a final read of a large log',
      { containerEndedAtMs: NOW, fileBytes: LARGE },
      clean,
      'hand over: end of file',
    ],
    [
      'needs one in the middle of a line',
      { containerEndedAtMs: NOW, isWithinLine: true },
      clean,
      'hand over: end of file',
    ],
    [
      'needs one when it read not from the start',
      { containerEndedAtMs: NOW },
      { ...clean, isFromStart: false },
      'hand over: end of file',
    ],
    [
      'as final read is the end of a large log',
      { containerEndedAtMs: NOW, fileBytes: LARGE },
      { ...clean, follow: false },
      'done: all read',
    ],
    ['gives way to the stream that waits', { containerEndedAtMs: NOW, next: NEXT }, clean, 'hand over: end of file'],
    ['with an error, too', { containerEndedAtMs: NOW, next: NEXT }, { ...clean, end: 'failed' }, 'hand over: broken'],
    ['even in a pause', { containerEndedAtMs: NOW, next: NEXT, mayOpen: false }, clean, 'hand over: end of file'],
    ['else waits out the pause', { containerEndedAtMs: NOW, mayOpen: false, fileBytes: LARGE }, clean, 'wait'],
  ])('%s', (_, facts, front, step) => {
    expect(stepOf(facts, front)).toBe(step);
  });

  it.each<[string, Partial<LogFacts>, Partial<FrontFacts>, string]>([
    ['after seven failures', { failures: 7 }, { end: 'failed' }, 'done: failures'],
    ['also in a pause', { failures: 7, mayOpen: false }, { end: 'failed' }, 'done: failures'],
    ['not after six', { failures: 6 }, { end: 'failed' }, 'hand over: broken'],
    [
      'not while the container runs',
      { failures: 7, containerEndedAtMs: undefined },
      { end: 'failed' },
      'hand over: broken',
    ],
    [
      'not after a clean end',
      { failures: 7, containerEndedAtMs: NOW },
      { ...clean, endedAtMs: NOW - 2_000 },
      'hand over: broken',
    ],
    ['not while a stream waits', { failures: 7, next: NEXT }, { end: 'failed' }, 'hand over: broken'],
  ])('is given up %s', (_, facts, front, step) => {
    expect(stepOf({ containerEndedAtMs: NOW, ...facts }, front)).toBe(step);
  });
});

describe('another follow', () => {
  const why = (facts: Partial<LogFacts>, front: Partial<FrontFacts> = {}) =>
    whyOpenFollow({ ...QUIET, front: { ...FRONT, ...front }, ...facts }, LOG_TIMES);
  const lagging = { newestAgeMs: 4_001 };
  const silent = { silentMs: 2_000, isFlowing: false, fileBytes: LARGE };

  it('is opened when the front lags, or is silent after so much that a rotation is possible', () => {
    expect(why({})).toBeUndefined();
    expect(why(lagging)).toBe('lag');
    expect(why(silent)).toBe('silence');
    expect(why({ ...silent, ...lagging, isFlowing: true })).toBe('lag');
  });

  it.each<[string, Partial<LogFacts>]>([
    ['one is on its way', { isOneOpening: true }],
    ['the log is small', { fileBytes: LARGE - 1 }],
    ['the silence is short', { silentMs: 1_999 }],
    ['this silence has opened one already', { isSilenceProbed: true }],
  ])('is not opened in a silence when %s', (_, facts) => {
    expect(why({ ...silent, ...facts })).toBeUndefined();
    expect(why({ ...lagging, ...facts })).toBe('lag');
  });

  it.each<[string, Partial<LogFacts>, Partial<FrontFacts>]>([
    ['there is no front', { front: undefined }, {}],
    ['the front was not answered yet', {}, { wasOpened: false }],
    ['the front has ended', {}, { end: 'clean' }],
    ['the front is the final read', {}, { follow: false }],
    ['the container has ended', { containerEndedAtMs: NOW }, {}],
    ['32 wait', { waiting: 32 }, {}],
    ['the last was opened less than 4 s ago', { openedAtMs: NOW - 3_999 }, {}],
  ])('is never opened when %s', (_, facts, front) => {
    expect(why({ ...lagging, ...facts }, front)).toBeUndefined();
    expect(why({ ...silent, ...facts }, front)).toBeUndefined();
  });

  it('is opened as the 32nd, and 4 s after the last', () => {
    expect(why({ ...lagging, waiting: 31, openedAtMs: NOW - 4_000 })).toBe('lag');
  });
});

describe('the next stream', () => {
  const reading = { end: undefined };
  const next: StreamFacts = { follow: true, end: undefined, firstLines: 1 };
  const never = () => false;
  const always = () => true;

  it('reads the same file when the front delivered one of its first lines', () => {
    expect(compareFiles(reading, next, always)).toBe('same');
    expect(compareFiles(reading, next, never)).toBe('different');
    expect(compareFiles({ end: 'clean' }, next, always)).toBe('different');
  });

  it('that is empty adds nothing when it is a follow that has ended', () => {
    const empty = { ...next, firstLines: 0 };
    expect(compareFiles(reading, empty, always)).toBe('unknown');
    expect(compareFiles(reading, { ...empty, end: 'clean' }, never)).toBe('same');
    expect(compareFiles(reading, { ...empty, end: 'clean', follow: false }, always)).toBe('unknown');
  });

  it('is awaited for 3 s as long as it may show its first line', () => {
    const empty = { ...next, firstLines: 0 };
    const isAwaited = (stream: StreamFacts | undefined, heldMs = 2_999) =>
      isFirstLineAwaited(stream, heldMs, LOG_TIMES);
    expect(isAwaited(empty)).toBe(true);
    expect(isAwaited(empty, 3_000)).toBe(false);
    expect(isAwaited(next)).toBe(false);
    expect(isAwaited({ ...empty, end: 'clean' })).toBe(false);
    expect(isAwaited({ ...empty, follow: false })).toBe(false);
    expect(isAwaited(undefined)).toBe(false);
  });
});

it('a connection is dead after a minute without a byte', () => {
  const isDead = (facts: Partial<LogFacts>) => isConnectionDead({ ...QUIET, ...facts }, LOG_TIMES);
  expect(isDead({ silentMs: 60_000 })).toBe(true);
  expect(isDead({ silentMs: 59_999 })).toBe(false);
  expect(isDead({ silentMs: 60_000, front: undefined })).toBe(false);
  expect(isDead({ silentMs: 60_000, front: { ...FRONT, end: 'clean' } })).toBe(false);
});

it('a log is large from 8 MiB on', () => {
  expect([LARGE - 1, LARGE].map((fileBytes) => isLarge({ fileBytes }, LOG_TIMES))).toEqual([false, true]);
});
