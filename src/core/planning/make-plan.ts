import { defined } from '../../lib/object.ts';
import { obstaclesOf } from '../container/obstacles.ts';
import type { Plan } from '../container/plan.ts';
import { type Pod, type PodContainer, type PodSecurityLevel, workloadOf } from '../container/pod.ts';
import {
  admits,
  blindSpots,
  type ChosenProfile,
  chooseProfile,
  identityOfTarget,
  NOBODY,
  NOBODY_OF_FREE_COMMANDS,
  type Profile,
  securityContextOf,
  type TargetIdentity,
  type UserAndGroup,
} from '../container/profiles.ts';
import type { Decision, Denial, ImageAlias, Policy } from '../policy/policy.ts';
import type { RunRequest } from '../request/command.ts';
import type { Origin } from '../request/origin.ts';
import { decide } from './decide.ts';
import { classOfLaunch } from './launch-class.ts';
import { usesOwnWords } from './resolve.ts';

export interface Resolved {
  readonly request: RunRequest;
  readonly origin: Pick<Origin, 'requesterId' | 'teamId' | 'channelId'>;
  readonly policy: Policy;
  readonly cluster: string;
  readonly pod: Pod;
  readonly container: PodContainer | undefined;
  /** The user that an earlier diagnosis found in such targets (`kindOfTarget`). */
  readonly learnt?: UserAndGroup;
  readonly level: PodSecurityLevel;
  readonly alias: ImageAlias;
}

export type PlanResult = { readonly kind: 'plan'; readonly plan: Plan } | Denial;

/**
 * The plan of a request with known pod, target container and image. Pure. Refuses a profile that the namespace's Pod
 * Security level refuses. If no rule covers any choice of `auto`, returns the mildest plan, so that the decision on it
 * names the obstacle.
 */
export function makePlan(resolved: Resolved): PlanResult {
  const { request, origin, policy, cluster, pod, container, alias } = resolved;
  const workload = workloadOf(pod);
  const base = {
    cluster,
    namespace: pod.metadata.namespace,
    podName: pod.metadata.name,
    podUid: pod.metadata.uid,
    nodeName: pod.spec.nodeName ?? '',
    ...defined({ workload, targetContainerName: container?.name }),
    imageAlias: alias.alias,
    image: alias.reference,
    ...defined({ imagePullPolicy: request.imagePullPolicy }),
    command: request.command,
    argumentsOnly: request.argumentsOnly,
    env: request.env,
    profileAsked: request.profile,
    timeoutMs: request.timeoutMs ?? alias.timeoutMs ?? Math.min(DEFAULT_TIMEOUT_MS, policy.limits.maxTimeoutMs),
    startDeadlineMs: policy.limits.startDeadlineMs,
    maxLogBytes: policy.limits.maxLogBytes,
    ...defined({ files: alias.files }),
    requesterId: origin.requesterId,
    teamId: origin.teamId,
    channelId: origin.channelId,
    ...defined({ reason: request.reason, label: request.label }),
  };
  const withProfile = (profile: Profile, runAs: UserAndGroup | undefined): Plan => {
    const securityContext = securityContextOf(profile, runAs);
    const judged = classOfLaunch({
      pod,
      targetName: container?.name,
      learnt: resolved.learnt,
      securityContext,
      imageClass: alias.class,
      traces: alias.traces === true,
      ownWords: hasOwnWords(resolved),
    });
    const spots = container ? blindSpots(profile, runAs, targetOf(resolved)) : [];
    const { targetContainerName } = base;
    const power = { profile, blindSpots: spots, ...defined({ securityContext, targetContainerName }) };
    const obstacles = obstaclesOf(alias.alias, { plan: power, target: container });
    return {
      ...base,
      class: judged.class,
      classReasons: judged.reasons,
      profile,
      ...defined({ securityContext }),
      observed: {
        earlierContainers: pod.spec.ephemeralContainers.length,
        podSecurity: resolved.level,
        ...defined({
          memoryLimit: container?.memoryLimit,
          obstacles: obstacles.length > 0 ? obstacles : undefined,
        }),
      },
      blindSpots: spots,
    };
  };
  return withProfileOf(resolved, withProfile);
}

/** The run clock when neither the person nor the catalogue sets it (design, section 3.1). */
const DEFAULT_TIMEOUT_MS = 300_000;

interface Choice {
  readonly kind: Decision['kind'];
  /** Only a profile that can see the target. */
  readonly isSighted: boolean;
}

/** An approval that lacks only the reason still counts as one; the decision asks the person for it. */
const wayOf = (decision: Decision): Decision['kind'] =>
  decision.kind === 'deny' && decision.code === 'reason_required' ? 'needs-approval' : decision.kind;

/** The order for `auto`: a diagnosis that sees less is better than one that waits for an approval. */
const CHOICES: readonly Choice[] = [
  { kind: 'allow', isSighted: false },
  { kind: 'needs-approval', isSighted: true },
  { kind: 'needs-approval', isSighted: false },
];

/** A free command that cannot see its target is of little use, so an approval is better. */
const CHOICES_FOR_OWN_WORDS: readonly Choice[] = [
  { kind: 'allow', isSighted: true },
  { kind: 'needs-approval', isSighted: true },
  { kind: 'allow', isSighted: false },
  { kind: 'needs-approval', isSighted: false },
];

/** False where the image takes no own words; then the decision says so. */
const hasOwnWords = ({ request, alias }: Resolved): boolean =>
  alias.command === 'allowed' && usesOwnWords(request, alias);

const nobodyOf = (resolved: Resolved): UserAndGroup => (hasOwnWords(resolved) ? NOBODY_OF_FREE_COMMANDS : NOBODY);

type WithProfile = (profile: Profile, runAs: UserAndGroup | undefined) => Plan;

function withProfileOf(resolved: Resolved, make: WithProfile): PlanResult {
  const { request, policy, pod, level } = resolved;
  const requested = request.profile;
  const target = targetOf(resolved);
  const nobody = nobodyOf(resolved);
  if (requested === 'auto') {
    const runAsNonRoot = pod.spec.securityContext.runAsNonRoot === true;
    for (const { kind, isSighted } of hasOwnWords(resolved) ? CHOICES_FOR_OWN_WORDS : CHOICES) {
      const allowed = ({ profile, runAs }: ChosenProfile): boolean => {
        const plan = make(profile, runAs);
        return wayOf(decide(plan, policy)) === kind && !(isSighted && plan.blindSpots.length > 0);
      };
      const chosen = chooseProfile({ target, runAsNonRoot, nobody, level, allowed });
      if (chosen) return made(make(chosen.profile, chosen.runAs));
    }
    // No rule covers any of them: decide on the mildest, so that the denial names its obstacle.
    return made(make('restricted', restrictedUser(target, nobody)));
  }
  if (!admits(level, requested)) {
    return {
      kind: 'deny',
      code: 'profile_refused_here',
      subject: `${requested} in a namespace that enforces ${level}`,
    };
  }
  const ofProfile = requested === 'restricted' ? restrictedUser(target, nobody) : rootOfImage(resolved);
  return made(make(requested, request.runAs ?? ofProfile));
}

/**
 * Root for a diagnostic image under *netadmin*, and under *baseline* for one that may bring back packets, where neither
 * pod nor person names a user: its image has an ordinary one, to whom the capabilities of these profiles give nothing
 * (capabilities(7): without root, none is effective).
 */
function rootOfImage({ request, alias, pod }: Resolved): UserAndGroup | undefined {
  const { runAsUser, runAsNonRoot } = pod.spec.securityContext;
  const isOpen = runAsUser === undefined && runAsNonRoot !== true;
  const isCapture = request.profile === 'baseline' && alias.files?.includes('capture') === true;
  return alias.diagnostic === true && (request.profile === 'netadmin' || isCapture) && isOpen ? ROOT : undefined;
}

const ROOT: UserAndGroup = { uid: 0, gid: 0 };

/** A requested user and group is the target's own (button "Look again"). */
const targetOf = ({ request, pod, container, learnt }: Resolved): TargetIdentity | undefined =>
  container && (request.runAs ? { ...request.runAs, from: 'spec' } : identityOfTarget(pod, container, learnt));

/** *restricted* always sets a user: an image that runs as root would never start (kubernetes issue 115671). */
const restrictedUser = (target: UserAndGroup | undefined, nobody: UserAndGroup): UserAndGroup =>
  target && target.uid !== 0 ? { uid: target.uid, gid: target.gid } : nobody;

const made = (plan: Plan): PlanResult => ({ kind: 'plan', plan });
