import { CLASS_FACTS } from '../src/core/container/class-facts.ts';
import type { ContainerSecurityContext, Pod, PodContainer } from '../src/core/container/pod.ts';
import { NOBODY, type Profile, securityContextOf, type UserAndGroup } from '../src/core/container/profiles.ts';
import { classOfLaunch } from '../src/core/planning/launch-class.ts';
import { type Generated, table } from './generated.ts';

/** One property of a pod whose target is the container `app`. */
interface Property {
  readonly words: string;
  readonly app?: Partial<PodContainer>;
  readonly spec?: Partial<Pod['spec']>;
  readonly target?: null;
}

const runs = (securityContext: ContainerSecurityContext): Partial<PodContainer> => ({ securityContext });
const SELF: UserAndGroup = { uid: 1000, gid: 1000 };
const sidecar: PodContainer = { name: 'sidecar', image: '', securityContext: { runAsUser: 2000 } };
const app: PodContainer = { name: 'app', image: '', securityContext: {} };

const PROPERTIES: readonly Property[] = [
  { words: 'nothing special; the pod does not say who runs' },
  { words: 'the target runs as root', app: runs({ runAsUser: 0 }) },
  { words: 'the target runs as 1000', app: runs({ runAsUser: 1000 }) },
  { words: 'the target says `runAsNonRoot`, and no user', app: runs({ runAsNonRoot: true }) },
  { words: '`--no-target`', target: null },
  {
    words: '`--no-target`, the pod says `runAsUser: 1000`',
    target: null,
    spec: { securityContext: { runAsUser: 1000 } },
  },
  {
    words: 'shared processes, beside a sidecar as 2000',
    app: runs({ runAsUser: 0 }),
    spec: { shareProcessNamespace: true, containers: [app, sidecar] },
  },
  { words: '`hostPID`', spec: { hostPID: true } },
  { words: '`hostNetwork`', spec: { hostNetwork: true } },
  { words: '`hostIPC`', spec: { hostIPC: true } },
  {
    words: 'the target, as 1000, mounts a `hostPath` (or `nfs`, `iscsi`, … or a kind that kdebug does not know)',
    app: { ...runs({ runAsUser: 1000 }), sharedVolumes: [{ name: 'host', kind: 'hostPath' }] },
  },
  { words: 'the target, as 1000, is `privileged`', app: runs({ runAsUser: 1000, privileged: true }) },
  { words: 'the target, as 1000, adds SYS_ADMIN', app: runs({ runAsUser: 1000, capabilities: ['SYS_ADMIN'] }) },
  { words: 'the target, as 1000, has `procMount: Unmasked`', app: runs({ runAsUser: 1000, unmaskedProc: true }) },
  {
    words: 'the target, as 1000, has the SELinux type `spc_t`',
    app: runs({ runAsUser: 1000, seLinux: { type: 'spc_t' } }),
  },
  {
    words: 'the target, as 1000, has AppArmor `Unconfined`',
    app: runs({ runAsUser: 1000, appArmor: 'Unconfined' }),
  },
  { words: 'the pod has the SELinux type `spc_t`', spec: { securityContext: { seLinux: { type: 'spc_t' } } } },
  { words: 'the pod has AppArmor `Unconfined`', spec: { securityContext: { appArmor: 'Unconfined' } } },
  { words: 'the pod has seccomp `Unconfined`', spec: { securityContext: { seccomp: 'Unconfined' } } },
];

const PROFILES: readonly (readonly [string, Profile, UserAndGroup | undefined])[] = [
  ['*restricted* as 65532 (a free command as 65533)', 'restricted', NOBODY],
  ['*restricted* as 1000', 'restricted', SELF],
  ['*baseline*', 'baseline', undefined],
  ['*general*', 'general', { uid: 0, gid: 0 }],
  ['*netadmin*', 'netadmin', { uid: 0, gid: 0 }],
  ['*sysadmin*', 'sysadmin', { uid: 0, gid: 0 }],
];

function cell({ app: parts, spec, target }: Property, profile: Profile, runAs: UserAndGroup | undefined): string {
  const pod = podOf({ ...app, ...parts }, spec);
  const [own, free] = [false, true].map((ownWords) =>
    classOfLaunch({
      pod,
      targetName: target === null ? undefined : 'app',
      learnt: undefined,
      securityContext: securityContextOf(profile, runAs),
      imageClass: 'observe',
      traces: false,
      ownWords,
    }),
  );
  if (!own || !free) return '';
  const facts = [...new Set([...own.reasons, ...free.reasons].map(({ fact }) => `\`${fact}\``))].join(', ');
  const classes = own.class === free.class ? `**${own.class}**` : `**${own.class}**, free command **${free.class}**`;
  return facts === '' ? classes : `${classes}: ${facts}`;
}

const podOf = (target: PodContainer, spec: Property['spec']): Pod => ({
  metadata: {
    name: '',
    namespace: '',
    uid: '',
    resourceVersion: '',
    creationTimestamp: '',
    labels: {},
    annotations: {},
    ownerReferences: [],
  },
  spec: {
    shareProcessNamespace: false,
    hostPID: false,
    hostIPC: false,
    hostNetwork: false,
    securityContext: {},
    initContainers: [],
    ephemeralContainers: [],
    ...spec,
    containers: [target, ...(spec?.containers?.slice(1) ?? [])],
  },
  status: { phase: 'Running', containerStatuses: [], initContainerStatuses: [], ephemeralContainerStatuses: [] },
});

/** What each pod property, profile and kind of image comes to, by the function that judges every launch. */
export const classesPage: Generated = {
  path: 'docs/classes.md',
  text: () => `# The class of a launch

Made from \`src/core/container/class-facts.ts\` and \`launch-class.ts\` by \`npm run gen\`: change it there. One function judges every launch from the whole pod:

- **observe** reads. It cannot change the workload, and cannot reach beyond the pod. A free command in it still reaches what all containers of a pod
  share: its network with \`localhost\`, and \`/dev/shm\`.
- **intrusive** may slow, pause or change the workload.
- **elevated** has more power than its target, or a way to the node or to other pods.

The class is never lower than that of the image in the catalogue. These facts of the pod, the profile and the command raise it. The card, \`can-i\`, \`explain\`, a
denial and the audit record name them, and the plan hash covers them.

${table(
  ['fact', 'raises to', 'what it says', 'why'],
  Object.entries(CLASS_FACTS).map(([fact, text]) => [`\`${fact}\``, text.class, text.words, text.why]),
)}

## Pod × profile × kind of image

The image here is \`observe\` in the catalogue. The first class applies if it runs its own command (as a diagnostic image does), the second, if different, to
a free command (words after \`--\`, \`--env\`, \`--arguments-only\`).

${table(
  ['the pod', ...PROFILES.map(([name]) => name)],
  PROPERTIES.map((property) => [
    property.words,
    ...PROFILES.map(([, profile, runAs]) => cell(property, profile, runAs)),
  ]),
)}

## A tracer

An image with \`traces: true\` seizes its target by ptrace, as gdb and strace do. The kernel then lets it do everything to the target:

- **read** all memory, and so each password, key, token and customer in it; all registers; each signal and system call.
- **write** all memory and registers: change data, run code of its own as the target, send it signals or keep them from it, hold it or end it.

It needs no more for that than the target's own user, also under Pod Security *restricted*, so no profile holds it back; only a node with Yama, or a
program that made itself unreadable, does. Our image [blackbox](blackbox.md) does little of it.
It reads registers and memory to find out where the target is, and prints of them the instruction and the stack pointer, the address of a fault, and names of functions, threads and
files: no other register, no arguments, no environment and no memory. It writes no memory, and registers in two cases alone: it sets a container's first
process back before a breakpoint (\`int3\`) or a call that seccomp refused, so that it meets it again without a tracer.

A foreign image with the same rights could do all of it, and a report would not show it. kdebug cannot see what an image does. So the author of the policy says it, and:

- The class is at least *intrusive*, whatever the alias says, and the policy may not call it *observe*. So no alert starts one.
- A rule allows it only if the rule itself says \`traces: true\`. Without that the answer is \`tracer_not_allowed\`, also where the rule has the class: for a rerun, for a button, and for a batch.
- All aliases of one image must agree on it, so a second name is no way around.
- The card, \`can-i\`, \`explain\`, \`images\` and the audit record name it, also beside a higher class.

Say it of each image that has gdb, strace or the like in its command. An image with \`command: allowed\` that only *holds* such a tool is intrusive by its free command
already; with \`traces: true\` it needs the right as well. \`stacks\` and \`profile\` read memory without seizing anybody.

The tracer that starts a [second run](once-more.md#the-tracer) traces that run alone, a process of its own with the same rights. So it needs no \`traces: true\` of the rule, but the rights of \`once-more\`, which are
higher: *elevated*, and somebody approves. It never traces a container of the pod.

## How it is judged

- **In reach** is every container whose processes the debug container sees (its target; with shared processes or \`hostPID\` every container of the pod,
  also with \`--no-target\`, and every init container that has not finished; earlier debug containers that have not ended) and may act on: root on
  all, another user on its own. With a free command another user may become root, unless it runs *restricted*: the image may hold a program that allows it.
- **The user of a container** comes from \`runAsUser\` and from the kubelet's status (\`user.linux\`); \`runAsNonRoot\` says that it is not root. Knowledge from an earlier
  diagnosis can only raise the class, because a pod can make a report say anything. Without any of these, the user counts as the
  debug container's own. Only \`root-in-non-root\` needs a sign: most images run as root, and without one every diagnosis would wait for an approval.
  Kubernetes 1.31 and newer report the user if the runtime does; otherwise set \`runAsNonRoot\` or \`runAsUser\` in the pod. A free command is intrusive there in any case.
- **Volumes**: \`emptyDir\`, \`configMap\`, \`secret\`, \`projected\`, \`downwardAPI\`, \`csi\`, \`ephemeral\`, \`image\` and a claim (\`persistentVolumeClaim\`) count as the
  workload's own. Every other kind, also an unknown one, reaches beyond the pod. kdebug cannot tell whether other pods mount the same claim or inline \`csi\` volume:
  the pod does not say.
- **Capabilities** that a runtime gives every container, and SYS_PTRACE, raise nothing: they reach no further than the processes in sight.
- **Confinement**: what Pod Security *baseline* forbids is weaker than usual: an SELinux type other than \`container_t\`, \`container_init_t\`, \`container_kvm_t\` and
  \`container_engine_t\`, any SELinux user or role, and \`Unconfined\` of AppArmor (the field or the annotation) and of seccomp. What the pod sets for all, the debug
  container inherits; only the profile *restricted* brings its own seccomp. What one container sets for itself counts where it is in reach, as a privileged
  container does. What a pod does not set raises nothing: the node decides it.
- The profile \`auto\` picks the first profile that a rule allows. For a free command it prefers a profile that needs an approval and sees the target over one that
  sees nothing.
`,
};
