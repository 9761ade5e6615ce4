import { request } from 'node:https';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import type { PageChange, PageEvent, PagePod } from '../contract.ts';
import { type ClusterSide, type ContainerPlace, LOG_LINES } from './cluster-side.ts';
import { newestEvents, shownEvent, shownPod } from './shown-pod.ts';

const PERIOD_MS = 1_000;

/**
 * A real cluster, asked again each second for the pods and events of these namespaces: enough to look at, with nothing
 * to resume. What it does not answer is shown as it was.
 */
export class ApiSide implements ClusterSide {
  readonly #config = new KubeConfig();
  readonly #core: CoreV1Api;
  readonly #namespaces: readonly string[];
  readonly #tell: (change: PageChange) => void;
  readonly #pods = new Map<string, PagePod>();
  readonly #events = new Map<string, PageEvent>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(kubeconfig: string, namespaces: readonly string[], tell: (change: PageChange) => void) {
    this.#config.loadFromString(kubeconfig);
    this.#core = this.#config.makeApiClient(CoreV1Api);
    this.#namespaces = namespaces;
    this.#tell = tell;
    void this.#look();
  }

  pods(): readonly PagePod[] {
    return [...this.#pods.values()];
  }

  events(): readonly PageEvent[] {
    return newestEvents([...this.#events.values()]);
  }

  async log(place: ContainerPlace, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const path = [place.namespace, 'pods', place.pod].map(encodeURIComponent).join('/');
    const query = new URLSearchParams({ container: place.container, follow: 'true', tailLines: String(LOG_LINES) });
    const url = `${this.#config.getCurrentCluster()?.server ?? ''}/api/v1/namespaces/${path}/log?${query}`;
    const options = { signal };
    await this.#config.applyToHTTPSOptions(options);
    return new Promise((resolve, reject) => {
      const asked = request(url, options, (response) => {
        if (response.statusCode === 200) resolve(response);
        else reject(new Error(`The cluster answers ${response.statusCode} for this log.`));
      });
      asked.on('error', reject);
      asked.end();
    });
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    for (const namespace of this.#namespaces) {
      await this.#lookAtPods(namespace).catch(() => undefined);
      await this.#lookAtEvents(namespace).catch(() => undefined);
    }
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#look(), PERIOD_MS).unref();
  }

  async #lookAtPods(namespace: string): Promise<void> {
    const { items } = await this.#core.listNamespacedPod({ namespace });
    const now = new Map(items.map((pod) => [`${namespace}/${pod.metadata?.name ?? ''}`, shownPod(pod)]));
    for (const [key, pod] of this.#pods) {
      if (pod.namespace !== namespace || now.has(key)) continue;
      this.#pods.delete(key);
      this.#tell({ kind: 'pod-gone', namespace, name: pod.name });
    }
    for (const [key, pod] of now) {
      if (isSame(this.#pods.get(key), pod)) continue;
      this.#pods.set(key, pod);
      this.#tell({ kind: 'pod', pod });
    }
  }

  async #lookAtEvents(namespace: string): Promise<void> {
    const { items } = await this.#core.listNamespacedEvent({
      namespace,
      fieldSelector: 'involvedObject.kind=Pod',
      limit: 500,
    });
    for (const event of newestEvents(items.map(shownEvent))) {
      if (isSame(this.#events.get(event.uid), event)) continue;
      this.#events.delete(event.uid);
      this.#events.set(event.uid, event);
      this.#tell({ kind: 'event', event });
    }
    for (const uid of [...this.#events.keys()].slice(0, -1_000)) this.#events.delete(uid);
  }
}

const isSame = (one: object | undefined, other: object): boolean => JSON.stringify(one) === JSON.stringify(other);
