import { canonicalJson } from '../hash.ts';
import type { SecurityContext } from './ephemeral-container.ts';
import type { ContainerStatus, Pod, PodContainer, PodSecurityLevel } from './pod.ts';

/** The debug profiles, as `kubectl debug` names them (kubectl pkg/cmd/debug/profiles.go). */
export const PROFILES = ['general', 'baseline', 'restricted', 'netadmin', 'sysadmin'] as const;
export type Profile = (typeof PROFILES)[number];

/** What may be asked for: a profile, or `auto` (the least power that sees the target; design, section 2). */
export type ProfileName = Profile | 'auto';

/** A numeric user and group, as a container runs with. */
export interface UserAndGroup {
  readonly uid: number;
  readonly gid: number;
}

/** Who a *restricted* container is when nothing else is known: the customary "nonroot". */
export const NOBODY: UserAndGroup = { uid: 65532, gid: 65532 };

/**
 * The same for a free command. It may go on for long, and must be another user than a diagnosis that comes later beside it: the same
 * user can write into its output, and so make up its report, or stop it.
 */
export const NOBODY_OF_FREE_COMMANDS: UserAndGroup = { uid: 65533, gid: 65533 };

/** What each profile sets, field for field what kubectl sets; `undefined` where kubectl removes the context. */
const CONTEXTS: Readonly<Record<Profile, SecurityContext | undefined>> = {
  general: { capabilities: { add: ['SYS_PTRACE'] } },
  baseline: undefined,
  restricted: {
    runAsNonRoot: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  },
  netadmin: { capabilities: { add: ['NET_ADMIN', 'NET_RAW'] } },
  sysadmin: { privileged: true },
};

/**
 * The security context of a profile, with the user and group filled in when given. kubectl never fills them in: an image
 * whose user is root then never starts under *restricted* (kubernetes issue 115671), and added capabilities mean nothing
 * for a user other than root (kubectl issue 1650).
 */
export function securityContextOf(profile: Profile, runAs?: UserAndGroup): SecurityContext | undefined {
  const context = CONTEXTS[profile];
  if (!runAs) return context;
  return { ...context, runAsUser: runAs.uid, runAsGroup: runAs.gid };
}

/** What `auto` knows of the place when it chooses. */
export interface ProfileChoice {
  /** Undefined: no target, or a user and group that nobody told us. */
  readonly target: TargetIdentity | undefined;
  /** The pod asks for non-root: a container that would run as root is never started by the kubelet. */
  readonly runAsNonRoot: boolean;
  /** Whom *restricted* runs as where it cannot be the target. */
  readonly nobody: UserAndGroup;
  /** The namespace's Pod Security level: what it would refuse is not tried. */
  readonly level: PodSecurityLevel;
  /** Whether a rule allows this profile, as that user, here without an approval. */
  readonly allowed: (candidate: ChosenProfile) => boolean;
}

/** Whom a target runs as, and how that is known. */
export interface TargetIdentity extends UserAndGroup {
  /** Of the user: its pod's spec, the kubelet's status, or a report that an earlier diagnosis gave. */
  readonly from: 'spec' | 'status' | 'learnt';
}

export interface ChosenProfile {
  readonly profile: Profile;
  readonly runAs: UserAndGroup;
}

const ROOT: UserAndGroup = { uid: 0, gid: 0 };

/** Pod Security Standards: *general* adds SYS_PTRACE, which *baseline* refuses by name. */
const ADMITTED: Readonly<Record<PodSecurityLevel, readonly Profile[]>> = {
  privileged: ['general', 'baseline', 'restricted', 'netadmin', 'sysadmin'],
  baseline: ['baseline', 'restricted'],
  restricted: ['restricted'],
};

/** Whether Pod Security Admission would let a container of this profile in. */
export const admits = (level: PodSecurityLevel, profile: Profile): boolean => ADMITTED[level].includes(profile);

/**
 * The least power that sees the target, is admitted, allowed and starts; never *netadmin* or *sysadmin*.
 * Order by experiment (cluster facts, "What a diagnosis can see of its target"): the target's own uid **and** gid under
 * *restricted* see its files, environment and cgroup without any capability. One that was only learnt comes after *general*, which
 * sees the target whoever it runs as: what a pod made a report say never blinds where the rules allow to see. Undefined: nothing
 * that the rules allow would start here.
 */
export function chooseProfile(choice: ProfileChoice): ChosenProfile | undefined {
  const { target, runAsNonRoot } = choice;
  const asTarget = target && target.uid !== 0 && restrictedAs(target);
  const isLearnt = target?.from === 'learnt';
  const candidates: (ChosenProfile | false | undefined)[] = [
    !isLearnt && asTarget,
    !runAsNonRoot && { profile: 'general', runAs: ROOT },
    asTarget,
    !runAsNonRoot && { profile: 'baseline', runAs: ROOT },
    restrictedAs(choice.nobody),
  ];
  return candidates
    .filter((candidate): candidate is ChosenProfile => Boolean(candidate))
    .find((candidate) => admits(choice.level, candidate.profile) && choice.allowed(candidate));
}

/** What of a container tells who it runs as. */
type AnyUser = Pick<PodContainer, 'name' | 'securityContext'>;

const restrictedAs = ({ uid, gid }: UserAndGroup): ChosenProfile => ({ profile: 'restricted', runAs: { uid, gid } });

/**
 * The target's user and group: from its container's or pod's security context, else from its status (`user.linux`), else what an
 * earlier diagnosis `learnt` of its kind. A user without a group runs with the group of the passwd file of its image, which
 * only the latter two know; else with group 0.
 */
export function identityOfTarget(pod: Pod, container: AnyUser, learnt?: UserAndGroup): TargetIdentity | undefined {
  const seen = statusOfTarget(pod, container.name)?.user;
  const known = seen ?? learnt;
  const declared = declaredUser(pod, container);
  const uid = declared ?? known?.uid;
  if (uid === undefined) return undefined;
  const group = container.securityContext.runAsGroup ?? pod.spec.securityContext.runAsGroup;
  const from = declared !== undefined ? 'spec' : seen ? 'status' : 'learnt';
  return { uid, gid: group ?? (known?.uid === uid ? known.gid : 0), from };
}

const declaredUser = (pod: Pod, container: AnyUser): number | undefined =>
  container.securityContext.runAsUser ?? pod.spec.securityContext.runAsUser;

/**
 * The kind of target that an identity is learnt of, as a key: its cluster and namespace, the digest of its image, and the user that
 * its pod's spec declares. So nobody's pod teaches anything about other namespaces, or about pods that declare another user.
 * Undefined where nothing may be learnt, and nothing learnt holds: the kubelet has not named the image yet; the spec gives the
 * container a command or arguments of its own, which may change to any user; or the pod's containers share their processes, so
 * that the process which was looked at may be another's.
 */
export function kindOfTarget(pod: Pod, containerName: string, cluster: string): string | undefined {
  const { containers, initContainers, shareProcessNamespace, hostPID } = pod.spec;
  const container = [...containers, ...initContainers].find(({ name }) => name === containerName);
  const imageID = statusOfTarget(pod, containerName)?.imageID ?? '';
  const digest = imageID.slice(imageID.lastIndexOf('@') + 1).slice(-300);
  if (!container || container.hasOwnCommand || shareProcessNamespace || hostPID || digest === '') return undefined;
  return canonicalJson([cluster, pod.metadata.namespace, digest, declaredUser(pod, container) ?? null]);
}

const statusOfTarget = ({ status }: Pod, containerName: string): ContainerStatus | undefined =>
  [...status.containerStatuses, ...status.initContainerStatuses].find(({ name }) => name === containerName);

/** What a container of this profile and user cannot see of its target, in sentences; empty when it sees all. */
export function blindSpots(
  profile: Profile,
  runAs: UserAndGroup | undefined,
  target: UserAndGroup | undefined,
): readonly string[] {
  if (profile === 'sysadmin') return [];
  const root = runAs === undefined || runAs.uid === 0;
  if (profile === 'general' && root) return [];
  const same = runAs !== undefined && target !== undefined && runAs.uid === target.uid && runAs.gid === target.gid;
  if (same) return [];
  return [`the target's files, environment and cgroup (${remedy(target)})`];
}

const remedy = (target: UserAndGroup | undefined): string =>
  target && target.uid !== 0
    ? `--profile=auto runs as ${target.uid}:${target.gid} and sees them`
    : 'they need --profile=general, or the user and group of the target';
