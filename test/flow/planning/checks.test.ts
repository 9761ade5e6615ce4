import { describe, expect, it } from 'vitest';
import { asUserId } from '../../../src/core/ids.ts';
import type { Identity } from '../../../src/core/policy/policy.ts';
import { anOrigin, aPolicy } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { textOf } from '../../support/plain-message.ts';
import { World } from '../support/world.ts';

const MAPPED = { [asUserId('U0JO')]: 'jo@example.com' };
const impersonate = (over: Partial<Identity> = {}): Identity =>
  ({ mode: 'impersonate', user: 'slack:{userId}', groups: [], users: {}, ...over }) as Identity;
const worldWith = (identity: Identity): World => new World({ policy: aPolicy({ identity }) });

const DENYING: readonly Identity[] = [
  { mode: 'serviceAccount', users: MAPPED },
  { mode: 'serviceAccount', users: {}, unmapped: 'deny' },
  impersonate({ users: MAPPED, unmapped: 'deny' }),
];

describe('people whom the policy does not map', () => {
  it.each(DENYING.flatMap((identity) => ['web-1', '--all', 'web-1 --dry-run'].map((words) => ({ identity, words }))))(
    'are refused before the cluster is asked anything: $identity, "$words"',
    async ({ identity, words }) => {
      const world = worldWith(identity);
      await world.say(words);
      expect((await world.run()).refusal?.code).toBe('identity_unmapped');
      expect(world.refusal).toContain('identity.users');
      expect(world.cluster.calls).toEqual([]);
    },
  );

  it.each(DENYING)('cannot ask what they may do, and whoami says so: %j', async (identity) => {
    const world = worldWith(identity);
    expect(textOf(await world.say('can-i web-1'))).toContain('does not map you to a cluster identity');
    expect(world.cluster.calls).toEqual([]);
    const who = JSON.stringify(await world.say('whoami'));
    expect(who).toContain('nobody: ');
    expect(who).not.toContain('slack:U0ROY');
  });

  it.each(DENYING.slice(0, 1))('are others than those whom it maps', async (identity) => {
    const world = worldWith(identity);
    await world.say('web-1', anOrigin({ requesterId: asUserId('U0JO') }));
    expect(world.cluster.launches).toHaveLength(1);
  });

  it.each([
    { mode: 'serviceAccount', users: {} },
    { mode: 'serviceAccount', users: MAPPED, unmapped: 'allow' },
    impersonate({ users: MAPPED }),
  ] satisfies Identity[])('may act where it says so, or maps nobody: %j', async (identity) => {
    const world = worldWith(identity);
    await world.say('web-1');
    expect(world.cluster.launches).toHaveLength(1);
  });

  it('are refused at the launch when the policy has changed meanwhile', async () => {
    const world = worldWith({ mode: 'serviceAccount', users: {} });
    const create = world.cluster.podSecurity.bind(world.cluster);
    world.cluster.podSecurity = () => {
      world.policy = aPolicy({ identity: { mode: 'serviceAccount', users: MAPPED } });
      return create();
    };
    await world.say('web-1');
    await settle();
    expect((await world.run()).refusal?.code).toBe('identity_unmapped');
    expect(world.cluster.launches).toEqual([]);
  });
});

describe('who may not get the pod', () => {
  const denied = { kind: 'denied', reason: '', missing: ['get pods'] } as const;
  const FACTS = /uid-1|node-a|\bweb\b(?!-)|pod not found/;

  function deniedWorld(): World {
    const world = worldWith(impersonate());
    world.cluster.allowed = denied;
    return world;
  }

  it.each(['can-i web-1', 'can-i web-9', 'can-i --all'])('learns nothing of it from "%s"', async (words) => {
    const world = deniedWorld();
    const said = JSON.stringify(await world.say(words));
    expect(said).toContain('may not get pods in shop');
    expect(said).not.toMatch(FACTS);
    expect(world.cluster.calls).toEqual(['access']);
  });

  it.each(['web-1', 'web-9', 'web-1 --dry-run', 'web-1 --target=nosuch', '--all'])(
    'learns nothing of it from the refusal of "%s"',
    async (words) => {
      const world = deniedWorld();
      await world.say(words);
      const { refusal, plan } = await world.run();
      expect(refusal?.code).toBe('access_denied');
      expect(plan).toBeUndefined();
      expect(world.refusal).toContain('may not get pods in shop');
      expect(world.refusal).not.toMatch(FACTS);
      expect(world.cluster.calls).toEqual(['access']);
    },
  );

  it('gets the same words for a pod that is there and for one that is not', async () => {
    const answers = [];
    for (const pod of ['web-1', 'web-9']) answers.push(JSON.stringify(await deniedWorld().say(`can-i ${pod}`)));
    expect(new Set(answers).size).toBe(1);
  });

  it('is asked about as all pods of the namespace for a batch, and about that pod for a run', async () => {
    const world = worldWith(impersonate());
    const asked: unknown[] = [];
    const access = world.cluster.access.bind(world.cluster);
    Object.assign(world.cluster, {
      access: (request: { namespace: string; podName?: string }) => {
        asked.push([request.namespace, request.podName]);
        return access();
      },
    });
    await world.say('can-i web-1');
    await world.say('can-i --all');
    expect(asked).toEqual([
      ['shop', 'web-1'],
      ['shop', undefined],
    ]);
  });
});
