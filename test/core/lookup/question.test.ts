import { describe, expect, it } from 'vitest';
import { parseCommand } from '../../../src/core/command/parse.ts';
import { hasInside, isQuestion } from '../../../src/core/lookup/question.ts';
import { aPod, aPolicy, aStatus } from '../../support/builders.ts';

const { autodiagnose } = aPolicy().images;
const ALIAS = { ...autodiagnose!, settings: ['SAMPLE_SECONDS'] };

function asks(words: string, over: object = {}, alias: { diagnostic?: boolean } = {}): boolean {
  const parsed = parseCommand(words);
  if (parsed.kind !== 'ok' || parsed.command.kind !== 'run') throw new Error(`${words} is no request`);
  return isQuestion({ request: parsed.command.request, ...over }, { ...ALIAS, ...alias });
}

describe('a question', () => {
  it.each([
    'web-1',
    'deployment/web',
    'cronjob/backup',
    '-l app=web',
    'web-1 --env=SAMPLE_SECONDS=5',
    'web-1 --profile=general',
  ])('is %s', (words) => expect(asks(words)).toBe(true));

  it.each([
    'web-1 -- id',
    'web-1 --env=OTHER=5',
    'web-1 --dry-run',
    '--all',
    'compare web-1',
    'deployment/web --replicas=2',
    'deployment/web --parallelism=2',
    'deployment/web --canary',
    'deployment/web --ttl=5m',
  ])('is not %s', (words) => expect(asks(words)).toBe(false));

  it('is not asked by an image that is not diagnostic, by apply, or by a repeat of a batch', () => {
    expect(asks('web-1', {}, { diagnostic: false })).toBe(false);
    expect(asks('deployment/web', { job: { requests: [] } })).toBe(false);
    expect(asks('deployment/web', { rerunOf: 'aaaaaaaaaa' })).toBe(false);
  });
});

describe('a container can see something', () => {
  const two = aPod({
    status: {
      containerStatuses: [
        aStatus({ running: { startedAt: '2026-11-20T00:00:01Z' } }),
        aStatus({ name: 'sidecar', waiting: { reason: 'CrashLoopBackOff', message: '' } }),
      ],
    },
  });

  it('where its target runs; without a target, where anything does', () => {
    expect(hasInside(two, { targetContainerName: 'web' }, undefined)).toBe(true);
    expect(hasInside(two, { targetContainerName: 'sidecar' }, undefined)).toBe(false);
    expect(hasInside(two, {}, undefined)).toBe(true);
    expect(hasInside(aPod({ status: { containerStatuses: [] } }), {}, undefined)).toBe(false);
  });

  it('and where the node answers', () => {
    const node = (status: string) => ({ name: 'n', conditions: [{ type: 'Ready', status }] });
    expect(hasInside(two, {}, node('True'))).toBe(true);
    expect(hasInside(two, {}, node('Unknown'))).toBe(false);
  });
});
