import type { RunRequest } from '../command/command.ts';
import { admits, blindSpots, type ChosenProfile, chooseProfile, identityOfTarget } from '../container/auto-profile.ts';
import type { Plan } from '../container/plan.ts';
import type { Pod, PodContainer, PodSecurityLevel } from '../container/pod.ts';
import { NOBODY, type Profile, securityContextOf, type UserAndGroup } from '../container/profiles.ts';
import { workloadOf } from '../container/workload.ts';
import type { ReasonCode } from '../errors.ts';
import type { Origin } from '../run/run.ts';
import { decide } from './decide.ts';
import type { ImageAlias, ImageClass, Policy } from './policy.ts';

/** What was found out for a request: enough for a plan. */
export interface Resolved {
  readonly request: RunRequest;
  readonly origin: Pick<Origin, 'requesterId' | 'teamId' | 'channelId'>;
  readonly policy: Policy;
  readonly cluster: string;
  readonly pod: Pod;
  readonly container: PodContainer | undefined;
  /** What an earlier diagnosis learnt of the image of the target. */
  readonly learnt?: UserAndGroup;
  readonly level: PodSecurityLevel;
  readonly alias: ImageAlias;
}

export type MadePlan =
  | { readonly kind: 'plan'; readonly plan: Plan }
  | { readonly kind: 'refused'; readonly code: ReasonCode; readonly subject: string };

/**
 * The plan of a request whose place, pod, target container and image are known. Pure. Refuses a profile that the namespace's
 * Pod Security level would refuse; an `auto` that no rule allows outright becomes the mildest plan, so that the decision on it
 * says which rule is in the way.
 */
export function makePlan(resolved: Resolved): MadePlan {
  const { request, origin, policy, cluster, pod, container, alias } = resolved;
  const workload = workloadOf(pod);
  const base = {
    cluster,
    namespace: pod.metadata.namespace,
    podName: pod.metadata.name,
    podUid: pod.metadata.uid,
    nodeName: pod.spec.nodeName ?? '',
    ...(workload && { workload }),
    ...(container && { targetContainerName: container.name }),
    imageAlias: alias.alias,
    image: alias.reference,
    ...(request.imagePullPolicy && { imagePullPolicy: request.imagePullPolicy }),
    command: request.command,
    argumentsOnly: request.argumentsOnly,
    env: request.env,
    profileAsked: request.profile,
    timeoutMs: request.timeoutMs ?? alias.timeoutMs ?? Math.min(DEFAULT_TIMEOUT_MS, policy.limits.maxTimeoutMs),
    startDeadlineMs: policy.limits.startDeadlineMs,
    maxLogBytes: policy.limits.maxLogBytes,
    requesterId: origin.requesterId,
    teamId: origin.teamId,
    channelId: origin.channelId,
    ...(request.reason !== undefined && { reason: request.reason }),
    ...(request.label !== undefined && { label: request.label }),
  };
  const withProfile = (profile: Profile, runAs: UserAndGroup | undefined): Plan => {
    const securityContext = securityContextOf(profile, runAs);
    return {
      ...base,
      class: classOf(resolved, profile, runAs),
      profile,
      ...(securityContext && { securityContext }),
      observed: {
        earlierContainers: pod.spec.ephemeralContainers.length,
        podSecurity: resolved.level,
        ...(container?.memoryLimit !== undefined && { memoryLimit: container.memoryLimit }),
      },
      blindSpots: container ? blindSpots(profile, runAs, targetOf(resolved)) : [],
    };
  };
  return withProfileOf(resolved, withProfile);
}

/** The run clock when neither the person nor the catalogue says (design, section 3.1). */
const DEFAULT_TIMEOUT_MS = 300_000;

type WithProfile = (profile: Profile, runAs: UserAndGroup | undefined) => Plan;

function withProfileOf(resolved: Resolved, make: WithProfile): MadePlan {
  const { request, policy, pod, level } = resolved;
  const asked = request.profile;
  const target = targetOf(resolved);
  if (asked === 'auto') {
    const runAsNonRoot = pod.spec.securityContext.runAsNonRoot === true;
    const allowed = ({ profile, runAs }: ChosenProfile) => decide(make(profile, runAs), policy).kind === 'allow';
    const chosen = chooseProfile({ target, runAsNonRoot, level, allowed });
    if (chosen) return made(make(chosen.profile, chosen.runAs));
    // Nothing is allowed outright: let the decision on the mildest one say which rule is in the way.
    return made(make('restricted', restrictedUser(target)));
  }
  if (!admits(level, asked)) {
    return { kind: 'refused', code: 'profile_refused_here', subject: `${asked} in a namespace that enforces ${level}` };
  }
  return made(make(asked, request.runAs ?? (asked === 'restricted' ? restrictedUser(target) : undefined)));
}

/** A request that names a user and group means the target's own (the button "Look again"). */
const targetOf = ({ request, pod, container, learnt }: Resolved): UserAndGroup | undefined =>
  container && (request.runAs ?? identityOfTarget(pod, container, learnt));

/** *restricted* always gets a user: an image that runs as root would never start (kubernetes issue 115671). */
const restrictedUser = (target: UserAndGroup | undefined): UserAndGroup =>
  target && target.uid !== 0 ? target : NOBODY;

const made = (plan: Plan): MadePlan => ({ kind: 'plan', plan });

/**
 * The class of harm (design, section 3.2): the alias's, raised to `elevated` by root in a pod that asks for non-root.
 * What a profile brings beyond those that a rule names is judged by `decide`, which knows the rule.
 */
function classOf({ pod, container, alias }: Resolved, profile: Profile, runAs: UserAndGroup | undefined): ImageClass {
  const ofPod = pod.spec.securityContext;
  const asksNonRoot = container?.securityContext.runAsNonRoot ?? ofPod.runAsNonRoot ?? false;
  const uid = runAs?.uid ?? ofPod.runAsUser;
  // What the target's container asks for does not bind ours: without a user it is the image's, who may be root.
  const mayBeRoot = uid === 0 || (uid === undefined && ofPod.runAsNonRoot !== true);
  return asksNonRoot && (profile === 'sysadmin' || mayBeRoot) ? 'elevated' : alias.class;
}
