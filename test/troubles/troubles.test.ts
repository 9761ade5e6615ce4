import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { at } from '../../play/test/cluster/recorded/json.ts';
import { MAX_WORKLOAD_CALLS } from '../../src/core/lookup/workload-sources.ts';
import { RecordedTroubles, workloadAsked } from './answers.ts';
import { type Judgement, judge, summaryOf } from './judge.ts';
import { NO_LOG, podNamed, podsOf, readManifest, readRecording, readTrouble, troubleNames } from './trouble.ts';
import { missingOf } from './until.ts';

const MAX_POD_CALLS = 6;

const troubles = troubleNames().map(readTrouble);

describe('the troubles', () => {
  it('are at least 44, with at least six controls', () => {
    expect(troubles.filter(({ healthy }) => !healthy).length).toBeGreaterThanOrEqual(44);
    expect(troubles.filter(({ healthy }) => healthy).length).toBeGreaterThanOrEqual(6);
  });

  it.each(troubles)('of $name says what is asked, and what must be read', (trouble) => {
    expect([trouble.ask, trouble.askPod].filter((words) => words !== undefined)).toHaveLength(1);
    expect(trouble.about).toMatch(/\.$/);
    if (!trouble.healthy) expect(trouble.says).not.toEqual([]);
    expect(trouble.never).not.toEqual([]);
    const images = JSON.stringify(readManifest(trouble.name)).match(/"image":"[^"]*"/g) ?? [];
    expect(images).not.toEqual([]);
  });
});

describe('the recording', () => {
  it.each(troubles)('of $name shows its trouble, and nothing of the machine', (trouble) => {
    const recording = readRecording(trouble.name);
    if (!recording) throw new Error('not recorded: KUBECONFIG=… npx tsx scripts/record-troubles.ts NAME');
    const { objects, logs, atMs } = recording;
    expect(missingOf(trouble.until, { objects, logs: [...logs.values()] })).toBe(undefined);
    const text = JSON.stringify(objects);
    expect(text).not.toMatch(/managedFields|"machineID"|kdebug-cluster/);
    const spaces = new Set(objects.map((object) => at(object, 'metadata', 'namespace')));
    expect([...spaces].filter((space) => space !== undefined)).toEqual(['shop']);
    for (const pod of podsOf(recording))
      expect(Date.parse(String(at(pod, 'metadata', 'creationTimestamp')))).toBeLessThan(atMs);

    const workload = workloadAsked(trouble.ask);
    const kind = workload?.workload ?? 'pod';
    const name = workload?.name ?? trouble.ask ?? podNamed(recording, trouble.askPod ?? '');
    const isAsked = (object: (typeof objects)[number]): boolean =>
      String(object.kind).toLowerCase() === kind && at(object, 'metadata', 'name') === name;
    expect(objects.filter(isAsked)).toHaveLength(1);
  });

  it.each(troubles)('of $name has logs with the kubelet’s stamps, at most 5,000 lines each', ({ name }) => {
    for (const [file, text] of readRecording(name)?.logs ?? []) {
      if (NO_LOG.test(text)) continue;
      const lines = text.trimEnd().split('\n');
      expect(lines.length, file).toBeLessThanOrEqual(5_000);
      expect(
        lines.filter((line) => !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}Z /.test(line)),
        file,
      ).toEqual([]);
    }
  });
});

describe('the first answer', () => {
  const judgements: Judgement[] = [];
  let recorded: RecordedTroubles;

  beforeAll(async () => {
    recorded = await RecordedTroubles.open();
  });

  afterAll(async () => {
    await recorded?.close();
    process.stdout.write(`${summaryOf(judgements)}\n`);
  });

  it.each(troubles)('about $name names its cause first, and nothing that is not so', async (trouble) => {
    const recording = readRecording(trouble.name);
    if (!recording) throw new Error('not recorded');
    const answered = await recorded.answer(trouble, recording);
    const judgement = judge(trouble, answered);
    judgements.push(judgement);
    const isMet = trouble.unmet === undefined;
    expect(judgement, answered.lines.join('\n')).toMatchObject({ isNamed: isMet, falseLines: [], sentAway: [] });
    if (isMet) expect(judgement.isCalledWell).toBe(false);
    const mostCalls = workloadAsked(trouble.ask) ? MAX_WORKLOAD_CALLS : MAX_POD_CALLS;
    expect(answered.calls.length).toBeLessThanOrEqual(mostCalls);
  });
});
