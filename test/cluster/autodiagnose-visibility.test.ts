import { readFileSync, writeFileSync } from 'node:fs';
import { ApiException } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { table } from '../../scripts/generated.ts';
import { PROFILES, type Profile, securityContextOf, type UserAndGroup } from '../../src/core/container/profiles.ts';
import { Kube } from '../e2e/kube.ts';
import { Looks, podOf } from './autodiagnose-looks.ts';

const kubeconfigPath = process.env.KUBECONFIG ?? '';
const PAGE = new URL('../../docs/autodiagnose-visibility.md', import.meta.url);
const LEVELS = ['privileged', 'baseline', 'restricted'] as const;
type Level = (typeof LEVELS)[number];

/** Who looks: each profile as root, and *restricted* as our image's own user and as another. */
interface Viewer {
  readonly profile: Profile;
  readonly runAs: UserAndGroup;
}

const ROOT = { uid: 0, gid: 0 };
const STRANGER = { uid: 65532, gid: 65532 };
const TARGET_USER = { uid: 65532, gid: 0 };
const VIEWERS: readonly Viewer[] = [
  { profile: 'restricted', runAs: TARGET_USER },
  { profile: 'restricted', runAs: STRANGER },
  ...PROFILES.filter((profile) => profile !== 'restricted').map((profile) => ({ profile, runAs: ROOT })),
];

const TARGETS = {
  'that runs as 65532:0 without capabilities': {
    user: TARGET_USER,
    levels: LEVELS,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: TARGET_USER.uid,
      runAsGroup: TARGET_USER.gid,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    },
  },
  'that runs as root with default capabilities': {
    user: ROOT,
    levels: LEVELS.filter((level) => level !== 'restricted'),
    securityContext: { runAsUser: 0 },
  },
} as const;

describe.skipIf(kubeconfigPath === '')('what a look can see', () => {
  let kube: Kube;
  let looks: Looks;

  beforeAll(() => {
    const kubeconfig = readFileSync(kubeconfigPath, 'utf8');
    kube = new Kube(kubeconfig);
    looks = new Looks(kubeconfig);
  });
  afterAll(() => kube?.cleanUp());

  /** The sections that one viewer could not read; or that the API server refused the viewer. */
  async function blindSections(namespace: string, { profile, runAs }: Viewer): Promise<readonly string[] | 'refused'> {
    const securityContext = securityContextOf(profile, runAs);
    const env = { AUTODIAGNOSE_SAMPLE: '1' };
    try {
      const { sections } = await looks.look(namespace, 'web', {
        env,
        ...(securityContext && { securityContext: mutable(securityContext) }),
      });
      return sections.filter(({ state }) => state === 'not-readable').map(({ name }) => name);
    } catch (error) {
      if (error instanceof ApiException && error.code === 403) return 'refused';
      throw error;
    }
  }

  async function rowsOf(target: keyof typeof TARGETS, level: Level): Promise<readonly (readonly string[])[]> {
    const namespace = await kube.namespace('kdebug-sight', level);
    const securityContext = mutable(TARGETS[target].securityContext);
    await kube.pod(namespace, 'web', podOf({ image: 'localhost/distroless:1', securityContext }));
    const rows: (readonly string[])[] = [];
    for (const viewer of VIEWERS) {
      const blind = await blindSections(namespace, viewer);
      const cells =
        blind === 'refused' ? ['refused by Pod Security', ''] : [13 - blind.length, blind.join(', ') || 'nothing'];
      rows.push([level, `*${viewer.profile}*`, nameOf(viewer.runAs, TARGETS[target].user), ...cells.map(String)]);
    }
    return rows;
  }

  it('is what docs/autodiagnose-visibility.md says, by profile and Pod Security level', async () => {
    const parts: string[] = [];
    for (const [target, { levels }] of Object.entries(TARGETS)) {
      const rows = await Promise.all(levels.map((level) => rowsOf(target as keyof typeof TARGETS, level)));
      const head = ['Pod Security', 'profile', 'runs as', 'readable sections of 13', 'not readable'];
      parts.push(`## A target ${target}\n\n${table(head, rows.flat())}`);
    }
    const page = pageOf(parts);
    if (process.env.KDEBUG_WRITE_DOCS === '1') writeFileSync(PAGE, page);
    expect(readFileSync(PAGE, 'utf8')).toBe(page);
  });
});

const nameOf = ({ uid, gid }: UserAndGroup, target: UserAndGroup): string =>
  `${uid}:${gid}${uid === target.uid && gid === target.gid ? " (the target's own)" : ''}`;

/** A copy that the client's types take: they have no readonly lists. */
const mutable = (value: object): Record<string, unknown> => JSON.parse(JSON.stringify(value));

const pageOf = (parts: readonly string[]) => `# What autodiagnose can see

Each row is a run against a pod of a real cluster, with the target container named (\`--target\`). Rewrite the tables with
\`KDEBUG_WRITE_DOCS=1 npm run test:cluster -- test/cluster/autodiagnose-visibility.test.ts\`; without the variable the same test compares.

The kernel shows the files, environment, open files and cgroup of a process only to a process with SYS_PTRACE, or with the same uid *and* gid and
all of the target's capabilities. Where AppArmor or SELinux is on, both must have the same profile or label as well; a look under *sysadmin* needs neither. Everybody sees the list of processes, the sockets of the pod and the command lines. Without a target container
nothing of the target is visible, whatever the profile.

${parts.join('\n\n')}

## A target without room

A diagnosis uses the memory that the pod's limits leave. It needs about 4 MiB where its node has run the image lately, and 8 MiB where its program must be read from the disk first; as does the runtime that
starts it. If less is left, the kernel kills something: the runtime's first process, and the run ends as \`start-failed\` with the reason
\`RunContainerError\` (or \`StartError\`) and the finding \`no_room_to_start\`; or the application itself, if it is the largest. We saw both
on a pod with a limit of 100 MiB: with 8 MiB left the diagnosis succeeds, with 4 MiB on a node that has run it lately, with 1 MiB left it does not start, and a process of 97 MiB was
killed. If one container has no memory limit, the pod as a whole has none, and always has room.
CPU is similar: a diagnosis needs about 0.06 s, which takes 6 s if the pod may use 10 millicores.
`;
