import { describe, expect, it } from 'vitest';
import { firstSources } from '../../../src/core/lookup/first-sources.ts';
import { aPod, aStatus, aTermination, type PodParts, START_MS } from '../../support/builders.ts';

const at = (ms: number) => new Date(START_MS + ms).toISOString();
const sourcesOf = (parts: PodParts, target = 'web') => firstSources(aPod(parts), target, START_MS);
const logsOf = (parts: PodParts, target = 'web') =>
  sourcesOf(parts, target).logs.map(
    ({ containerName, kind, previous }) => `${containerName} ${kind}${previous ? ' previous' : ''}`,
  );
const statuses = (...containerStatuses: readonly ReturnType<typeof aStatus>[]): PodParts => ({
  status: { containerStatuses },
});
const running = { running: { startedAt: at(-5_000) } };
const ended = (ms: number) => aTermination({ exitCode: 1, reason: 'Error', finishedAt: at(ms) });

describe('the logs to read of a pod', () => {
  it('are the last words of what ended, of its last incarnation where it waits or runs again', () => {
    expect(logsOf(statuses(aStatus({ terminated: ended(-1) })))).toEqual(['web last-words']);
    const waits = aStatus({ waiting: { reason: 'CrashLoopBackOff', message: '' }, lastTermination: ended(-9e6) });
    expect(logsOf(statuses(waits))).toEqual(['web last-words previous']);
    expect(logsOf(statuses(aStatus({ ...running, lastTermination: ended(-60_000) })))).toEqual([
      'web last-words previous',
      'web errors',
    ]);
  });

  it('are only the errors of a container whose restart is more than an hour ago', () => {
    expect(logsOf(statuses(aStatus({ ...running, lastTermination: ended(-3_600_001) })))).toEqual(['web errors']);
  });

  it('are none of a container that never ran, or of an init container that has done its part', () => {
    expect(logsOf(statuses(aStatus({ waiting: { reason: 'ContainerCreating', message: '' } })))).toEqual([]);
    const spec = { initContainers: [{ name: 'migrate', image: 'x', securityContext: {} }] };
    const initContainerStatuses = [aStatus({ name: 'migrate', terminated: aTermination() })];
    expect(logsOf({ spec, status: { initContainerStatuses, containerStatuses: [aStatus(running)] } })).toEqual([
      'web errors',
    ]);
  });

  it('are at most three, what ended first, then the target', () => {
    const others = ['a', 'b', 'c'].map((name) => aStatus({ name, ...running }));
    const died = aStatus({ name: 'd', terminated: ended(-1) });
    expect(logsOf(statuses(...others, aStatus(running), died))).toEqual(['d last-words', 'web errors', 'a errors']);
  });
});

describe('the other sources of a pod', () => {
  it('are its claims only before anything has run', () => {
    const claims = ['data'];
    expect(sourcesOf({ spec: { claims }, status: { containerStatuses: [] } }).claims).toBe(true);
    expect(sourcesOf({ spec: { claims } }).claims).toBe(false);
    expect(sourcesOf({ status: { containerStatuses: [] } }).claims).toBe(false);
  });

  it('are the Services of a pod that is well and has labels, where two calls are left', () => {
    const labels = { app: 'web' };
    expect(sourcesOf({ metadata: { labels } }).services).toBe(true);
    expect(sourcesOf({}).services).toBe(false);
    const two = statuses(aStatus(running), aStatus({ name: 'a', ...running }));
    expect(sourcesOf({ metadata: { labels }, ...two }).services).toBe(false);
    expect(sourcesOf({ metadata: { labels }, ...statuses(aStatus({ ...running, ready: false })) }).services).toBe(
      false,
    );
  });

  it('are the Job of a pod that failed', () => {
    const metadata = { ownerReferences: [{ kind: 'Job', name: 'backup', controller: true }] };
    expect(sourcesOf({ metadata, status: { phase: 'Failed' } }).job).toBe('backup');
    expect(sourcesOf({ metadata }).job).toBeUndefined();
  });
});
