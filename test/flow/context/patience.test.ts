import { describe, expect, it } from 'vitest';
import { KdebugError } from '../../../src/core/errors.ts';
import { Patience } from '../../../src/flow/context/patience.ts';

const forbidden = (mayPass: boolean): KdebugError =>
  new KdebugError('cluster_forbidden', { facts: { status: 403, ...(mayPass && { mayPass }) } });

describe('after a refusal of the cluster', () => {
  it('nothing is tried again', () => {
    expect(new Patience(() => 0).waitMs(forbidden(false), 'launching', 0)).toBeUndefined();
  });

  it.each([
    ['a launch', 'launching', 60_000],
    ['a plan', 'received', 8_000],
  ] as const)('that may pass, %s is tried again, within its clock', (_name, state, mostMs) => {
    const patience = new Patience(() => 0);
    expect(patience.waitMs(forbidden(true), state, 0)).toBeGreaterThan(0);
    expect(patience.waitMs(forbidden(true), state, mostMs / 2)).toBeGreaterThan(0);
    expect(patience.waitMs(forbidden(true), state, mostMs)).toBeUndefined();
  });
});
