import type { Original } from '../../../src/core/container/once-more.ts';
import type { ContainerStatus } from '../../../src/core/container/pod.ts';
import { asChannelId } from '../../../src/core/ids.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import { aPod, aPolicy, approvalTerms, aRule, aStatus } from '../../support/builders.ts';
import { World } from './world.ts';

/** Lets programs run once more where somebody of `sre` approves. */
export const guarded = (): Policy =>
  aPolicy({
    channels: {
      [asChannelId('C0SHOP')]: { rules: [aRule({ id: 'again', classes: ['elevated'], approval: approvalTerms() })] },
    },
    approvers: { sre: { usergroup: 'S0SRE', users: [] } },
  });

/** Of a container that its program has left, and that is to start again. */
export const statusOf = (parts: Partial<ContainerStatus> = {}): ContainerStatus =>
  aStatus({
    imageID: `shop@sha256:${'a'.repeat(64)}`,
    waiting: { reason: 'CrashLoopBackOff', message: '' },
    ...parts,
  });

export const aPodWith = (status: ContainerStatus) => aPod({ status: { containerStatuses: [status] } });

/** A pod whose container is down and has this, and Bob, who may approve. */
export function aWorldOf(originalNow: Original, policy = guarded()): World {
  const world = new World({ policy });
  world.directory.groups.set('S0SRE', new Set(['U0BOB']));
  world.cluster.setPod(aPodWith(statusOf()));
  world.cluster.originalNow = originalNow;
  return world;
}
