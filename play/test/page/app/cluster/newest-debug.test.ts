import { expect, it } from 'vitest';
import { newestDebug } from '../../../../page/app/cluster/newest-debug.ts';
import type { PageContainer } from '../../../../page/contract.ts';
import { pod } from '../../../browser/support/worlds.ts';

const debug = (name: string, startedAtMs?: number): PageContainer => ({
  name,
  image: 'debian:12',
  kind: 'debug',
  state: startedAtMs === undefined ? 'waiting' : 'running',
  restarts: 0,
  ...(startedAtMs === undefined ? {} : { startedAtMs }),
});

const podWith = (name: string, ...containers: readonly PageContainer[]) => ({
  ...pod(name),
  containers: [...pod(name).containers.map((one) => ({ ...one, startedAtMs: 99 })), ...containers],
});

it('is the debug container that started last, in whichever pod', () => {
  const pods = [podWith('a', debug('old', 1), debug('new', 5)), podWith('b', debug('middle', 3)), podWith('c')];
  expect(newestDebug({ pods })).toEqual({ namespace: 'shop', pod: 'a', container: 'new' });
});

it('is none while none has started, and no container of the pod’s own', () => {
  expect(newestDebug({ pods: [podWith('a', debug('waiting'))] })).toBeUndefined();
});
