import { describe, expect, it } from 'vitest';
import { asChannelId } from '../../../src/core/ids.ts';
import { sizeOf } from '../../../src/core/planning/decide-batch.ts';
import { recheckOf } from '../../../src/flow/batch/preflight.ts';
import { podRunOf } from '../../../src/flow/batch/run-pod.ts';
import { aBatchRun } from '../../core/say/batch/a-batch-run.ts';
import { anOrigin, aPolicy } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { World } from '../support/world.ts';
import { BATCH_RULE } from './batch-world.ts';

const CHANNEL = asChannelId('D0ROY');
const SLOT = { index: 0, container: 0 };

/** A batch of a direct message, which a user group may use. */
function aDirectBatch({ members = ['U0ROY'], silent = 0 } = {}) {
  const world = new World({
    policy: aPolicy({
      channels: { [asChannelId('direct')]: { rules: [BATCH_RULE], members: { usergroup: 'S0SRE', users: [] } } },
    }),
  });
  world.directory.groups.set('S0SRE', new Set(members));
  for (let times = silent; times > 0; times -= 1) world.directory.faults.add('members', 'slack_unreachable');
  const batch = aBatchRun({ run: { origin: anOrigin({ channelId: CHANNEL }) } });
  for (const plan of batch.batch.variants.flat()) Object.assign(plan, { channelId: CHANNEL });
  const check = recheckOf(batch, world.deps(), () => sizeOf(batch.batch));
  const podRun = podRunOf(batch, SLOT);
  return { world, look: () => check(SLOT)(podRun, podRun.plan, world.deps()) };
}

describe('the checks before a pod of a batch', () => {
  it('remember from the start who may not use kdebug', async () => {
    const { world, look } = aDirectBatch({ members: [] });
    world.directory.groups.set('S0SRE', new Set(['U0ROY']));
    expect(await look()).toMatchObject({ code: 'direct_not_allowed' });
  });

  it('ask Slack again at a launch where it gave no answer at the start', async () => {
    const { world, look } = aDirectBatch({ silent: 2 });
    // A rejection that nobody awaits yet would end the process.
    await settle();
    await expect(look()).rejects.toMatchObject({ code: 'slack_unreachable' });
    expect(await look()).toBeUndefined();
    world.directory.groups.set('S0SRE', new Set());
    expect(await look()).toBeUndefined();
  });
});
