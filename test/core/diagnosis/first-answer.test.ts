import { describe, expect, it } from 'vitest';
import type { ContainerStatus, PodEvent } from '../../../src/core/container/pod.ts';
import { ordered } from '../../../src/core/diagnosis/findings.ts';
import { findingsIn } from '../../../src/core/diagnosis/first-answer.ts';
import { aPod, aStatus, aTermination } from '../../support/builders.ts';
import { factsOf } from './rules/facts.ts';

/** Its names are read so often: what a rule compares, it reads. */
class Counted {
  reads = 0;

  /** The same, but each read of its `key` counts. */
  of<Value extends object>(value: Value, key: keyof Value): Value {
    const held = value[key];
    return Object.defineProperty({ ...value }, key, {
      enumerable: true,
      get: () => {
        this.reads += 1;
        return held;
      },
    });
  }
}

const namesOf = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `c${index}`);

const CRASHES: Partial<ContainerStatus> = {
  restartCount: 4,
  waiting: { reason: 'CrashLoopBackOff', message: '' },
  lastTermination: aTermination({ exitCode: 1, reason: 'Error' }),
};
const UNREADY: Partial<ContainerStatus> = { running: { startedAt: '2026-11-20T00:00:00Z' }, ready: false };
const UNPULLED: Partial<ContainerStatus> = { waiting: { reason: 'ImagePullBackOff', message: '' } };

function answerReads(count: number, status: Partial<ContainerStatus>, event: Partial<PodEvent>): number {
  const counted = new Counted();
  const names = namesOf(count);
  const pod = aPod();
  const facts = factsOf({
    pod: {
      ...pod,
      spec: { ...pod.spec, containers: names.map((name) => counted.of({ ...pod.spec.containers[0]!, name }, 'name')) },
      status: {
        ...pod.status,
        phase: 'Running',
        containerStatuses: names.map((name) => counted.of(aStatus({ ...status, name }), 'name')),
      },
    },
  });
  const events = names.map((name) =>
    counted.of(
      {
        type: 'Warning',
        reason: '',
        message: '',
        atMs: facts.nowMs,
        count: 9,
        fieldPath: `spec.containers{${name}}`,
        ...event,
      },
      'fieldPath',
    ),
  );
  expect(findingsIn({ ...facts, events })).toHaveLength(count);
  return counted.reads;
}

describe('an answer about a pod with very many containers', () => {
  it.each<[string, Partial<ContainerStatus>, Partial<PodEvent>]>([
    ['crash', CRASHES, {}],
    ['fail their probes', UNREADY, { reason: 'Unhealthy', message: 'Readiness probe failed: statuscode: 500' }],
    ['have no image', UNPULLED, { reason: 'Failed', message: 'Failed to pull image: not found' }],
  ])('looks at each of them as often as in a pod with a few: those %s', (_what, status, event) => {
    expect(answerReads(400, status, event) / answerReads(100, status, event)).toBeLessThan(5);
  });

  it('compares no finding of a container with those of the others, and counts all', () => {
    const reads = (count: number): number => {
      const counted = new Counted();
      const findings = namesOf(count).map((containerName) =>
        counted.of({ code: 'crash_loop', text: 'it ends', containerName }, 'code'),
      );
      const pod = { code: 'not_ready', text: 'not ready' };
      expect(ordered([...findings, pod])).toHaveLength(count);
      return counted.reads;
    };
    expect(reads(400) / reads(100)).toBeLessThan(5);
  });
});
