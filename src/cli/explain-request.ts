import { DEFAULT_PARALLELISM } from '../core/batch/new-batch.ts';
import type { RunRequest } from '../core/command/command.ts';
import { buildEphemeralContainer } from '../core/container/build.ts';
import type { EphemeralContainer } from '../core/container/ephemeral-container.ts';
import type { Plan } from '../core/container/plan.ts';
import type { Pod } from '../core/container/pod.ts';
import { asRunId } from '../core/ids.ts';
import { classText } from '../core/policy/class-facts.ts';
import { identityFor, isRefusedUnmapped, subjectFor } from '../core/policy/identity.ts';
import { aimOf, planRequest, type Requester } from '../core/policy/plan-request.ts';
import type { Decision, Policy } from '../core/policy/policy.ts';
import { resolveImage, resolveNamespace } from '../core/policy/resolve.ts';

/** What a policy makes of a request, in words; what comes after a denial is absent. */
export interface Explained {
  readonly place?: string;
  readonly image?: string;
  readonly profile?: string;
  /** The class of the launch, and what raised it. */
  readonly class?: string;
  readonly identity: string;
  readonly decision: Decision;
  /** Of the imagined pod; absent when denied. */
  readonly container?: EphemeralContainer;
}

/** Plans the request as the bot does, on an imagined pod. */
export function explainRequest(request: RunRequest, requester: Requester, policy: Policy): Explained {
  const known = { identity: identityText(policy, requester), ...destinationText(request, requester, policy) };
  const aim = aimOf(request, requester, policy);
  if (aim.kind === 'deny') return { ...known, decision: aim };
  const pod = imaginedPod(request, aim.namespace);
  const inputs = { request, origin: requester, policy, aim, level: 'privileged' } as const;
  const planned = planRequest(pod, inputs, sizeOf(request));
  if (planned.kind === 'deny') return { ...known, decision: planned };
  const { plan, decision } = planned;
  const profile = request.profile === plan.profile ? plan.profile : `${plan.profile} (asked: ${request.profile})`;
  const explained = { ...known, profile, class: classText(plan.class, plan.classReasons), decision };
  return decision.kind === 'deny' ? explained : { ...explained, container: containerOf(plan, decision) };
}

function destinationText(request: RunRequest, { channelId }: Requester, policy: Policy) {
  const resolved = resolveNamespace(request, channelId, policy);
  if (resolved.kind === 'deny') return {};
  const place = `cluster ${resolved.cluster}, namespace ${resolved.namespace}`;
  const image = resolveImage(request.image, policy);
  if (image.kind === 'deny') return { place };
  const { alias, reference, class: imageClass, command } = image.alias;
  return { place, image: `${alias}: ${reference} (${imageClass}, command ${command})` };
}

function identityText(policy: Policy, requester: Requester): string {
  if (isRefusedUnmapped(policy.identity, requester.requesterId)) return 'nobody: identity.users does not name them';
  const identity = identityFor(policy.identity, requester);
  const subject = subjectFor(policy.identity, requester.requesterId);
  if (subject) return `kdebug's own account, where ${subject.user} may do the same`;
  if (!identity) return "kdebug's own account";
  return [identity.user, ...identity.groups.map((group) => `group ${group}`)].join(', ');
}

/** Only the cluster knows how many pods a batch has: at least two, or it would be no batch. */
const sizeOf = ({ target, batch }: RunRequest) => ({
  pods: target.kind === 'pod' ? 1 : (batch.replicas ?? 2),
  parallelism: batch.parallelism ?? DEFAULT_PARALLELISM,
});

function imaginedPod({ target, targetContainer }: RunRequest, namespace: string): Pod {
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
