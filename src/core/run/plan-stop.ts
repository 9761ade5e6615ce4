import { defined } from '../../lib/object.ts';
import { classText } from '../container/class-facts.ts';
import { type ImageClass, worseClass } from '../container/image-class.ts';
import type { Pod } from '../container/pod.ts';
import type { UserAndGroup } from '../container/profiles.ts';
import { asUserId } from '../ids.ts';
import { decide } from '../planning/decide.ts';
import { classOfLaunch } from '../planning/launch-class.ts';
import type { PlanResult } from '../planning/make-plan.ts';
import { planPod } from '../planning/plan-request.ts';
import type { ImageAlias, Policy } from '../policy/policy.ts';
import type { RunRequest } from '../request/command.ts';
import type { PlannedRun } from './life-cycle.ts';

/** The alias of the image that comes with kdebug. */
const COMES_WITH_KDEBUG = 'autodiagnose';

/**
 * The image that stops runs: `autodiagnose`, else the default image, if the policy calls it diagnostic and no tracer. No other:
 * nothing says which images understand `stop`, and one that does not would do its own work.
 */
export const stopImage = ({ images, defaultImage }: Pick<Policy, 'images' | 'defaultImage'>): ImageAlias | undefined =>
  [images[COMES_WITH_KDEBUG], images[defaultImage ?? '']].find(
    (image) => image?.diagnostic === true && image.traces !== true,
  );

export interface StopAsk {
  readonly byUserId: string;
  readonly pod: Pod;
  readonly policy: Policy;
  readonly alias: ImageAlias;
  /** The user that an earlier diagnosis found in such targets (`kindToLookUp`). */
  readonly learnt?: UserAndGroup | undefined;
}

/**
 * The plan of the container that stops a run, judged like any launch by this person in this pod. A rule without an
 * approval must allow it; or it has no more power than the run, which was allowed or approved itself: the same profile,
 * the run's own user, and a class that is not above the run's in the pod as it is now. Pure.
 */
export function planStop(run: PlannedRun, { byUserId, pod, policy, alias, learnt }: StopAsk): PlanResult {
  const { origin, plan: own } = run;
  const { runAs, isRootAssumed } = userOfRun(run, pod);
  const { cluster, namespace } = own;
  const planned = planPod(pod, {
    request: { ...requestOf(run), image: alias.alias, ...defined({ runAs }) },
    origin: { ...origin, requesterId: asUserId(byUserId) },
    policy,
    aim: { kind: 'aim', cluster, namespace, alias },
    // The API server applies the namespace's own level when the container is added.
    level: 'privileged',
    learnt,
  });
  if (planned.kind === 'deny') return planned;
  const { plan } = planned;
  const decision = decide(plan, policy);
  if (decision.kind === 'allow') return planned;
  const ownClass = classNow(own, pod, learnt);
  const isWithin = plan.profile === own.profile && worseClass(plan.class, ownClass) === ownClass;
  if (isWithin && !isRootAssumed) return planned;
  if (isWithin) return { kind: 'deny', code: 'stop_without_user', subject: own.profile };
  const subject = `${alias.alias}, ${plan.profile} (${classText(plan.class, plan.classReasons)})`;
  return { kind: 'deny', code: 'stop_not_allowed', subject, ...defined({ rule: decision.rule }) };
}

/** The stop adds no power that both have gained since the run's launch. */
const classNow = (own: PlannedRun['plan'], pod: Pod, learnt: UserAndGroup | undefined): ImageClass =>
  classOfLaunch({
    pod,
    targetName: own.targetContainerName,
    learnt,
    securityContext: own.securityContext,
    imageClass: own.class,
    traces: false,
    ownWords: false,
  }).class;

const requestOf = ({ id, plan }: PlannedRun): RunRequest => ({
  target: { kind: 'pod', name: plan.podName },
  ...defined({ targetContainer: targetOf(plan) }),
  profile: plan.profile,
  command: [],
  argumentsOnly: false,
  env: [],
  dryRun: false,
  batch: { canary: false },
  reason: `stop ${id}`,
});

const targetOf = ({ targetContainerName: name }: PlannedRun['plan']): RunRequest['targetContainer'] =>
  name === undefined ? undefined : { kind: 'named', name };

interface UserOfRun {
  /** Absent: as the pod says. */
  readonly runAs?: UserAndGroup;
  /** Nobody knows the run's user: root may be more than the run has. */
  readonly isRootAssumed: boolean;
}

/**
 * The run's own user, who may signal its processes: named by its context, the pod or the kubelet. Where only its image
 * names the user, root, who may signal any; a privileged run has no less power. Never where the pod refuses root.
 */
function userOfRun({ plan, containerName }: PlannedRun, { spec, status }: Pod): UserOfRun {
  const { runAsUser: uid, runAsGroup: gid = 0, privileged } = plan.securityContext ?? {};
  if (uid !== undefined) return { runAs: { uid, gid }, isRootAssumed: false };
  const seen = status.ephemeralContainerStatuses.find(({ name }) => name === containerName)?.user;
  if (spec.securityContext.runAsUser !== undefined) return { isRootAssumed: false };
  if (seen) return { runAs: { uid: seen.uid, gid: seen.gid }, isRootAssumed: false };
  if (spec.securityContext.runAsNonRoot === true) return { isRootAssumed: false };
  return { runAs: { uid: 0, gid: 0 }, isRootAssumed: privileged !== true };
}
