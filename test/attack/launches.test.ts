import { expect } from 'vitest';
import { attack } from './support/attack.ts';
import type { AttackWorld } from './support/world.ts';

const OPS = { channel: 'C0OPS' };
const app = (more: object = {}) => [{ name: 'app', image: 'nginx', ...more }];

/** In C0OPS only an elevated launch needs an approval; an ordinary pod shows that nothing else is in the way. */
async function onlyElevatedIsStopped(world: AttackWorld): Promise<void> {
  const plain = await world.pod('plain');
  expect(await world.ask(`${plain} --image=debian --profile=general -- id`, OPS)).toMatchObject({ kind: 'ran' });
}

const HOST = [{ name: 'host', hostPath: { path: '/' } }];
const MOUNT = [{ name: 'host', mountPath: '/host' }];
const POWERFUL = [
  [
    'hostPID',
    { hostPID: true },
    ['--profile=general', '--profile=baseline', '--profile=restricted', '--profile=restricted --no-target'],
  ],
  ['hostIPC', { hostIPC: true }, ['--profile=baseline --no-target']],
  ['hostNetwork', { hostNetwork: true }, ['--profile=baseline --no-target', '--profile=restricted --no-target']],
  ['hostPath', { volumes: HOST, containers: app({ volumeMounts: MOUNT }) }, ['--profile=general', '']],
  ['privileged', { containers: app({ securityContext: { privileged: true } }) }, ['--profile=general']],
  [
    'capable',
    { containers: app({ securityContext: { capabilities: { add: ['SYS_ADMIN'] } } }) },
    ['--profile=general'],
  ],
  [
    'unmasked',
    { hostUsers: false, containers: app({ securityContext: { procMount: 'Unmasked' } }) },
    ['--profile=general'],
  ],
] as const;

for (const [property, spec, flags] of POWERFUL)
  attack(
    2,
    `a pod with ${property} makes a launch elevated that an ordinary pod would not`,
    async ({ open, nothingLaunched }) => {
      const world = await open();
      await onlyElevatedIsStopped(world);
      const pod = await world.pod(`agent-${property.toLowerCase()}`, spec as object);
      for (const words of flags) await world.ask(`${pod} --image=debian ${words} -- id`, OPS);
      nothingLaunched(world, pod);
    },
  );

attack(2, 'the card and can-i name the host namespace that makes a launch elevated', async ({ open }) => {
  const world = await open();
  const pod = await world.pod('agent', { hostPID: true });
  const words = `${pod} --image=debugger --profile=sysadmin -- id`;
  expect(await world.ask(words)).toMatchObject({ kind: 'card', text: expect.stringContaining('hostPID') });
  expect(await world.ask(`can-i ${words}`)).toMatchObject({ text: expect.stringContaining('hostPID') });
});

const SHARED = {
  shareProcessNamespace: true,
  containers: [
    { name: 'app', image: 'nginx', securityContext: { runAsNonRoot: true, runAsUser: 1000 } },
    { name: 'sidecar', image: 'nginx' },
  ],
};

attack(
  5,
  'root beside a non-root container is elevated, whichever target is named, if any',
  async ({ open, nothingLaunched }) => {
    const world = await open();
    await onlyElevatedIsStopped(world);
    const shared = await world.pod('shared', SHARED);
    // What the review saw refused, and what went around it.
    for (const target of ['--target=app', '--no-target', '--target=sidecar'])
      await world.ask(`${shared} ${target} --image=debian --profile=general -- id`, OPS);
    nothingLaunched(world, shared);
  },
);

attack(5, 'runAsUser alone says that a container is not root', async ({ open, nothingLaunched }) => {
  const world = await open();
  await onlyElevatedIsStopped(world);
  const byContainer = await world.pod('uid-container', { containers: app({ securityContext: { runAsUser: 1000 } }) });
  await world.ask(`${byContainer} --image=debian --profile=general -- id`, OPS);
  // Where the pod says it, a debug container without a user of its own runs as that user, too: then root must be asked for.
  const byPod = await world.pod('uid-pod', { securityContext: { runAsUser: 1000 } });
  await world.ask(`${byPod} --image=debian --no-target -- id`, OPS);
  const root = world.containersOf(byPod).filter(({ securityContext }) => securityContext?.runAsUser === 0);
  expect(root).toEqual([]);
  nothingLaunched(world, byContainer);
});

attack(7, 'a free command that sees its target is more than observe', async ({ open, nothingLaunched }) => {
  const world = await open();
  const [unseen, seen] = [await world.pod('unseen'), await world.pod('seen')];
  const restricted = `${unseen} --image=debian --no-target --profile=restricted -- id`;
  expect(await world.ask(restricted), 'the control').toMatchObject({ kind: 'ran' });
  const answers: string[] = [];
  for (const profile of ['', '--profile=general', '--profile=baseline', '--profile=baseline --no-target'])
    answers.push((await world.ask(`${seen} --image=debian ${profile} -- cat /proc/1/environ`)).kind);
  nothingLaunched(world, seen);
  expect(answers).toEqual(['card', 'card', 'card', 'card']);
});

attack(
  7,
  'restricted as the target itself sees the target, and is more than observe',
  async ({ open, nothingLaunched }) => {
    const world = await open();
    const securityContext = { runAsUser: 1000, runAsGroup: 1000, runAsNonRoot: true };
    const pod = await world.pod('own-user', { containers: app({ securityContext }) });
    const answered = await world.ask(`${pod} --image=debian -- cat /proc/1/environ`);
    nothingLaunched(world, pod);
    expect(answered).toMatchObject({ kind: 'card' });
  },
);
