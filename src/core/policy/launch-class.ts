import { defined } from '../../lib/object.ts';
import type { SecurityContext } from '../container/ephemeral-container.ts';
import type { ContainerSecurityContext, Pod, PodContainer, PodEphemeralContainer } from '../container/pod.ts';
import { identityOfTarget, type UserAndGroup } from '../container/profiles.ts';
import { CLASS_FACTS, type ClassFact, type ClassReason } from './class-facts.ts';
import { type ImageClass, worseClass } from './policy.ts';

export interface LaunchClass {
  readonly class: ImageClass;
  /** The facts that make it no milder, in the order of `CLASS_FACTS`; empty when only the catalogue does. */
  readonly reasons: readonly ClassReason[];
}

/** All that the class depends on. */
export interface Launch {
  readonly pod: Pod;
  /** Absent: no target. */
  readonly targetName: string | undefined;
  /** What an earlier diagnosis learnt of the target's image: it may raise the class, and never makes it milder. */
  readonly learnt: UserAndGroup | undefined;
  /** What the profile sets, with user and group. */
  readonly securityContext: SecurityContext | undefined;
  /** The class that the catalogue gives the image. */
  readonly imageClass: ImageClass;
  /** The requester gives a command, arguments or environment of their own. */
  readonly ownWords: boolean;
}

/**
 * The class of a launch (design, section 2), from the whole pod. `observe` cannot change the workload and cannot reach beyond the
 * pod; whatever could is raised, with the facts that did it. Where the pod does not tell who a container runs as, it may be anybody:
 * the worse case counts. Pure.
 */
export function classOfLaunch(launch: Launch): LaunchClass {
  const found = reasonsOf(launch);
  const worst = found.reduce<ImageClass>(
    (worse, { fact }) => worseClass(worse, CLASS_FACTS[fact].class),
    launch.imageClass,
  );
  return { class: worst, reasons: found.filter(({ fact }) => CLASS_FACTS[fact].class === worst) };
}

function reasonsOf(launch: Launch): readonly ClassReason[] {
  const { spec } = launch.pod;
  const debug = userOfDebug(launch);
  const { containers, debuggers } = neighboursOf(launch);
  const reachable = [...containers, ...debuggers].filter((neighbour) => mayReach(debug, neighbour));
  const facts: readonly (readonly [ClassFact, boolean])[] = [
    ['host-pid', spec.hostPID],
    ['host-network', spec.hostNetwork],
    ['host-ipc', spec.hostIPC],
    ['privileged', launch.securityContext?.privileged === true],
    ['own-words', launch.ownWords && !(isRestricted(launch.securityContext) && reachable.length === 0)],
  ];
  const found = [
    ...facts.filter(([, holds]) => holds).map(([fact]): ClassReason => ({ fact })),
    ...(launch.securityContext?.capabilities?.add ?? [])
      .filter((capability) => capability !== 'SYS_PTRACE')
      .map((detail): ClassReason => ({ fact: 'capabilities', detail })),
    ...reachable.flatMap(reasonsOfContainer),
    ...rootReasons(launch, debug, containers),
  ];
  const order = Object.keys(CLASS_FACTS);
  return found.sort((a, b) => order.indexOf(a.fact) - order.indexOf(b.fact));
}

/** As Pod Security *restricted* has it: no root, no capability, and no way to more. */
const isRestricted = (context: SecurityContext = {}): boolean =>
  context.privileged !== true &&
  context.runAsNonRoot === true &&
  context.allowPrivilegeEscalation === false &&
  context.capabilities?.drop?.includes('ALL') === true &&
  (context.capabilities.add ?? []).length === 0;

/** Who the debug container runs as. */
interface DebugUser {
  /** Absent: the image's user, which is not known. */
  readonly uid?: number;
  readonly mayBeRoot: boolean;
}

function userOfDebug({ pod, securityContext = {}, ownWords }: Launch): DebugUser {
  const ofPod = pod.spec.securityContext;
  const uid = securityContext.runAsUser ?? ofPod.runAsUser;
  // The kubelet starts no root where the pod asks for non-root.
  const asksNonRoot = securityContext.runAsNonRoot ?? ofPod.runAsNonRoot ?? false;
  // A free command may call a program of its image that makes it root (setuid), unless that is switched off.
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
  readonly sharedVolumes: NonNullable<PodContainer['sharedVolumes']>;
  /** Absent: the pod does not tell. What was learnt is no proof: a pod can make a report say it, and so it only raises. */
  readonly uid?: number;
  /** Some sign says that it does not run as root. */
  readonly isNonRoot: boolean;
}

/**
 * With shared processes (the pod's own or the node's) every container; else the target. Beside them the debug containers that
 * were added before and are not known to have ended.
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
      !hasEnded(pod, name) && (sharesAll || (targetName !== undefined && targetContainerName === targetName)),
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
  return { name, securityContext, sharedVolumes, ...defined({ uid }), isNonRoot };
}

/** An ephemeral container starts while the pod is still being set up, too, beside an init container that runs or is yet to run. */
const hasRun = ({ status }: Pod, { name, restartPolicy }: PodContainer): boolean =>
  restartPolicy !== 'Always' &&
  status.initContainerStatuses.some((each) => each.name === name && each.terminated?.exitCode === 0);

const hasEnded = ({ status }: Pod, name: string): boolean =>
  status.ephemeralContainerStatuses.some((each) => each.name === name && each.terminated !== undefined);

/**
 * Whether the debug container may read, signal or take over the processes of another: root may, and so may the same user
 * (cluster facts, "What a diagnosis can see of its target"). An unknown user may be the same.
 */
function mayReach({ uid, mayBeRoot }: DebugUser, other: Neighbour): boolean {
  return mayBeRoot || uid === undefined || other.uid === undefined || other.uid === uid;
}

/** What a runtime gives every container, and SYS_PTRACE, which reaches no further than the processes that are seen anyway. */
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

/** Power that whoever reaches the container's processes can take from it. */
function reasonsOfContainer({ name, securityContext, sharedVolumes }: Neighbour): readonly ClassReason[] {
  const { privileged, capabilities = [], unmaskedProc } = securityContext;
  return [
    ...sharedVolumes.map((volume) => reason('shared-volume', name, `${volume.kind} ${volume.name}`)),
    ...(privileged ? [reason('privileged-container', name)] : []),
    ...capabilities
      .filter((capability) => !ORDINARY_CAPABILITIES.has(capability.replace(/^CAP_/, '')))
      .map((capability) => reason('capable-container', name, capability)),
    ...(unmaskedProc ? [reason('unmasked-proc', name)] : []),
  ];
}

/** Root beside a container that does not run as root; without a container in sight, in a pod that asks for non-root. */
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
