import { admits, blindSpots, chooseProfile, identityOfTarget } from '../core/container/auto-profile.ts';
import type { Plan } from '../core/container/plan.ts';
import type { Pod, PodContainer, PodSecurityLevel } from '../core/container/pod.ts';
import { NOBODY, type Profile, securityContextOf, type UserAndGroup } from '../core/container/profiles.ts';
import { problemOfPod, targetContainerOf } from '../core/container/target.ts';
import type { ReasonCode } from '../core/errors.ts';
import { canonicalJson, sha256 } from '../core/hash.ts';
import { decide } from '../core/policy/decide.ts';
import type { ImageAlias, Policy } from '../core/policy/policy.ts';
import { resolveImage } from '../core/policy/resolve-image.ts';
import { resolvePlace } from '../core/policy/resolve-place.ts';
import type { Refusal, Run } from '../core/run/run.ts';
import type { FlowDeps } from './deps.ts';
import { refusal, refusalOfDecision } from './refusals.ts';
import type { RunSession } from './session.ts';

/** A step of planning either yields or refuses. */
class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.code);
    this.refusal = refusal;
  }
}

/**
 * Resolves a request to a plan and decides on it. What cannot work is refused here, early and plainly, before anything was
 * asked of the cluster but the pod and its namespace; a channel or namespace that no rule names is refused before even that,
 * so nobody learns from the answers which pods exist.
 */
export async function plan(session: RunSession, deps: FlowDeps): Promise<void> {
  const atMs = deps.clock.now();
  try {
    const policy = deps.policies.current();
    const made = await makePlan(session.run, policy, deps);
    const decision = decide(made, policy);
    if (decision.kind !== 'allow') throw new Refused(refusalOfDecision(decision));
    await session.apply({ kind: 'planned', plan: made, planHash: sha256(canonicalJson(made)), decision, atMs });
  } catch (thrown) {
    if (!(thrown instanceof Refused)) throw thrown;
    await session.apply({ kind: 'denied', refusal: thrown.refusal, atMs });
  }
}

const refuse = (code: ReasonCode, subject?: string): never => {
  throw new Refused(refusal(code, subject));
};

async function makePlan(run: Run, policy: Policy, deps: FlowDeps): Promise<Plan> {
  const { request, origin } = run;
  const place = resolvePlace(request, origin.channelId, policy);
  if (place.kind === 'deny') return refuse(place.code, place.subject);
  const image = resolveImage(request.image, policy);
  if (image.kind === 'deny') throw new Refused(withNearest(image.code, image.subject, image.nearest));
  if (request.target.kind !== 'pod') return refuse('not_in_this_version', 'a request for several pods');

  const cluster = deps.clusters.get(place.cluster);
  const [pod, level] = await Promise.all([
    cluster.pod(place.namespace, request.target.name),
    cluster.podSecurity(place.namespace),
  ]);
  const problem = problemOfPod(pod, policy.limits.ephemeralContainersPerPod);
  if (problem) return refuse(problem.code, problem.subject);
  const target = targetContainerOf(pod, request.targetContainer);
  if (target.kind === 'problem') return refuse(target.problem.code, target.problem.subject);
  const container = target.kind === 'container' ? target.container : undefined;
  return fill({ run, policy, cluster: place.cluster, pod, container, level, alias: image.alias });
}

const withNearest = (code: ReasonCode, subject: string, nearest: string | undefined): Refusal =>
  refusal(code, nearest === undefined ? subject : `${subject} (did you mean ${nearest}?)`);

interface Resolved {
  readonly run: Run;
  readonly policy: Policy;
  readonly cluster: string;
  readonly pod: Pod;
  readonly container: PodContainer | undefined;
  readonly level: PodSecurityLevel;
  readonly alias: ImageAlias;
}

function fill(resolved: Resolved): Plan {
  const { run, policy, cluster, pod, container, alias } = resolved;
  const { request, origin } = run;
  const base = {
    cluster,
    namespace: pod.metadata.namespace,
    podName: pod.metadata.name,
    podUid: pod.metadata.uid,
    nodeName: pod.spec.nodeName ?? '',
    ...(container && { targetContainerName: container.name }),
    imageAlias: alias.alias,
    image: alias.reference,
    ...(request.imagePullPolicy && { imagePullPolicy: request.imagePullPolicy }),
    command: request.command,
    argumentsOnly: request.argumentsOnly,
    env: request.env,
    profileAsked: request.profile,
    class: alias.class,
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
    const identity = container && identityOfTarget(pod, container);
    return {
      ...base,
      profile,
      ...(securityContext && { securityContext }),
      blindSpots: container ? blindSpots(profile, runAs, identity) : [],
    };
  };
  return withProfileOf(resolved, withProfile);
}

/** The run clock when neither the person nor the catalogue says (design, section 3.1). */
const DEFAULT_TIMEOUT_MS = 300_000;

type WithProfile = (profile: Profile, runAs: UserAndGroup | undefined) => Plan;

function withProfileOf(resolved: Resolved, make: WithProfile): Plan {
  const { run, policy, pod, container, level } = resolved;
  const asked = run.request.profile;
  const target = container && identityOfTarget(pod, container);
  if (asked === 'auto') {
    const runAsNonRoot = pod.spec.securityContext.runAsNonRoot === true;
    const allowed = (profile: Profile) => decide(make(profile, undefined), policy).kind === 'allow';
    const chosen = chooseProfile({ target, runAsNonRoot, level, allowed });
    if (chosen) return make(chosen.profile, chosen.runAs);
    // Nothing is allowed outright: let the decision on the mildest one say which rule is in the way.
    return make('restricted', target && target.uid !== 0 ? target : NOBODY);
  }
  if (!admits(level, asked)) return refuse('profile_refused_here', `${asked} in a namespace that enforces ${level}`);
  return make(asked, asked === 'restricted' ? restrictedUser(target) : undefined);
}

/** *restricted* always gets a user: an image that runs as root would never start (kubernetes issue 115671). */
const restrictedUser = (target: UserAndGroup | undefined): UserAndGroup =>
  target && target.uid !== 0 ? target : NOBODY;
