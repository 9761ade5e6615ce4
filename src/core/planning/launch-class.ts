import { defined } from '../../lib/object.ts';
import { CLASS_FACTS, type ClassFact, type ClassReason } from '../container/class-facts.ts';
import type { SecurityContext } from '../container/ephemeral-container.ts';
import { type ImageClass, worseClass } from '../container/image-class.ts';
import type {
  ContainerSecurityContext,
  Pod,
  PodContainer,
  PodEphemeralContainer,
  PodSecurityContext,
} from '../container/pod.ts';
import { identityOfTarget, type UserAndGroup } from '../container/profiles.ts';
import { endOfDebugger } from '../container/status.ts';

export interface LaunchClass {
  readonly class: ImageClass;
  /**
   * The facts that raise the class to this, in the order of `CLASS_FACTS`; empty if the catalogue alone does. A tracer is named
   * whatever the class: rules decide on it by itself.
   */
  readonly reasons: readonly ClassReason[];
}

/** Everything that decides the class. */
export interface Launch {
  readonly pod: Pod;
  /** Absent: no target. */
  readonly targetName: string | undefined;
  /** The user that an earlier diagnosis found in the target's image: it may raise the class, never lower it. */
  readonly learnt: UserAndGroup | undefined;
  /** The profile's context, with user and group. */
  readonly securityContext: SecurityContext | undefined;
  /** The image's class in the catalogue. */
  readonly imageClass: ImageClass;
  /** The catalogue says that the image seizes its target. */
  readonly traces: boolean;
  /** The requester supplies a command, arguments or environment. */
  readonly ownWords: boolean;
  /** The container of the pod whose program runs a second time, with all its powers. */
  readonly copyOf?: PodContainer;
}

/**
 * The class of a launch (design, section 2), from the whole pod. `observe` can neither change the workload nor reach
 * beyond the pod; facts that make either possible raise the class. Assumes the worst user where the pod does not say
 * who a container runs as. Pure.
 */
export function classOfLaunch(launch: Launch): LaunchClass {
  const found = reasonsOf(launch);
  const worst = found.reduce<ImageClass>(
    (worse, { fact }) => worseClass(worse, CLASS_FACTS[fact].class),
    launch.imageClass,
  );
  return { class: worst, reasons: found.filter(({ fact }) => fact === 'tracer' || CLASS_FACTS[fact].class === worst) };
}

function reasonsOf(launch: Launch): readonly ClassReason[] {
  const { spec } = launch.pod;
  const { copyOf } = launch;
  const debug = userOfDebug(launch);
  const { containers, debuggers } = neighboursOf(launch);
  const seccomp = launch.securityContext?.seccompProfile?.type;
  const inherited = weaknessesOf({ ...spec.securityContext, ...copyOf?.securityContext, ...defined({ seccomp }) });
  const reachable = [...containers, ...debuggers].filter((neighbour) => mayReach(debug, neighbour));
  const facts: readonly (readonly [ClassFact, boolean])[] = [
    ['host-pid', spec.hostPID],
    ['host-network', spec.hostNetwork],
    ['host-ipc', spec.hostIPC],
    ['privileged', launch.securityContext?.privileged === true],
    ['tracer', launch.traces],
    ['own-words', launch.ownWords && !(isRestricted(launch.securityContext) && reachable.length === 0)],
  ];
  const found = [
    ...facts.filter(([, holds]) => holds).map(([fact]): ClassReason => ({ fact })),
    ...(launch.securityContext?.capabilities?.add ?? [])
      .filter((capability) => copyOf !== undefined || capability !== 'SYS_PTRACE')
      .map((detail): ClassReason => ({ fact: 'capabilities', detail })),
    ...inherited.map((detail): ClassReason => ({ fact: 'unconfined', detail })),
    ...(copyOf ? [...volumeReasons(copyOf), ...procReasons(copyOf)] : []),
    ...reachable.flatMap((each) => reasonsOfContainer(each, inherited)),
    ...rootReasons(launch, debug, containers),
  ];
  const order = Object.keys(CLASS_FACTS);
  return found.sort((a, b) => order.indexOf(a.fact) - order.indexOf(b.fact));
}

/** As in Pod Security *restricted*: no root, no capabilities, no privilege escalation. */
const isRestricted = (context: SecurityContext = {}): boolean =>
  context.privileged !== true &&
  context.runAsNonRoot === true &&
  context.allowPrivilegeEscalation === false &&
  context.capabilities?.drop?.includes('ALL') === true &&
  (context.capabilities.add ?? []).length === 0;

interface DebugUser {
  /** Absent: the image decides, unknown to us. */
  readonly uid?: number;
  readonly mayBeRoot: boolean;
}

function userOfDebug({ pod, securityContext = {}, ownWords }: Launch): DebugUser {
  const ofPod = pod.spec.securityContext;
  const uid = securityContext.runAsUser ?? ofPod.runAsUser;
  // The kubelet refuses to start root where the pod asks for non-root.
  const asksNonRoot = securityContext.runAsNonRoot ?? ofPod.runAsNonRoot ?? false;
  // A free command may gain root through a setuid program of its image, unless the context forbids it.
  const mayBecomeRoot = ownWords && securityContext.allowPrivilegeEscalation !== false;
  return {
    ...defined({ uid }),
    mayBeRoot: uid === 0 || mayBecomeRoot || (uid === undefined && !asksNonRoot),
  };
}

/** A container whose processes the debug container sees. */
interface Neighbour {
  readonly name: string;
  readonly securityContext: ContainerSecurityContext;
  readonly weaknesses: readonly string[];
  readonly sharedVolumes: NonNullable<PodContainer['sharedVolumes']>;
  /**
   * Absent: the pod does not say. A learnt user is no proof, because a pod can forge a report: it can only raise the
   * class.
   */
  readonly uid?: number;
  /** Something indicates that it does not run as root. */
  readonly isNonRoot: boolean;
}

/**
 * The target; with shared processes (the pod's or the node's) every container. Also earlier debug containers that have
 * not verifiably ended.
 */
function neighboursOf({ pod, targetName, learnt }: Launch) {
  const { spec } = pod;
  const sharesAll = spec.shareProcessNamespace || spec.hostPID;
  const containers = [
    ...spec.containers.filter(({ name }) => sharesAll || name === targetName),
    ...spec.initContainers.filter((each) => each.name === targetName || (sharesAll && !hasRun(pod, each))),
  ];
  const debuggers = spec.ephemeralContainers.filter(
    ({ name, targetContainerName }) =>
      endOfDebugger(pod, name) === undefined &&
      (sharesAll || (targetName !== undefined && targetContainerName === targetName)),
  );
  return {
    containers: containers.map((each) => neighbour(pod, each, each.name === targetName ? learnt : undefined)),
    debuggers: debuggers.map((each) => neighbour(pod, each, undefined)),
  };
}

function neighbour(
  pod: Pod,
  { name, securityContext = {}, sharedVolumes = [] }: PodContainer | PodEphemeralContainer,
  learnt: UserAndGroup | undefined,
): Neighbour {
  const uid = identityOfTarget(pod, { name, securityContext })?.uid;
  const likelyUid = uid ?? learnt?.uid;
  const asksNonRoot = securityContext.runAsNonRoot ?? pod.spec.securityContext.runAsNonRoot ?? false;
  const isNonRoot = asksNonRoot || (likelyUid !== undefined && likelyUid !== 0);
  const weaknesses = weaknessesOf({ ...pod.spec.securityContext, ...securityContext });
  return { name, securityContext, weaknesses, sharedVolumes, ...defined({ uid }), isNonRoot };
}

/** The SELinux types and the profiles that Pod Security *baseline* allows; it allows no user and no role. */
const ORDINARY_SELINUX_TYPES: ReadonlySet<string> = new Set([
  '',
  'container_t',
  'container_init_t',
  'container_kvm_t',
  'container_engine_t',
]);
const ORDINARY_PROFILES: ReadonlySet<string> = new Set(['RuntimeDefault', 'Localhost']);

/**
 * The settings that confine a container less than usual. Absent settings are usual: the runtime and the kubelet decide
 * them.
 */
function weaknessesOf({ seLinux, appArmor, seccomp }: PodSecurityContext): readonly string[] {
  const { type = '', user = '', role = '' } = seLinux ?? {};
  return [
    ...[ORDINARY_SELINUX_TYPES.has(type) ? '' : type, user, role]
      .filter((label) => label !== '')
      .map((label) => `SELinux ${label}`),
    ...Object.entries(defined({ AppArmor: appArmor, seccomp }))
      .filter(([, profile]) => !ORDINARY_PROFILES.has(profile))
      .map(([wall, profile]) => `${wall} ${profile}`),
  ];
}

/**
 * An ephemeral container can start during the pod's setup, beside an init container that is running or still to run.
 */
const hasRun = ({ status }: Pod, { name, restartPolicy }: PodContainer): boolean =>
  restartPolicy !== 'Always' &&
  status.initContainerStatuses.some((each) => each.name === name && each.terminated?.exitCode === 0);

/**
 * The debug container may read, signal or take over another's processes as root, or as the same user (cluster facts,
 * "What a diagnosis can see of its target"). An unknown user may be the same.
 */
function mayReach({ uid, mayBeRoot }: DebugUser, other: Neighbour): boolean {
  return mayBeRoot || uid === undefined || other.uid === undefined || other.uid === uid;
}

/** A runtime's default capabilities, and SYS_PTRACE, which reaches only processes that are visible anyway. */
const ORDINARY_CAPABILITIES: ReadonlySet<string> = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'NET_RAW',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
  'SYS_PTRACE',
]);

/** The power that anyone in control of the container's processes gains, beyond what the debug container inherits. */
function reasonsOfContainer(neighbour: Neighbour, inherited: readonly string[]): readonly ClassReason[] {
  const { name, securityContext, weaknesses } = neighbour;
  const { privileged, capabilities = [] } = securityContext;
  return [
    ...volumeReasons(neighbour),
    ...(privileged ? [reason('privileged-container', name)] : []),
    ...capabilities
      .filter((capability) => !ORDINARY_CAPABILITIES.has(capability.replace(/^CAP_/, '')))
      .map((capability) => reason('capable-container', name, capability)),
    ...procReasons(neighbour),
    ...weaknesses
      .filter((weakness) => !inherited.includes(weakness))
      .map((weakness) => reason('unconfined-container', name, weakness)),
  ];
}

const volumeReasons = ({ name, sharedVolumes = [] }: Pick<PodContainer, 'name' | 'sharedVolumes'>) =>
  sharedVolumes.map((volume) => reason('shared-volume', name, `${volume.kind} ${volume.name}`));

const procReasons = ({ name, securityContext }: Pick<PodContainer, 'name' | 'securityContext'>) =>
  securityContext.unmaskedProc ? [reason('unmasked-proc', name)] : [];

/**
 * Root beside a container that does not run as root, or, with no container in sight, in a pod that asks for non-root.
 */
function rootReasons(
  { pod }: Launch,
  { mayBeRoot }: DebugUser,
  containers: readonly Neighbour[],
): readonly ClassReason[] {
  if (!mayBeRoot) return [];
  const { runAsNonRoot = false, runAsUser = 0 } = pod.spec.securityContext;
  if (containers.length === 0) return runAsNonRoot || runAsUser !== 0 ? [{ fact: 'root-in-non-root' }] : [];
  return containers.filter(({ isNonRoot }) => isNonRoot).map(({ name }) => reason('root-in-non-root', name));
}

const reason = (fact: ClassFact, container: string, detail?: string): ClassReason => ({
  fact,
  container,
  ...defined({ detail }),
});
