import { isObject } from '../objects/json.ts';
import { type Condition, type JsonObject, type PodObject, rfc3339 } from '../objects/pod.ts';
import type { World } from '../world.ts';

/** Where a new pod goes: the node, or nothing and why. A node that the pod names itself is not looked at. */
export function scheduled(
  world: World,
  raw: JsonObject,
  nodeName: string,
): { readonly nodeName?: string; readonly conditions?: readonly Condition[] } {
  const spec = isObject(raw.spec) ? raw.spec : {};
  const selector = isObject(spec.nodeSelector) ? spec.nodeSelector : {};
  const labels = world.places.nodes.get(nodeName)?.metadata.labels ?? {};
  if (spec.nodeName !== undefined || Object.entries(selector).every(([key, value]) => labels[key] === value))
    return { nodeName };
  const condition = {
    type: 'PodScheduled',
    observedGeneration: 1,
    status: 'False',
    lastProbeTime: null,
    lastTransitionTime: rfc3339(world.clock.now()),
    reason: 'Unschedulable',
    message: whyNot(world.places.nodes.size),
  };
  return { conditions: [condition] };
}

/** Says once that no node took the pod; one that named a node that is not there has nobody who would say so. */
export function tellUnscheduled(world: World, pod: PodObject): void {
  if (pod.spec.nodeName !== undefined) return;
  const message = whyNot(world.places.nodes.size);
  world.events.tell({ pod, type: 'Warning', reason: 'FailedScheduling', message, component: 'default-scheduler' });
}

/** The scheduler's sentence for a node selector that no node has. */
function whyNot(nodes: number): string {
  const none = `0/${nodes} nodes are available`;
  const selector = `${nodes} node(s) didn't match Pod's node affinity/selector. no new claims to deallocate`;
  return `${none}: ${selector}, preemption: ${none}: ${nodes} Preemption is not helpful for scheduling.`;
}
