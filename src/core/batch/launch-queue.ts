import type { BatchPod } from './batch.ts';

/** The pods of one node that wait for their turn. */
interface NodeQueue {
  /** Indexes of the snapshot, rising. Those before `head` have had their turn. */
  readonly indexes: number[];
  head: number;
  /** How many from `head` on are queued, `queueEnd` observed. */
  waiting: number;
  inFlight: number;
}

/** Who is next, spread over the nodes. Made once from the pods, then kept up to date: no step looks at the whole batch. */
export interface LaunchQueue {
  /** How many pods wait for their turn. */
  readonly waiting: number;
  /** A queued pod may now be launched, because `replicas` covers it. */
  admit(index: number): void;
  /** It no longer may. */
  withdraw(index: number): void;
  /** It is in flight now. */
  launched(index: number): void;
  /** It is in flight no more. */
  ended(index: number): void;
  /**
   * The next `count` pods, or all that wait if they are fewer: no node gets a second one in flight while another that has a
   * pod waiting has fewer (image pulls queue per node). Changes nothing. In proportion to `count`.
   */
  next(count: number): readonly number[];
}

export function createLaunchQueue(pods: readonly BatchPod[]): LaunchQueue {
  const nodes = new Map<string, NodeQueue>();
  /** Nodes with a pod waiting, by how many they have in flight; each set in the order of arrival. */
  const levels: Set<NodeQueue>[] = [];
  let waiting = 0;

  const nodeOf = (index: number): NodeQueue => {
    const name = pods[index]?.node ?? '';
    const known = nodes.get(name);
    if (known) return known;
    const made: NodeQueue = { indexes: [], head: 0, waiting: 0, inFlight: 0 };
    nodes.set(name, made);
    return made;
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
  /** The node's queued pod after `offset` others; pods had their turn in rising order, so this hardly ever steps over one. */
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
    next: (count) => take(Math.min(count, waiting), turns(levels, peek)),
  };
}

type Peek = (node: NodeQueue, offset: number) => number | undefined;

/**
 * All that wait, level by level: a node that gives a pod counts one more in flight, so it comes again only after all others of
 * its level.
 */
function* turns(levels: readonly (Set<NodeQueue> | undefined)[], peek: Peek): Generator<number> {
  let carried: readonly Turn[] = [];
  for (let level = 0; level < levels.length || carried.length > 0; level += 1) {
    const next: Turn[] = [];
    for (const { node, given } of turnsOf(levels[level], carried)) {
      const index = peek(node, given);
      if (index === undefined) continue;
      yield index;
      if (given + 1 < node.waiting) next.push({ node, given: given + 1 });
    }
    carried = next;
  }
}

function take(count: number, indexes: Iterable<number>): readonly number[] {
  const taken: number[] = [];
  if (count > 0) {
    for (const index of indexes) if (taken.push(index) === count) break;
  }
  return taken;
}

interface Turn {
  readonly node: NodeQueue;
  /** Pods that it has given already in this round. */
  readonly given: number;
}

function* turnsOf(level: Iterable<NodeQueue> = [], carried: readonly Turn[]): Generator<Turn> {
  for (const node of level) yield { node, given: 0 };
  yield* carried;
}
