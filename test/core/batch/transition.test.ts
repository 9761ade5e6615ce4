import { describe, expect, it } from 'vitest';
import { nextLaunches, openBatch, recordOf, withLaunched } from '../../../src/core/batch/open-batch.ts';
import { columnsOf, matchedOf, statusOf } from '../../../src/core/batch/pod-state.ts';
import { batchTransition } from '../../../src/core/batch/transition.ts';
import { START_MS } from '../../support/builders.ts';
import { aBatch, aResult, aStartFailure, end, launchAll, opened, runThrough } from './a-batch.ts';

const isOver = ({ head }: ReturnType<typeof opened>) => head.endedAtMs !== undefined;
const statusNow = (open: ReturnType<typeof opened>) => statusOf(open.head, open.counts);

describe('launching', () => {
  it('keeps as many in flight as parallelism says, and fills each gap at once', () => {
    const open = opened({ size: 5, batch: { parallelism: 2 } });
    expect(launchAll(open)).toEqual([0, 1]);
    expect(nextLaunches(open)).toEqual([]);
    end(open, 0);
    expect(launchAll(open)).toEqual([2]);
  });

  it('is oldest first, then spread: no node gets a second one while another has fewer in flight', () => {
    const open = opened({ size: 6, nodes: 3, batch: { parallelism: 5 } });
    expect(launchAll(open)).toEqual([0, 1, 2, 3, 4]);
    end(open, 1);
    expect(nextLaunches(open)).toEqual([5]);
    const crowded = openBatch(
      {
        ...aBatch({ size: 4, batch: { parallelism: 2 } }),
        pods: aBatch({ size: 4 }).pods.map((pod) => ({ ...pod, node: pod.index < 3 ? 'a' : 'b' })),
      },
      START_MS,
    );
    expect(nextLaunches(crowded)).toEqual([0, 3]);
  });

  it('refuses a launch beyond parallelism, twice, of a skipped pod or while paused', () => {
    const open = opened({ size: 3, batch: { parallelism: 1, replicas: 2 } });
    const illegal = 'illegal';
    expect(batchTransition(open, { kind: 'launched', index: 2 }, START_MS)).toEqual(illegal);
    expect(batchTransition(open, { kind: 'launched', index: 9 }, START_MS)).toEqual(illegal);
    launchAll(open);
    expect(batchTransition(open, { kind: 'launched', index: 0 }, START_MS)).toEqual(illegal);
    expect(batchTransition(open, { kind: 'launched', index: 1 }, START_MS)).toEqual(illegal);
    end(open, 0);
    batchTransition(open, { kind: 'paused', byUserId: 'U0ROY' }, START_MS);
    expect(nextLaunches(open)).toEqual([]);
    expect(batchTransition(open, { kind: 'launched', index: 1 }, START_MS)).toEqual(illegal);
    batchTransition(open, { kind: 'resumed' }, START_MS);
    expect(nextLaunches(open)).toEqual([1]);
  });
});

describe('the canary', () => {
  it('goes first and alone, and the others wait for Continue', () => {
    const open = opened({ size: 4, batch: { parallelism: 3, canary: true } });
    expect(launchAll(open)).toEqual([0]);
    expect(batchTransition(open, { kind: 'continued' }, START_MS)).toBe('illegal');
    end(open, 0, aResult({ outcome: 'failed', exitCode: 1 }));
    expect(open.head.canary).toBe('waiting');
    expect(nextLaunches(open)).toEqual([]);
    batchTransition(open, { kind: 'continued' }, START_MS);
    expect(launchAll(open)).toHaveLength(3);
  });

  it('that was alone ends the batch', () => {
    const open = opened({ size: 1, batch: { canary: true } });
    launchAll(open);
    end(open, 0);
    expect(statusNow(open)).toBe('Succeeded');
  });
});

describe('the end', () => {
  it.each([
    ['Succeeded', ['succeeded', 'succeeded']],
    ['Failed', ['failed', 'start-failed']],
    ['PartiallySucceeded', ['succeeded', 'pod-gone']],
  ] as const)('is %s after %j', (status, [first, second]) => {
    const open = opened({ size: 2, batch: { parallelism: 2 } });
    launchAll(open);
    end(open, 0, aResult({ outcome: first }));
    expect(isOver(open)).toBe(false);
    end(open, 1, aResult({ outcome: second }));
    expect([isOver(open), statusNow(open)]).toEqual([true, status]);
  });

  it('comes at once after a cancel with nothing in flight, else with the last one in flight', () => {
    const idle = opened();
    batchTransition(idle, { kind: 'cancelled', byUserId: 'U0ROY' }, START_MS);
    expect([isOver(idle), statusNow(idle), idle.counts.cancelled]).toEqual([true, 'Cancelled', 4]);
    const busy = opened({ batch: { parallelism: 2 } });
    launchAll(busy);
    batchTransition(busy, { kind: 'cancelled', byUserId: 'U0ROY' }, START_MS);
    end(busy, 0);
    expect([isOver(busy), nextLaunches(busy)]).toEqual([false, []]);
    end(busy, 1);
    expect([isOver(busy), statusNow(busy)]).toEqual([true, 'Cancelled']);
  });

  it('is Waiting until something ran, then Running, and Paused while it is', () => {
    const open = opened({ batch: { parallelism: 2 } });
    launchAll(open);
    expect(statusNow(open)).toBe('Waiting');
    batchTransition(open, { kind: 'started', index: 0 }, START_MS);
    expect(statusNow(open)).toBe('Running');
    batchTransition(open, { kind: 'paused', byUserId: 'U0ROY' }, START_MS);
    expect(statusNow(open)).toBe('Paused');
  });

  it('of its time to live gives up what is in flight and cancels the rest, never too early', () => {
    const open = opened({ size: 4, batch: { parallelism: 2, ttlMs: 1_000 } });
    launchAll(open);
    expect(batchTransition(open, { kind: 'ttl-expired' }, START_MS + 999)).toBe('illegal');
    expect(batchTransition(open, { kind: 'ttl-expired' }, START_MS + 1_000)).toBe('moved');
    expect(open.counts).toMatchObject({ 'timed-out': 2, cancelled: 2, queued: 0 });
    expect([isOver(open), statusNow(open)]).toEqual([true, 'Failed']);
  });

  it('comes after three start failures of one reason, whatever ended in between', () => {
    const open = opened({ size: 20, batch: { parallelism: 1 } });
    const reasons = ['ImagePullBackOff', 'CreateContainerError', '', 'ImagePullBackOff', 'CreateContainerError'];
    for (const reason of reasons) {
      const [index = -1] = launchAll(open);
      end(open, index, reason === '' ? aResult() : aStartFailure(reason));
      expect(isOver(open)).toBe(false);
    }
    const [index = -1] = launchAll(open);
    end(open, index, aStartFailure());
    expect(open.head.closed).toMatchObject({ because: 'start-failures', reason: 'ImagePullBackOff' });
    expect([isOver(open), open.counts.cancelled]).toEqual([true, 14]);
  });

  it('comes after them also when another container of each pod failed in its own way', () => {
    const open = opened({ size: 20, containers: 2, batch: { parallelism: 1 } });
    const failed = aResult({ outcome: 'failed', exitCode: 1, reason: 'Error' });
    for (let times = 0; times < 3; times += 1) {
      const [index = -1] = launchAll(open);
      batchTransition(open, { kind: 'ended', index, container: 0, result: failed }, START_MS);
      batchTransition(open, { kind: 'ended', index, container: 1, result: aStartFailure() }, START_MS);
    }
    expect(open.head.closed).toMatchObject({ because: 'start-failures', reason: 'ImagePullBackOff' });
    expect(open.counts).toMatchObject({ failed: 3, cancelled: 17 });
  });

  it('is final: a late result, a pause or a resize changes nothing', () => {
    const open = opened({ size: 1 });
    runThrough(open);
    const before = JSON.stringify(recordOf(open));
    const result = aResult({ outcome: 'failed' });
    for (const event of [
      { kind: 'ended', index: 0, result },
      { kind: 'started', index: 0 },
      { kind: 'paused', byUserId: 'U0ROY' },
      { kind: 'resumed' },
      { kind: 'continued' },
      { kind: 'cancelled', byUserId: 'U0ROY' },
      { kind: 'resized', parallelism: 3 },
      { kind: 'ttl-expired' },
    ] as const)
      expect(batchTransition(open, event, START_MS + 1e9)).toBe('illegal');
    expect(JSON.stringify(recordOf(open))).toBe(before);
  });
});

describe('several containers', () => {
  it('a pod fails if one of them does, succeeds when all have, and waits for the last', () => {
    const open = opened({ size: 2, containers: 2, batch: { parallelism: 2 } });
    launchAll(open);
    end(open, 0);
    expect(open.pods[0]?.state).toBe('starting');
    expect(end(open, 0)).toBe('illegal');
    batchTransition(open, { kind: 'ended', index: 0, container: 1, result: aResult() }, START_MS);
    expect(open.pods[0]?.state).toBe('succeeded');
    batchTransition(open, { kind: 'ended', index: 1, container: 1, result: aResult() }, START_MS);
    end(open, 1, aResult({ outcome: 'failed', exitCode: 3 }));
    expect(open.pods[1]?.state).toBe('failed');
    expect(batchTransition(open, { kind: 'ended', index: 1, container: 2, result: aResult() }, START_MS)).toBe(
      'illegal',
    );
  });
});

describe('resizing', () => {
  it('to fewer replicas lets the youngest queued go, and never launches more than that', () => {
    const open = opened({ size: 10, batch: { parallelism: 2 } });
    launchAll(open);
    batchTransition(open, { kind: 'resized', replicas: 3 }, START_MS);
    expect(open.counts).toMatchObject({ queued: 1, skipped: 7 });
    runThrough(open);
    end(open, 0);
    end(open, 1);
    runThrough(open);
    expect(open.counts).toMatchObject({ succeeded: 3, skipped: 7 });
    expect(statusNow(open)).toBe('Succeeded');
  });

  it('to more replicas takes up pods of the snapshot again, at most all that can be worked on', () => {
    const open = opened({ size: 4, batch: { replicas: 1 } });
    launchAll(open);
    batchTransition(open, { kind: 'resized', replicas: 2, parallelism: 5 }, START_MS);
    expect(nextLaunches(open)).toEqual([1]);
    batchTransition(open, { kind: 'resized', replicas: 99 }, START_MS);
    expect(open.counts).toMatchObject({ queued: 3, skipped: 0 });
  });

  it('below what has had its turn already ends with what is in flight', () => {
    const open = opened({ size: 4, batch: { parallelism: 3 } });
    launchAll(open);
    batchTransition(open, { kind: 'resized', replicas: 1 }, START_MS);
    for (const index of [0, 1, 2]) end(open, index);
    expect(columnsOf(open.counts)).toEqual({ match: 4, succeed: 3, failed: 0, running: 0, waiting: 0 });
    expect(isOver(open)).toBe(true);
  });

  it.each([{}, { parallelism: 0 }, { replicas: -1 }, { replicas: 1.5 }, { parallelism: Number.NaN }])(
    'refuses %j',
    (numbers) => {
      expect(batchTransition(opened(), { kind: 'resized', ...numbers }, START_MS)).toBe('illegal');
    },
  );
});

describe('a log that is still being read', () => {
  it('leaves its place to the next pod at once, and the batch open until it is read', () => {
    const open = opened({ size: 2 });
    launchAll(open);
    end(open, 0, aResult({ reading: true }));
    expect([open.counts.succeeded, launchAll(open)]).toEqual([1, [1]]);
    end(open, 1);
    expect(isOver(open)).toBe(false);
    expect(end(open, 0, aResult({ outcome: 'failed', exitCode: 137, findings: ['oom'] }))).toBe('moved');
    expect([isOver(open), open.counts.failed, open.pods[0]?.results?.[0]?.findings]).toEqual([true, 1, ['oom']]);
    expect(end(open, 0)).toBe('illegal');
  });

  it('is known to whoever takes the batch over', () => {
    const open = opened({ size: 1, batch: { canary: true } });
    launchAll(open);
    end(open, 0, aResult({ reading: true }));
    const again = openBatch(recordOf(open), START_MS);
    expect([[...again.reading], again.inFlight.size, isOver(again)]).toEqual([[0], 0, false]);
    end(again, 0);
    expect(isOver(again)).toBe(true);
  });
});

describe('a pod that is not any more as it was approved', () => {
  it('says nothing of the others, however many there are', () => {
    const open = opened({ size: 9 });
    for (let times = 0; times < 8; times += 1) {
      const reason = times % 2 === 0 ? 'approval_changed' : 'pod_deleting';
      end(open, launchAll(open)[0] ?? -1, aResult({ outcome: 'denied', reason }));
    }
    expect([open.head.closed, open.counts['start-failed']]).toEqual([undefined, 8]);
  });
});

describe('after a crash', () => {
  it('what was found in the cluster is in flight, and counts for the canary too', () => {
    const before = aBatch({ size: 3, batch: { canary: true } });
    const open = openBatch(withLaunched(before, new Set([1]), START_MS + 9), START_MS + 9);
    expect([[...open.inFlight], nextLaunches(open), open.pods[1]]).toMatchObject([
      [1],
      [],
      { state: 'starting', launchedAtMs: START_MS + 9 },
    ]);
    end(open, 1);
    expect(open.head.canary).toBe('waiting');
  });

  it('what the pods say and the head does not yet is made up for', () => {
    const before = aBatch({ size: 2, batch: { canary: true } });
    const open = openBatch(before, START_MS);
    launchAll(open);
    end(open, 0);
    const torn = openBatch({ ...recordOf(open), ...before, pods: [...open.pods] }, START_MS);
    expect(torn.head).toMatchObject({ canary: 'waiting', firstLaunchAtMs: START_MS });
    const last = opened({ size: 1 });
    const running = last.head;
    runThrough(last);
    expect(openBatch({ ...running, pods: last.pods }, START_MS + 5).head.endedAtMs).toBe(START_MS + 5);
    const failing = opened({ size: 9 });
    const whole = failing.head;
    for (let times = 0; times < 3; times += 1) end(failing, launchAll(failing)[0] ?? -1, aStartFailure());
    expect(openBatch({ ...whole, pods: failing.pods }, START_MS).head.closed?.because).toBe('start-failures');
  });

  it('time in which nothing may be launched is counted apart', () => {
    const open = opened({ size: 3 });
    launchAll(open);
    batchTransition(open, { kind: 'paused', byUserId: 'U0ROY' }, START_MS + 1_000);
    const reopened = openBatch(recordOf(open), START_MS + 2_000);
    batchTransition(reopened, { kind: 'resumed' }, START_MS + 5_000);
    expect(reopened.head.idleMs).toBe(4_000);
    expect(matchedOf(reopened.counts)).toBe(3);
  });
});
