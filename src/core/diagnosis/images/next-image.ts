import { defined, own } from '../../../lib/object.ts';
import type { Plan } from '../../container/plan.ts';
import type { Policy } from '../../policy/policy.ts';
import type { DiagnosisTarget } from '../facts/report.ts';
import type { FindingRule, NextImage, Runtime } from '../facts/rules.ts';
import type { LookAgain, Verdict } from '../facts/verdict.ts';

/** The facts from which a verdict chooses the next image. */
export interface Seen {
  readonly target: DiagnosisTarget | undefined;
  readonly plan: Plan;
  readonly policy: Pick<Policy, 'images'>;
  /** The power that would have shown more of the target; the next image needs it as well. */
  readonly lookAgain: LookAgain | undefined;
  /** Root with *general* would be new, admitted, and would start. */
  readonly mayTryGeneral: boolean;
}

type Leads = Pick<FindingRule, 'nextImage' | 'nextImageOf'>;

/** It alone sees what the threads of a program wait for. */
export const INSIDE_IMAGE: NextImage = 'stacks';

/** The next image if nothing is wrong, as far as autodiagnose sees. */
export const leadsInside = (runtime: Runtime | undefined): readonly Leads[] =>
  runtime === undefined || runtime === 'unknown' ? [] : [{ nextImage: INSIDE_IMAGE }];

/**
 * The image that shows more of the first finding for which the policy has one that can work here, and as whom it should
 * run. An image never leads to itself. Empty: none. Pure.
 */
export function nextImageOf(rules: readonly (Leads | undefined)[], seen: Seen): Pick<Verdict, 'nextImage' | 'nextAs'> {
  for (const { nextImage, nextImageOf: only } of rules.filter((rule) => rule !== undefined)) {
    if (nextImage === undefined || !isOffered(nextImage, seen)) continue;
    const helps = only === undefined || only === seen.target?.runtime;
    const nextAs = helps ? viewFor(nextImage, seen) : 'cannot work';
    if (nextAs !== 'cannot work') return { nextImage, ...defined({ nextAs }) };
  }
  return {};
}

const isOffered = (image: NextImage, { policy, plan }: Seen): boolean =>
  own(policy.images, image)?.diagnostic === true && image !== plan.imageAlias;

/** Undefined: as the diagnosis itself ran. */
function viewFor(image: NextImage, seen: Seen): LookAgain | undefined | 'cannot work' {
  // Sockets and name servers are the pod's; no right shows more of them.
  if (image === 'net') return undefined;
  const { plan, target, lookAgain } = seen;
  if (mayTrace(plan)) return lookAgain;
  const { runtime, ptraceScope = 0 } = target ?? {};
  // py-spy attaches with ptrace; the other runtimes are asked by a socket or a signal, which Yama lets pass.
  if (runtime !== 'python' || ptraceScope === 0) return lookAgain ?? asTargetUser(target, plan);
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
