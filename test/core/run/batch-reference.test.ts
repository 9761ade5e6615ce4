import { describe, expect, it } from 'vitest';
import { statusOf } from '../../../src/core/batch/pod-state.ts';
import { asUserId } from '../../../src/core/ids.ts';
import {
  readPartReference,
  rebuildBatch,
  writeFullReference,
  writeShortReference,
} from '../../../src/core/run/batch-reference.ts';
import type { BatchRun } from '../../../src/core/run/life-cycle.ts';
import { anApproval, anOrigin, aPlan, aPod, aRun, START_MS } from '../../support/builders.ts';
import { aBatch, opened } from '../batch/a-batch.ts';

const asked = (): BatchRun => ({
  ...aRun({
    origin: anOrigin({ responseUrl: 'https://hooks.slack.example/bearer' }),
    approval: anApproval({
      votes: [{ userId: asUserId('U0BOB'), kind: 'approve', atMs: START_MS, reason: 'words of a voter' }],
    }),
  }),
  plan: aPlan(),
  batch: aBatch({ size: 40, batch: { parallelism: 8 } }),
});

describe('what a container of a batch carries', () => {
  it('is only whose part it is, but for the first pods', () => {
    const { id } = asked();
    expect(readPartReference(writeShortReference(id))).toEqual({ v: 1, partOf: id });
    expect(writeShortReference(id).length).toBeLessThan(100);
  });

  it('holds no bearer secret and no words of voters, and does not grow with the batch', () => {
    const text = writeFullReference(asked());
    expect(text).not.toContain('hooks.slack');
    expect(text).not.toContain('words of a voter');
    expect(text).toContain('U0BOB');
    expect(text.length).toBeLessThan(4_096);
  });

  it.each(['', 'no JSON', '{"v":2,"partOf":"abc"}', '{"v":1,"line":"a single run"}', 'null'])(
    'is none of ours, or of a version that we do not know: %s',
    (text) => {
      expect(readPartReference(text)).toBeUndefined();
    },
  );
});

describe('a batch that is rebuilt from the cluster', () => {
  const kept = () => readPartReference(writeFullReference(asked()))?.kept;
  const pods = ['web-3', 'web-7'].map((name) => aPod({ metadata: { name, uid: `uid of ${name}` } }));

  it('knows who asked for what, and the pods that were found; nothing more is launched', () => {
    const { id, origin, commandLine } = asked();
    const given = kept();
    const run = given && rebuildBatch(id, given, pods, START_MS);
    expect(run).toMatchObject({ id, commandLine, state: 'running', rebuilt: true });
    expect(run?.origin.requesterId).toBe(origin.requesterId);
    expect(run?.batch.closed).toEqual({ because: 'record-lost', atMs: START_MS });
    expect(run?.batch.pods.map(({ name, state }) => [name, state])).toEqual([
      ['web-3', 'starting'],
      ['web-7', 'starting'],
    ]);
  });

  it('is nothing without a pod', () => {
    const given = kept();
    expect(given && rebuildBatch(asked().id, given, [], START_MS)).toBeUndefined();
  });

  it('never counts as succeeded, because not all of its pods are known', () => {
    const open = opened({ size: 1 });
    open.head = { ...open.head, closed: { because: 'record-lost', atMs: START_MS }, endedAtMs: START_MS };
    open.counts.queued = 0;
    open.counts.succeeded = 1;
    expect(statusOf(open.head, open.counts)).toBe('PartiallySucceeded');
  });
});
