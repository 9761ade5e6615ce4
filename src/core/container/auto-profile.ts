import type { ContainerStatus, Pod, PodContainer, PodSecurityLevel } from './pod.ts';
import { NOBODY, type Profile, type UserAndGroup } from './profiles.ts';

/** What `auto` knows of the place when it chooses. */
export interface ProfileChoice {
  /** Undefined: no target, or a user and group that nobody told us. */
  readonly target: UserAndGroup | undefined;
  /** The pod asks for non-root: a container that would run as root is never started by the kubelet. */
  readonly runAsNonRoot: boolean;
  /** The namespace's Pod Security level: what it would refuse is not tried. */
  readonly level: PodSecurityLevel;
  /** Whether a rule allows this profile, as that user, here without an approval. */
  readonly allowed: (candidate: ChosenProfile) => boolean;
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
 * *restricted* see its files, environment and cgroup without any capability. Undefined: nothing that the rules allow
 * would start here.
 */
export function chooseProfile(choice: ProfileChoice): ChosenProfile | undefined {
  const { target, runAsNonRoot } = choice;
  const candidates: (ChosenProfile | false | undefined)[] = [
    target && target.uid !== 0 && { profile: 'restricted', runAs: target },
    !runAsNonRoot && { profile: 'general', runAs: ROOT },
    !runAsNonRoot && { profile: 'baseline', runAs: ROOT },
    { profile: 'restricted', runAs: NOBODY },
  ];
  return candidates
    .filter((candidate): candidate is ChosenProfile => Boolean(candidate))
    .find((candidate) => admits(choice.level, candidate.profile) && choice.allowed(candidate));
}

/**
 * The target's user and group: from its container's or pod's security context, else from its status (`user.linux`), else what an
 * earlier diagnosis `learnt` of its image. A user without a group runs with the group of the passwd file of its image, which
 * only the latter two know; else with group 0.
 */
export function identityOfTarget(
  pod: Pod,
  container: Pick<PodContainer, 'name' | 'securityContext'>,
  learnt?: UserAndGroup,
): UserAndGroup | undefined {
  const known = statusOfTarget(pod, container.name)?.user ?? learnt;
  const uid = container.securityContext.runAsUser ?? pod.spec.securityContext.runAsUser ?? known?.uid;
  if (uid === undefined) return undefined;
  const group = container.securityContext.runAsGroup ?? pod.spec.securityContext.runAsGroup;
  return { uid, gid: group ?? (known?.uid === uid ? known.gid : 0) };
}

/** What an identity is learnt by: the digest of the image that the target runs; undefined before the kubelet has named it. */
export function imageOfTarget(pod: Pod, containerName: string): string | undefined {
  const imageID = statusOfTarget(pod, containerName)?.imageID ?? '';
  return imageID.slice(imageID.lastIndexOf('@') + 1).slice(-300) || undefined;
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
