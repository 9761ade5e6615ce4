import type { BatchPod } from './batch.ts';

interface NodeQueue {
  /** Indexes of the snapshot, rising. Those before `head` have been launched. */
  readonly indexes: number[];
  head: number;
  /** The number of queued pods from `head` on and before `queueEnd`. */
  waiting: number;
  inFlight: number;
}

/**
 * Chooses the next pods, spread over the nodes. Built once from the pods, then updated: no step visits the whole batch.
 */
export interface LaunchQueue {
  readonly waiting: number;
  /** A queued pod may be launched now, because `replicas` covers it. */
  admit(index: number): void;
  /** A queued pod may no longer be launched. */
  withdraw(index: number): void;
  launched(index: number): void;
  ended(index: number): void;
  /**
   * The next `count` pods, or all that are queued if there are fewer. No node gets a second pod in flight while another
   * node with a queued pod has fewer (image pulls queue per node). Changes nothing. O(count).
   */
  next(count: number): readonly number[];
}

export function createLaunchQueue(pods: readonly BatchPod[]): LaunchQueue {
  const nodes = new Map<string, NodeQueue>();
  /** Nodes with a queued pod, by their number of pods in flight; each set in order of arrival. */
  const levels: Set<NodeQueue>[] = [];
  let waiting = 0;

  const nodeOf = (index: number): NodeQueue => {
    const name = pods[index]?.node ?? '';
    const known = nodes.get(name);
    if (known) return known;
    const node: NodeQueue = { indexes: [], head: 0, waiting: 0, inFlight: 0 };
    nodes.set(name, node);
    return node;
  };
  for (const { index, skip } of pods) if (skip === undefined) nodeOf(index).indexes.push(index);

  const levelOf = (inFlight: number): Set<NodeQueue> => {
    const level = levels[inFlight] ?? new Set();
    levels[inFlight] = level;
    return level;
  };
  const change = (index: number, by: { readonly waiting: number; readonly inFlight: number }): void => {
    const node = nodeOf(index);
    if (node.waiting > 0 && (by.inFlight !== 0 || node.waiting + by.waiting === 0)) levelOf(node.inFlight).delete(node);
    node.waiting += by.waiting;
    node.inFlight += by.inFlight;
    waiting += by.waiting;
    if (node.waiting > 0) levelOf(node.inFlight).add(node);
  };
  /**
   * The node's queued pod after `offset` others. Pods are launched in rising order, so the loop hardly ever skips one.
   */
  const peek = (node: NodeQueue, offset: number): number | undefined => {
    const isQueued = (at: number): boolean => pods[node.indexes[at] ?? -1]?.state === 'queued';
    while (node.head < node.indexes.length && !isQueued(node.head)) node.head += 1;
    let at = node.head;
    for (let left = offset; at < node.indexes.length; at += 1) {
      if (!isQueued(at)) continue;
      if (left === 0) break;
      left -= 1;
    }
    return node.indexes[at];
  };

  return {
    get waiting() {
      return waiting;
    },
    admit: (index) => change(index, { waiting: 1, inFlight: 0 }),
    withdraw: (index) => change(index, { waiting: -1, inFlight: 0 }),
    launched: (index) => change(index, { waiting: -1, inFlight: 1 }),
    ended: (index) => change(index, { waiting: 0, inFlight: -1 }),
    next: (count) => first(Math.min(count, waiting), turns(levels, peek)),
  };
}

type Peek = (node: NodeQueue, offset: number) => number | undefined;

/** All queued pods, level by level. A node that yields one has one more in flight, so it follows its whole level. */
function* turns(levels: readonly (Set<NodeQueue> | undefined)[], peek: Peek): Generator<number> {
  let carried: readonly Turn[] = [];
  for (let level = 0; level < levels.length || carried.length > 0; level += 1) {
    const next: Turn[] = [];
    for (const { node, yielded } of turnsOf(levels[level], carried)) {
      const index = peek(node, yielded);
      if (index === undefined) continue;
      yield index;
      if (yielded + 1 < node.waiting) next.push({ node, yielded: yielded + 1 });
    }
    carried = next;
  }
}

function first(count: number, indexes: Iterable<number>): readonly number[] {
  const result: number[] = [];
  if (count > 0) {
    for (const index of indexes) if (result.push(index) === count) break;
  }
  return result;
}

interface Turn {
  readonly node: NodeQueue;
  /** Pods that the node has already yielded. */
  readonly yielded: number;
}

function* turnsOf(level: Iterable<NodeQueue> = [], carried: readonly Turn[]): Generator<Turn> {
  for (const node of level) yield { node, yielded: 0 };
  yield* carried;
}
