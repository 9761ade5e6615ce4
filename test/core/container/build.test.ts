import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildEphemeralContainer, containerName } from '../../../src/core/container/build.ts';
import { asRunId } from '../../../src/core/ids.ts';
import { aPlan, START_MS } from '../../support/builders.ts';

const mark = { runId: asRunId('abcdefghij'), approverIds: [], notAfterMs: START_MS, ref: 'k1.sealed' };

describe('containerName', () => {
  it('is the same for the same run and pod, and another for any other', () => {
    const name = containerName(asRunId('abcdefghij'), 'uid-1');
    expect(containerName(asRunId('abcdefghij'), 'uid-1')).toBe(name);
    expect(containerName(asRunId('abcdefghij'), 'uid-2')).not.toBe(name);
    expect(containerName(asRunId('abcdefghik'), 'uid-1')).not.toBe(name);
  });

  it('is a DNS label of at most 63 characters', () => {
    expect(containerName(asRunId('abcdefghij'), 'uid-1')).toMatch(/^kdebug-[a-z2-7]{12}$/);
  });
});

describe('buildEphemeralContainer', () => {
  it('builds the whole container from the plan and the mark', () => {
    const plan = aPlan({
      image: 'debian:12-slim',
      command: ['cat', '/proc/1/root/etc/resolv.conf'],
      env: [{ name: 'A', value: 'b' }],
      imagePullPolicy: 'IfNotPresent',
      securityContext: { runAsUser: 7 },
    });
    expect(buildEphemeralContainer(plan, { ...mark, batchId: 'b1', approverIds: ['U1', 'U2'] })).toEqual({
      name: containerName(mark.runId, 'uid-1'),
      image: 'debian:12-slim',
      imagePullPolicy: 'IfNotPresent',
      targetContainerName: 'web',
      command: ['cat', '/proc/1/root/etc/resolv.conf'],
      env: [
        { name: 'A', value: 'b' },
        { name: 'KDEBUG_RUN', value: 'abcdefghij' },
        { name: 'KDEBUG_BATCH', value: 'b1' },
        { name: 'KDEBUG_REQUESTER', value: 'U0ROY' },
        { name: 'KDEBUG_APPROVERS', value: 'U1,U2' },
        { name: 'KDEBUG_TARGET', value: 'web' },
        { name: 'KDEBUG_NOT_AFTER', value: '2026-11-21T07:30:00.000Z' },
        { name: 'KDEBUG_REF', value: 'k1.sealed' },
      ],
      securityContext: { runAsUser: 7 },
      terminationMessagePolicy: 'FallbackToLogsOnError',
    });
  });

  it('gives the words as arguments of the image when asked to', () => {
    const container = buildEphemeralContainer(aPlan({ command: ['-v'], argumentsOnly: true }), mark);
    expect(container).toMatchObject({ args: ['-v'] });
    expect(container).not.toHaveProperty('command');
  });

  it('leaves the image its own command when there are no words, and has no target when there is none', () => {
    const { targetContainerName: _, ...plan } = aPlan();
    const container = buildEphemeralContainer(plan, mark);
    expect(Object.keys(container)).not.toEqual(expect.arrayContaining(['command']));
    expect(container).not.toHaveProperty('targetContainerName');
  });

  it('doubles every dollar sign, so that the API server expands nothing', () => {
    const container = buildEphemeralContainer(
      aPlan({ command: ['$(HOME)', 'a$$b'], env: [{ name: 'X', value: '$(Y)' }] }),
      mark,
    );
    expect(container.command).toEqual(['$$(HOME)', 'a$$$$b']);
    expect(container.env[0]).toEqual({ name: 'X', value: '$$(Y)' });
  });

  it('sets no field that the plan does not have, whatever the words are', () => {
    const allowed = new Set([
      'name',
      'image',
      'targetContainerName',
      'command',
      'args',
      'env',
      'terminationMessagePolicy',
    ]);
    fc.assert(
      fc.property(fc.array(fc.string()), fc.boolean(), (command, argumentsOnly) => {
        const container = buildEphemeralContainer(aPlan({ command, argumentsOnly }), mark);
        expect(Object.keys(container).filter((key) => !allowed.has(key))).toEqual([]);
        expect(container.name).toBe(containerName(mark.runId, 'uid-1'));
      }),
    );
  });
});
