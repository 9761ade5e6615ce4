import type { LocalCluster } from '../../cluster/index.ts';
import type { PageChange, PageEvent, PagePod } from '../contract.ts';
import { newestEvents, shownEvent, shownPod } from './shown-pod.ts';

export interface ContainerPlace {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** How many of a log's newest lines a reading begins with. */
export const LOG_LINES = 2_000;

/** What the page shows of a cluster, whichever it is. */
export interface ClusterSide {
  pods(): readonly PagePod[];
  /** Newest last, at most 200. */
  events(): readonly PageEvent[];
  /** The container's log as it grows, until it ends or `signal` aborts. @throws Error a sentence on why it cannot be read */
  log(place: ContainerPlace, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  close(): void;
}

/** The local cluster, seen from within: its own API is not asked, so that its troubles and its request log are the bot's alone. */
export class LocalSide implements ClusterSide {
  readonly #cluster: LocalCluster;
  readonly #undo: readonly (() => void)[];

  constructor(cluster: LocalCluster, tell: (change: PageChange) => void) {
    this.#cluster = cluster;
    this.#undo = [
      cluster.watchPods(({ type, pod }) => {
        const { namespace, name } = pod.metadata;
        tell(type === 'DELETED' ? { kind: 'pod-gone', namespace, name } : { kind: 'pod', pod: shownPod(pod) });
      }),
      cluster.watchEvents((event) => tell({ kind: 'event', event: shownEvent(event) })),
    ];
  }

  pods(): readonly PagePod[] {
    return this.#cluster.pods().map(shownPod);
  }

  events(): readonly PageEvent[] {
    return newestEvents(this.#cluster.events().map(shownEvent));
  }

  async log(place: ContainerPlace, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return this.#cluster.followLog(place, { tailLines: LOG_LINES, signal });
  }

  close(): void {
    for (const undo of this.#undo) undo();
  }
}
