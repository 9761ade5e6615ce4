import { defined, own } from '../../../lib/object.ts';
import type { Plan } from '../../container/plan.ts';
import type { Pod } from '../../container/pod.ts';
import { problemOfOnceMore } from '../../planning/once-more.ts';
import { hasRuleFor, hasRuleForOnceMore } from '../../planning/possible-runs.ts';
import type { Policy } from '../../policy/policy.ts';
import { WAITING_IMAGE } from '../../request/tripwire.ts';
import type { DiagnosisTarget } from '../facts/report.ts';
import { type FindingRule, type NextImage, ONCE_MORE, type Runtime } from '../facts/rules.ts';
import type { LookAgain, Verdict } from '../facts/verdict.ts';

/** The facts from which a verdict chooses the next image. */
export interface Seen {
  readonly target: DiagnosisTarget | undefined;
  readonly plan: Plan;
  /** The plan's target runs at this moment: nothing can wait beside a container that is down. */
  readonly isRunning: boolean;
  readonly policy: Pick<Policy, 'images' | 'channels'>;
  /** The power that would have shown more of the target; the next image needs it as well. */
  readonly lookAgain: LookAgain | undefined;
  /** Root with *general* would be new, admitted, and would start. */
  readonly mayTryGeneral: boolean;
}

/** The next step after a finding. */
export type Lead = Pick<FindingRule, 'nextImage' | 'nextImageOf'> &
  Partial<Pick<FindingRule, 'code' | 'section'>> & {
    /** The container that the finding is about; absent: the pod, or the target itself. */
    readonly containerName?: string;
  };

/** It alone sees what the threads of a program wait for. */
export const INSIDE_IMAGE: NextImage = 'stacks';

/** The next image if nothing is wrong, as far as autodiagnose sees. */
export const leadsInside = (runtime: Runtime | undefined): readonly Lead[] =>
  runtime === undefined || runtime === 'unknown' ? [] : [{ nextImage: INSIDE_IMAGE }];

/**
 * The image that shows more of the first finding for which the policy has one that some rule of the channel can allow and that
 * can work here, and as whom it should run. An image never leads to itself, nor to another container. Empty: none. Pure.
 */
export function nextImageOf(leads: readonly Lead[], seen: Seen): Pick<Verdict, 'nextImage' | 'nextAs'> {
  for (const { nextImage, nextImageOf: only, containerName = seen.plan.targetContainerName } of inOrder(leads)) {
    if (nextImage === undefined || !isOffered(nextImage, seen)) continue;
    const helps = only === undefined || only === seen.target?.runtime;
    const isHere = containerName === seen.plan.targetContainerName;
    const nextAs = helps && isHere ? viewFor(nextImage, seen) : 'cannot work';
    if (nextAs !== 'cannot work') return { nextImage, ...defined({ nextAs }) };
  }
  return {};
}

/**
 * While the target is down, the next crash can be caught by running its program once more, if some rule of the channel can
 * allow it. Pure.
 */
export function onceMoreOf(
  leads: readonly Lead[],
  { pod, plan, policy }: Pick<Seen, 'plan' | 'policy'> & { readonly pod: Pod },
): Pick<Verdict, 'nextImage'> {
  const target = plan.targetContainerName;
  const isLed = leads.some(({ nextImage, containerName }) => nextImage === WAITING_IMAGE && containerName === target);
  const mayRun =
    isLed &&
    target !== undefined &&
    problemOfOnceMore(pod, target) === undefined &&
    hasRuleForOnceMore(plan, plan.channelId, policy);
  return mayRun ? { nextImage: ONCE_MORE } : {};
}

/** As the findings are; but what fills the memory can be seen now, and its next kill must be waited for. */
function inOrder(leads: readonly Lead[]): readonly Lead[] {
  if (!leads.some(({ code }) => code === 'last_oom_killed')) return leads;
  return leads.toSorted((a, b) => Number(b.section === 'memory') - Number(a.section === 'memory'));
}

function isOffered(image: NextImage, { policy, plan, isRunning }: Seen): boolean {
  const alias = own(policy.images, image);
  if (alias?.diagnostic !== true || image === plan.imageAlias || (image === WAITING_IMAGE && !isRunning)) return false;
  return hasRuleFor({ cluster: plan.cluster, namespace: plan.namespace, alias }, plan.channelId, policy);
}

/** Undefined: as the diagnosis itself ran. */
function viewFor(image: NextImage, seen: Seen): LookAgain | undefined | 'cannot work' {
  // Sockets and name servers are the pod's; no right shows more of them.
  if (image === 'net') return undefined;
  const { plan, target, lookAgain } = seen;
  if (mayTrace(plan)) return lookAgain;
  const { runtime, ptraceScope = 0 } = target ?? {};
  // py-spy reads by the rights of ptrace; the other runtimes are asked by a socket or a signal, which Yama lets pass.
  const attaches = image === WAITING_IMAGE || runtime === 'python';
  if (!attaches || ptraceScope === 0) return lookAgain ?? asTargetUser(target, plan);
  return ptraceScope < 3 && seen.mayTryGeneral ? { kind: 'general' } : 'cannot work';
}

/** As the target's own user and group, which need no power. Undefined: root, not known, or who looked already. */
export function asTargetUser(
  { uid = 0, gid }: Partial<DiagnosisTarget> = {},
  { securityContext }: Plan,
): LookAgain | undefined {
  if (uid === 0 || gid === undefined) return undefined;
  const isSame = securityContext?.runAsUser === uid && securityContext.runAsGroup === gid;
  return isSame ? undefined : { kind: 'identity', runAs: { uid, gid } };
}

/** The plan's user may attach to others although Yama is on (kernel, Yama: CAP_SYS_PTRACE). */
const mayTrace = ({ securityContext = {} }: Plan): boolean =>
  securityContext.privileged === true ||
  (securityContext.runAsUser === 0 && securityContext.capabilities?.add?.includes('SYS_PTRACE') === true);
