import { formatBytes } from '../../../lib/duration.ts';
import { quantityOf } from '../../../lib/quantity.ts';
import { isSidecar, lastingContainers, type Pod, type PodContainer, unmetCondition } from '../../container/pod.ts';
import type { ClusterRule } from '../facts/cluster-rule.ts';
import { cleanWords, listed, quoted } from '../reading/phrases.ts';
import { isDeleting, manifestOf } from '../reading/pod-containers.ts';

/** `0/3 nodes are available: 2 Insufficient cpu, 1 node(s) had …. preemption: …` (scheduler, FitError). */
const UNFIT =
  /^(?<fit>\d+)\/(?<all>\d+) nodes are available: ?(?<why>.*?)\.?(?: no new claims to deallocate)?(?:[ ,]*preemption: (?<preemption>.*))?$/s;

interface NodeReason {
  readonly matches: RegExp;
  /** Follows `no node can run the pod: `. */
  readonly says: (pod: Pod, detail: string, isTooLarge: boolean) => string;
  readonly next: (pod: Pod) => string;
}

const ROOM: NodeReason['next'] = (pod) =>
  `Lower the requests of its containers in the manifest of ${manifestOf(pod)}, or add a node with that much room.`;

/** The reasons of the scheduler's plugins against nodes, the most telling first. */
const REASONS: readonly NodeReason[] = [
  {
    matches: /unbound immediate PersistentVolumeClaims/,
    says: ({ spec }) =>
      `its claim${(spec.claims ?? []).length > 1 ? 's' : ''} ${claimNames(spec.claims)} ${(spec.claims ?? []).length > 1 ? 'have' : 'has'} no volume yet`,
    next: () => 'Give the claim a StorageClass that exists, or create a volume that fits it.',
  },
  {
    matches: /persistentvolumeclaim (?<name>"[^"]{1,253}" (?:not found|is being deleted))/,
    says: (_pod, detail) => `its claim ${detail.replaceAll('"', '').replace('not found', 'does not exist')}`,
    next: (pod) => `Create that PersistentVolumeClaim, or correct its name in the manifest of ${manifestOf(pod)}.`,
  },
  {
    matches: /Insufficient (?<name>[\w./-]{1,100})/,
    says: (pod, detail, isTooLarge) =>
      `${isTooLarge ? 'it asks for more than any node has' : 'no node has that much free'}: ${requestWords(pod, detail)}`,
    next: ROOM,
  },
  {
    matches: /Pod's node affinity\/selector|node selector|NodeAffinity/,
    says: ({ spec }) => {
      const pairs = Object.entries(spec.nodeSelector ?? {}).map(([key, value]) => `${key}=${value}`);
      return pairs.length === 0
        ? 'no node has the labels that its node selector or node affinity wants'
        : `no node has the label${pairs.length > 1 ? 's' : ''} ${cleanWords(listed(pairs), 120)} of its node selector`;
    },
    next: (pod) => `Correct the node selector or affinity in the manifest of ${manifestOf(pod)}, or label a node so.`,
  },
  {
    matches: /untolerated taint(?:\(s\))? ?(?:\{(?<name>[^}]{1,200})\})?/,
    says: (_pod, detail) => `its nodes have a taint that it does not tolerate${detail === '' ? '' : `: ${detail}`}`,
    next: (pod) =>
      `Remove the taint once its cause is gone, or add a toleration in the manifest of ${manifestOf(pod)}.`,
  },
  {
    matches: /were unschedulable/,
    says: () => 'its nodes are cordoned',
    next: () => 'Whoever runs the nodes must allow pods on them again (uncordon).',
  },
  {
    matches: /ReadWriteOncePod access mode already in-use/,
    says: ({ spec: { claims = [] } }) =>
      `${claims.length > 1 ? 'one of its claims' : 'its claim'} ${claimNames(claims)} is for one pod at a time, and another pod uses it`,
    next: () =>
      'Delete the other pod, or wait until it ends. For pods that share the claim, it needs another access mode.',
  },
  {
    matches: /volume node affinity conflict|didn't find available persistent volumes/,
    says: () => 'its volume is bound to another node or zone',
    next: () =>
      'Use a StorageClass with volumeBindingMode WaitForFirstConsumer, or add a node in the zone of the volume.',
  },
  {
    matches: /topology spread constraints \(missing required label\)/,
    says: ({ spec }) => `no node has the label${spreadWords(spec.spreadKeys)} over which its pods must be spread`,
    next: (pod) =>
      `Correct topologyKey of its topologySpreadConstraints in the manifest of ${manifestOf(pod)}, or label the nodes so.`,
  },
  {
    matches: /topology spread constraints(?! \()/,
    says: ({ spec }) => `its topologySpreadConstraints${spreadWords(spec.spreadKeys)} allow no node`,
    next: (pod) =>
      `Use whenUnsatisfiable: ScheduleAnyway in the manifest of ${manifestOf(pod)}, or add a node where one is missing.`,
  },
  {
    matches: /anti-affinity rules/,
    says: () => 'its anti-affinity keeps it from every node: each has such a pod already',
    next: (pod) => `Add a node, or make the rule preferred instead of required in the manifest of ${manifestOf(pod)}.`,
  },
  {
    matches: /pod affinity rules/,
    says: () => 'its pod affinity wants a node with a pod that no node has',
    next: (pod) => `Correct the pod affinity in the manifest of ${manifestOf(pod)}, or start that other pod first.`,
  },
  {
    matches: /free ports for the requested pod ports/,
    says: () => 'its hostPort is in use on every node',
    next: (pod) => `Leave out hostPort in the manifest of ${manifestOf(pod)}, or run fewer such pods than nodes.`,
  },
  {
    matches: /Too many pods/,
    says: () => 'its nodes hold as many pods as they may',
    next: () => 'Add a node, or remove pods that nobody needs.',
  },
  {
    matches: /max volume count/,
    says: () => 'its nodes hold as many volumes as they can attach',
    next: () => 'Add a node, or remove pods with volumes that nobody needs.',
  },
];

const claimNames = (claims: readonly string[] = []): string =>
  claims.length === 0 ? 'of a volume' : cleanWords(listed(claims), 300);

const spreadWords = (keys: readonly string[] = []): string =>
  keys.length === 0 ? '' : ` ${cleanWords(listed([...new Set(keys)].slice(0, 3)), 120)}`;

/** The pod's request for a resource: the containers together, or the largest init container. */
function requested(pod: Pod, of: (container: PodContainer) => string | undefined): number | undefined {
  const amount = (container: PodContainer): number => quantityOf(of(container) ?? '') ?? 0;
  const sum = lastingContainers(pod).reduce((all, each) => all + amount(each), 0);
  const most = Math.max(sum, ...pod.spec.initContainers.filter((each) => !isSidecar(each)).map(amount));
  return most > 0 ? most : undefined;
}

const coresText = (cores: number): string =>
  cores < 1 ? `${Math.round(cores * 1_000)}m` : `${Number(cores.toFixed(1))}`;

function requestWords(pod: Pod, resource: string): string {
  const cpu = requested(pod, ({ cpuRequest }) => cpuRequest);
  const memory = requested(pod, ({ memoryRequest }) => memoryRequest);
  if (resource === 'cpu' && cpu !== undefined) return `it requests ${coresText(cpu)} CPU`;
  if (resource === 'memory' && memory !== undefined) return `it requests ${formatBytes(memory)} of memory`;
  return `it requests ${resource}`;
}

interface Obstacle {
  readonly says: string;
  readonly next: string;
}

/** The obstacle between the pod and a node, by the scheduler's message. */
function schedulingObstacle(pod: Pod, message: string): Obstacle {
  const parsed = UNFIT.exec(message)?.groups;
  const why = parsed?.why ?? message;
  // The nodes that preemption cannot help are too small, or unfit for another reason (scheduler, NodeResourcesFit).
  const isTooLarge =
    new RegExp(`^\\d+/\\d+ nodes are available: ${parsed?.all} Preemption is not helpful`).test(
      parsed?.preemption ?? '',
    ) && /^(?:\d+ Insufficient [\w./-]+(?:, )?)+$/.test(why);
  const found = REASONS.flatMap((reason) => {
    const match = reason.matches.exec(why);
    if (!match) return [];
    // A taint without a value ends in a colon.
    const detail = cleanWords(match.groups?.name ?? '', 120).replace(/: ?$/, '');
    return [{ says: reason.says(pod, detail, isTooLarge), next: reason.next(pod) }];
  });
  const [first, ...others] = found;
  if (/^no nodes available to schedule pods/.test(message)) {
    return { says: 'the cluster has no node', next: 'Whoever runs the cluster must add a node.' };
  }
  if (!first) {
    return {
      says: quoted(why || message) || 'no reason given',
      next: `Correct what it asks for in the manifest of ${manifestOf(pod)}, or add a node that has it.`,
    };
  }
  const also = others.slice(0, 1).map(({ says }) => `; on others, ${says}`);
  return { says: `${first.says}${also.join('')}`, next: first.next };
}

export const SCHEDULING_RULES: readonly ClusterRule[] = [
  {
    code: 'not_scheduled',
    seenBy: 'cluster',
    section: 'start',
    rank: 1,
    reads: 'condition PodScheduled, the requests, node selector and claims of the pod',
    means: 'No node has room for the pod, or none matches its rules.',
    next: 'Lower the pod’s requests or correct its node selector, tolerations or claims; or add a node that fits.',
    source: 'Kubernetes, "Pod Lifecycle", condition PodScheduled; the words of the scheduler’s plugins',
    replaces: ['not_ready', 'warning_events'],
    find: ({ pod }) => {
      const condition = pod.spec.nodeName === undefined ? unmetCondition(pod, 'PodScheduled') : undefined;
      if (!condition || isDeleting(pod)) return [];
      if (condition.reason === 'SchedulingGated') {
        const next =
          'Whoever set the gates must remove them; a controller such as a queue does so when it is the pod’s turn.';
        const { schedulingGates: gates = [] } = pod.spec;
        const names = gates.length === 0 ? 's' : `${gates.length > 1 ? 's' : ''} ${cleanWords(listed(gates), 120)}`;
        return [{ code: 'not_scheduled', text: `the pod waits: it has the scheduling gate${names}`, next, rank: 2 }];
      }
      const { says, next } = schedulingObstacle(pod, condition.message || condition.reason);
      return [{ code: 'not_scheduled', text: `no node can run the pod: ${says}`, next }];
    },
  },
];
