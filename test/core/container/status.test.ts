import { describe, expect, it } from 'vitest';
import { outcomeOfTermination, stateOfContainer } from '../../../src/core/container/status.ts';
import { aPod, aStatus, aTermination } from '../../support/builders.ts';

const withStatus = (parts: Parameters<typeof aStatus>[0]) =>
  aPod({ status: { ephemeralContainerStatuses: [aStatus({ name: 'kdebug-a', ...parts })] } });

describe('stateOfContainer', () => {
  it('is unseen while the kubelet has not spoken', () => {
    expect(stateOfContainer(aPod(), 'kdebug-a')).toEqual({ kind: 'unseen' });
    expect(stateOfContainer(withStatus({}), 'kdebug-a')).toEqual({ kind: 'unseen' });
  });

  it.each(['ContainerCreating', 'ErrImagePull', 'PodInitializing'])('waits while the reason is %s', (reason) => {
    expect(stateOfContainer(withStatus({ waiting: { reason, message: 'm' } }), 'kdebug-a').kind).toBe('waiting');
  });

  it.each([
    'ImagePullBackOff',
    'InvalidImageName',
    'ErrImageNeverPull',
    'RegistryUnavailable',
    'ImageInspectError',
    'CreateContainerConfigError',
    'CreateContainerError',
    'RunContainerError',
  ])('has failed to start when the reason is %s', (reason) => {
    expect(stateOfContainer(withStatus({ waiting: { reason, message: 'why' } }), 'kdebug-a')).toEqual({
      kind: 'start-failed',
      reason,
      message: 'why',
    });
  });

  it('waits, instead of giving up, while the target that it joins does not run', () => {
    const waiting = { reason: 'CreateContainerError', message: 'invalid target container' };
    const pod = withStatus({ waiting });
    const crashed = {
      ...pod,
      status: { ...pod.status, containerStatuses: [aStatus({ waiting: { reason: 'CrashLoopBackOff', message: '' } })] },
    };
    expect(stateOfContainer(crashed, 'kdebug-a', 'web').kind).toBe('waiting');
    expect(stateOfContainer(crashed, 'kdebug-a').kind).toBe('start-failed');
    expect(stateOfContainer(pod, 'kdebug-a', 'web').kind).toBe('start-failed');
  });

  it('waits while the target runs again and the kubelet has not retried yet', () => {
    const message =
      'failed to generate container "00" spec: invalid target container: container "ab" is not running - in state CONTAINER_EXITED';
    const pod = withStatus({ waiting: { reason: 'CreateContainerError', message } });
    expect(stateOfContainer(pod, 'kdebug-a', 'web').kind).toBe('waiting');
    expect(stateOfContainer(pod, 'kdebug-a').kind).toBe('start-failed');
  });

  it.each(['StartError', 'ContainerCannotRun'])('has failed to start when it terminated with %s', (reason) => {
    const state = stateOfContainer(withStatus({ terminated: aTermination({ reason, exitCode: 128 }) }), 'kdebug-a');
    expect(state.kind).toBe('start-failed');
  });

  it('is running, and since when', () => {
    const state = stateOfContainer(withStatus({ running: { startedAt: '2026-11-21T07:30:01Z' } }), 'kdebug-a');
    expect(state).toEqual({ kind: 'running', startedAtMs: Date.UTC(2026, 10, 21, 7, 30, 1), imageId: 'sha256:feed' });
  });

  it('is terminated, with the termination', () => {
    const terminated = aTermination();
    expect(stateOfContainer(withStatus({ terminated }), 'kdebug-a')).toMatchObject({
      kind: 'terminated',
      termination: terminated,
    });
  });
});

describe('outcomeOfTermination', () => {
  const killed = aTermination({ exitCode: 137, reason: 'Error' });
  const targetEnded = (finishedAt: string, field: 'terminated' | 'lastTermination' = 'terminated') =>
    aPod({ status: { containerStatuses: [aStatus({ [field]: aTermination({ finishedAt, exitCode: 1 }) })] } });

  it.each([
    ['succeeded', aTermination(), { kind: 'succeeded' }],
    ['failed', aTermination({ exitCode: 3, reason: 'Error' }), { kind: 'failed', exitCode: 3, reason: 'Error' }],
    [
      'failed by a signal',
      aTermination({ exitCode: 139, reason: 'Error', signal: 11 }),
      { kind: 'failed', exitCode: 139, reason: 'Error', signal: 11 },
    ],
    ['oom-killed', aTermination({ exitCode: 137, reason: 'OOMKilled' }), { kind: 'oom-killed', exitCode: 137 }],
  ])('is %s', (_, termination, outcome) => {
    expect(outcomeOfTermination(aPod(), termination, 'web')).toEqual(outcome);
  });

  it.each(['terminated', 'lastTermination'] as const)(
    'is target-ended when the target (%s) ended in the same second, or is said to a little later',
    (field) => {
      for (const second of ['02', '03', '06']) {
        const pod = targetEnded(`2026-11-21T07:30:${second}Z`, field);
        expect(outcomeOfTermination(pod, killed, 'web')).toEqual({ kind: 'target-ended', exitCode: 137 });
      }
      expect(outcomeOfTermination(targetEnded('2026-11-21T07:30:07Z', field), killed, 'web').kind).toBe('failed');
    },
  );

  it.each([137, 143])('is pod-gone when the pod is being deleted and the kubelet ended it with %d', (exitCode) => {
    const deleting = aPod({ metadata: { deletionTimestamp: '2026-11-21T07:30:00Z' } });
    const ending = aTermination({ exitCode, reason: 'Error' });
    expect(outcomeOfTermination(deleting, ending, 'web')).toEqual({ kind: 'pod-gone' });
    expect(outcomeOfTermination(deleting, aTermination({ exitCode: 3, reason: 'Error' }), 'web').kind).toBe('failed');
    expect(outcomeOfTermination(aPod(), ending, 'web').kind).toBe('failed');
  });

  it('is failed when the target ended earlier, was another container, or there was none', () => {
    expect(outcomeOfTermination(targetEnded('2026-11-21T07:30:01Z'), killed, 'web').kind).toBe('failed');
    expect(outcomeOfTermination(targetEnded('2026-11-21T07:30:03Z'), killed, 'other').kind).toBe('failed');
    expect(outcomeOfTermination(targetEnded('2026-11-21T07:30:03Z'), killed, undefined).kind).toBe('failed');
  });

  it('is failed when another code ended it in the second of the target’s end', () => {
    const own = aTermination({ exitCode: 1, reason: 'Error' });
    expect(outcomeOfTermination(targetEnded('2026-11-21T07:30:03Z'), own, 'web').kind).toBe('failed');
  });
});
