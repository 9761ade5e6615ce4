import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { attack } from './support/attack.ts';
import { policyOf } from './support/policy.ts';
import type { AttackWorld } from './support/world.ts';

const HARMLESS = '--image=debian --no-target --profile=restricted';

attack(
  'S-b',
  'no output goes to a channel that is shared with another company, unless the policy says so',
  async ({ open }) => {
    const shared = await open({
      slack: {
        team: (team) => {
          const shop = team.channels.C0SHOP;
          if (shop) shop.is_ext_shared = true;
        },
      },
    });
    const pod = shared.podThatHolds('web-1', 'held-by-the-pod');
    const words = `${pod} --image=debian --profile=general -- cat /proc/1/environ`;
    expect(await shared.ask(words, { channel: 'C0OPS' }), 'the control').toMatchObject({ kind: 'ran' });
    const other = await shared.pod('web-2');
    await shared.slack.deliver.command({ user: 'U0ROY', channel: 'C0SHOP', text: `${other} ${HARMLESS} -- id` });
    await pause(2_000);
    expect(JSON.stringify([...(shared.slack.state.messages.get('C0SHOP')?.values() ?? [])])).not.toContain('uid=');
  },
);

attack(
  'S-d',
  'where people are mapped and others are denied, nobody else acts with the right of the bot',
  async ({ open, nothingLaunched }) => {
    const identity = '{ mode: serviceAccount, users: { U0GINGER: ginger }, unmapped: deny }';
    const world = await open({ policy: policyOf({ identity }) });
    letDebug(world, 'ginger');
    const [mine, theirs] = [await world.pod('mapped'), await world.pod('unmapped')];
    expect(await world.ask(`${mine} ${HARMLESS} -- id`, { user: 'U0GINGER' }), 'the control').toMatchObject({
      kind: 'ran',
    });
    const answered = await world.ask(`${theirs} ${HARMLESS} -- id`, { user: 'U0ROY' });
    nothingLaunched(world, theirs);
    expect(answered.kind).toBe('private');
  },
);

/** All that README says a person needs, in `shop`. */
function letDebug(world: AttackWorld, name: string): void {
  const [apiVersion, apiGroup] = ['rbac.authorization.k8s.io/v1', 'rbac.authorization.k8s.io'];
  const metadata = { name: 'debuggers', namespace: 'shop' };
  const rules = [
    { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
    { apiGroups: [''], resources: ['pods/ephemeralcontainers'], verbs: ['patch'] },
  ];
  const roleRef = { apiGroup, kind: 'Role', name: 'debuggers' };
  world.cluster.apply(
    { apiVersion, kind: 'Role', metadata, rules },
    { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects: [{ apiGroup, kind: 'User', name }] },
  );
}

attack('S-f', 'can-i tells nothing of a pod that the cluster does not let the person see', async ({ open }) => {
  const world = await open({ policy: policyOf({ identity: '{ mode: impersonate, user: "slack:{userId}" }' }) });
  const pod = await world.pod('web-1');
  const { uid } = world.cluster.pod('shop', pod)?.metadata ?? {};
  const { text } = await world.ask(`can-i ${pod} ${HARMLESS} -- id`);
  expect(text).not.toContain(uid);
  expect(text).not.toContain('local-node');
});
