import type { RunRequest } from '../core/command/command.ts';
import { buildEphemeralContainer } from '../core/container/build.ts';
import type { EphemeralContainer } from '../core/container/ephemeral-container.ts';
import type { Plan } from '../core/container/plan.ts';
import type { Pod } from '../core/container/pod.ts';
import { targetContainerOf } from '../core/container/target.ts';
import { asRunId } from '../core/ids.ts';
import { classText } from '../core/policy/class-facts.ts';
import { decide } from '../core/policy/decide.ts';
import type { Decision } from '../core/policy/decision.ts';
import { identityFor, isRefusedUnmapped, subjectFor } from '../core/policy/identity.ts';
import { makePlan } from '../core/policy/make-plan.ts';
import type { Policy } from '../core/policy/policy.ts';
import { resolveImage } from '../core/policy/resolve-image.ts';
import { resolveNamespace } from '../core/policy/resolve-place.ts';
import type { Origin } from '../core/run/run.ts';

export type Asker = Pick<Origin, 'requesterId' | 'teamId' | 'channelId'>;

/** What a policy makes of a request, as far as it came, in words. */
export interface Explained {
  readonly place?: string;
  readonly image?: string;
  readonly profile?: string;
  /** The class of the launch, and what raised it. */
  readonly class?: string;
  readonly identity: string;
  readonly decision: Decision;
  /** Of a pod that nobody has looked at; absent when denied. */
  readonly container?: EphemeralContainer;
}

/** The stages of planning, in their order, on a hypothetical pod. */
export function explainRequest(request: RunRequest, asker: Asker, policy: Policy): Explained {
  const identity = identityText(policy, asker);
  if (isRefusedUnmapped(policy.identity, asker.requesterId)) {
    return { identity, decision: { kind: 'deny', code: 'identity_unmapped', subject: asker.requesterId } };
  }
  const place = resolveNamespace(request, asker.channelId, policy);
  if (place.kind === 'deny') return { identity, decision: denied(place) };
  const where = { identity, place: `cluster ${place.cluster}, namespace ${place.namespace}` };
  const image = resolveImage(request.image, policy);
  if (image.kind === 'deny') return { ...where, decision: denied(image) };
  const { alias } = image;
  const what = { ...where, image: `${alias.alias}: ${alias.reference} (${alias.class}, command ${alias.command})` };
  const pod = hypotheticalPod(request, place.namespace);
  const target = targetContainerOf(pod, request.targetContainer);
  const container = target.kind === 'container' ? target.container : undefined;
  const { cluster } = place;
  const made = makePlan({ request, origin: asker, policy, cluster, pod, container, level: 'privileged', alias });
  if (made.kind === 'refused') return { ...what, decision: { ...made, kind: 'deny' } };
  const { plan } = made;
  const decision = decide(plan, policy, podsOf(request));
  const profile = request.profile === plan.profile ? plan.profile : `${plan.profile} (asked: ${request.profile})`;
  const answer = { ...what, profile, class: classText(plan.class, plan.classReasons), decision };
  if (decision.kind === 'deny') return answer;
  return { ...answer, container: containerOf(plan, decision) };
}

type NotResolved = Extract<ReturnType<typeof resolveNamespace>, { kind: 'deny' }>;

const denied = ({ code, subject, nearest }: NotResolved): Decision => ({
  kind: 'deny',
  code,
  subject: nearest === undefined ? subject : `${subject} (did you mean ${nearest}?)`,
});

function identityText(policy: Policy, asker: Asker): string {
  if (isRefusedUnmapped(policy.identity, asker.requesterId)) return 'nobody: identity.users does not name them';
  const identity = identityFor(policy.identity, asker);
  const subject = subjectFor(policy.identity, asker.requesterId);
  if (subject) return `kdebug's own account, where ${subject.user} may do the same`;
  if (!identity) return "kdebug's own account";
  return [identity.user, ...identity.groups.map((group) => `group ${group}`)].join(', ');
}

/** How many pods a batch would have is the cluster's to say: at least two, or it would be no batch. */
const podsOf = ({ target, batch }: RunRequest): number => (target.kind === 'pod' ? 1 : (batch.replicas ?? 2));

function hypotheticalPod({ target, targetContainer }: RunRequest, namespace: string): Pod {
  const name = target.kind === 'pod' ? target.name : '<pod>';
  const container = targetContainer?.kind === 'named' ? targetContainer.name : '<target>';
  return {
    metadata: {
      name,
      namespace,
      uid: '<uid>',
      resourceVersion: '',
      creationTimestamp: '',
      labels: {},
      annotations: {},
      ownerReferences: [],
    },
    spec: {
      nodeName: '<node>',
      shareProcessNamespace: false,
      hostPID: false,
      hostIPC: false,
      hostNetwork: false,
      securityContext: {},
      containers: [{ name: container, image: '', securityContext: {} }],
      initContainers: [],
      ephemeralContainers: [],
    },
    status: { phase: 'Running', containerStatuses: [], initContainerStatuses: [], ephemeralContainerStatuses: [] },
  };
}

function containerOf(plan: Plan, decision: Decision): EphemeralContainer {
  const approverIds = decision.kind === 'needs-approval' ? ['<approvers>'] : [];
  const built = buildEphemeralContainer(plan, { runId: asRunId('<run>'), approverIds, notAfterMs: 0, ref: '<sealed>' });
  const env = built.env.map((each) => (each.name === 'KDEBUG_NOT_AFTER' ? { ...each, value: '<time>' } : each));
  return { ...built, name: 'kdebug-<id>', env };
}
