import { canonicalJson } from '../hash.ts';
import type { SecurityContext } from './ephemeral-container.ts';
import type { Pod, PodContainer, PodSecurityLevel } from './pod.ts';
import { statusOfTarget } from './status.ts';

/** The debug profiles of `kubectl debug` (kubectl pkg/cmd/debug/profiles.go). */
export const PROFILES = ['general', 'baseline', 'restricted', 'netadmin', 'sysadmin'] as const;
export type Profile = (typeof PROFILES)[number];

/** The profiles that a person may request. `auto` is the least power that sees the target (design, section 2). */
export type ProfileName = Profile | 'auto';

export interface UserAndGroup {
  readonly uid: number;
  readonly gid: number;
}

/** The user of a *restricted* container when the target's is unknown: the customary "nonroot". */
export const NOBODY: UserAndGroup = { uid: 65532, gid: 65532 };

/**
 * The same for a free command, which may run for long. A later diagnosis beside it must run as another user: the same
 * user could stop it, or write into its output and so forge its report.
 */
export const NOBODY_OF_FREE_COMMANDS: UserAndGroup = { uid: 65533, gid: 65533 };

/** kubectl's settings of each profile; `undefined` where kubectl removes the context. */
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
 * The security context of a profile, with user and group if given. kubectl never sets them: under *restricted*, an
 * image that runs as root then never starts (kubernetes issue 115671), and added capabilities have no effect for a
 * non-root user (kubectl issue 1650).
 */
export function securityContextOf(profile: Profile, runAs?: UserAndGroup): SecurityContext | undefined {
  const context = CONTEXTS[profile];
  if (!runAs) return context;
  return { ...context, runAsUser: runAs.uid, runAsGroup: runAs.gid };
}

export interface ProfileChoice {
  /** Undefined: no target, or an unknown user and group. */
  readonly target: TargetIdentity | undefined;
  /** The pod asks for non-root, so the kubelet refuses to start a container as root. */
  readonly runAsNonRoot: boolean;
  /** The user of *restricted* when it cannot run as the target. */
  readonly nobody: UserAndGroup;
  /** The namespace's Pod Security level: `auto` skips what it refuses. */
  readonly level: PodSecurityLevel;
  /** A rule allows this profile and user here without an approval. */
  readonly allowed: (candidate: ChosenProfile) => boolean;
}

/** The user and group of a target, and the source of that knowledge. */
export interface TargetIdentity extends UserAndGroup {
  /** Source of the user: the pod's spec, the kubelet's status, or the report of an earlier diagnosis. */
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

/** Follows Pod Security Admission. */
export const admits = (level: PodSecurityLevel, profile: Profile): boolean => ADMITTED[level].includes(profile);

/**
 * The least power that sees the target, and that the namespace admits, the rules allow and the kubelet starts; never
 * *netadmin* or *sysadmin*. Experiments gave the order (cluster facts, "What a diagnosis can see of its target"): under
 * *restricted*, the target's own uid **and** gid see its files, environment and cgroup without any capability. A learnt
 * identity comes after *general*, which sees any target: a forged report must not blind a diagnosis where the rules
 * permit sight. Undefined: nothing that the rules allow would start here.
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

type AnyUser = Pick<PodContainer, 'name' | 'securityContext'>;

const restrictedAs = ({ uid, gid }: UserAndGroup): ChosenProfile => ({ profile: 'restricted', runAs: { uid, gid } });

/**
 * The target's user and group: from its container's or pod's security context, else its status (`user.linux`), else
 * what an earlier diagnosis `learnt`. The group of a user without one comes from the image's passwd file, which only
 * status and diagnosis know; else it is 0.
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
 * The key under which kdebug learns a target's identity: cluster, namespace, image digest, and the user in the pod's
 * spec. So no pod influences other namespaces, or pods that declare another user. Undefined, so nothing can be learnt
 * or used, when the kubelet has not reported the image yet; when the spec sets a command or arguments, which may change
 * to any user; or when the pod's containers share their processes, so that an earlier diagnosis may have seen
 * another's.
 */
export function kindOfTarget(pod: Pod, containerName: string, cluster: string): string | undefined {
  const { containers, initContainers, shareProcessNamespace, hostPID } = pod.spec;
  const container = [...containers, ...initContainers].find(({ name }) => name === containerName);
  const imageID = statusOfTarget(pod, containerName)?.imageID ?? '';
  const digest = imageID.slice(imageID.lastIndexOf('@') + 1).slice(-300);
  if (!container || container.hasOwnCommand || shareProcessNamespace || hostPID || digest === '') return undefined;
  return canonicalJson([cluster, pod.metadata.namespace, digest, declaredUser(pod, container) ?? null]);
}

/** The parts of its target that a container of this profile and user cannot see, in sentences. */
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
