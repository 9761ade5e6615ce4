import type { Pod, PodRef } from '../../../core/container/pod.ts';
import { KdebugError, toKdebugError } from '../../../core/errors.ts';
import type { PodSeen } from '../../../flow/ports/cluster.ts';
import type { Log } from '../../../flow/ports/machine.ts';
import { delayOf } from '../../../lib/backoff.ts';
import { type Clock, type Pause, pause } from '../../../lib/clock.ts';
import { Rounds } from '../../../lib/rounds.ts';
import { Trouble } from '../../../lib/trouble.ts';
import type { ApiClient } from '../api/api-client.ts';
import { asObject, asObjects, asText, textOrUndefined } from '../api/json-fields.ts';
import { podPath, podsPath } from '../api/paths.ts';
import { viewPod } from '../pod-view.ts';
import { PodCache, type Subscriber } from './pod-cache.ts';
import { type WatchEnd, WatchStream, type WatchTimes } from './watch-stream.ts';

export interface PodList {
  readonly pods: readonly Pod[];
  /** The place where a watch continues; opaque. */
  readonly resourceVersion: string;
}

const PAGE = 500;

/** The pods of a namespace, page by page, as projections. An expired page (410) fails the list; the watch repeats it. */
async function listPods(client: ApiClient, namespace: string): Promise<PodList> {
  const pods: Pod[] = [];
  let resourceVersion = '';
  let token: string | undefined;
  do {
    const page = asObject(
      await client.json({ path: podsPath(namespace), query: { limit: String(PAGE), continue: token } }),
    );
    const metadata = asObject(page.metadata);
    for (const item of asObjects(page.items)) pods.push(viewPod(item));
    resourceVersion = asText(metadata.resourceVersion);
    token = textOrUndefined(metadata.continue);
  } while (token !== undefined);
  return { pods, resourceVersion };
}

export interface WatchTools {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly times: WatchTimes;
  /** Called when a watch lists again, with the reason in a word. */
  readonly onRestart: (reason: string) => void;
}

interface Waiting {
  resolve(): void;
  reject(error: KdebugError): void;
}

/**
 * The one watch of a namespace: LIST, then WATCH from there, resumed where it stopped. When an event may be lost (410,
 * an error, a broken connection, silence) it lists again; it retries until closed.
 */
export class NamespaceWatch {
  readonly #tools: WatchTools;
  readonly #namespace: string;
  readonly #cache: PodCache;
  readonly #trouble: Trouble;
  #waiting: Waiting[] = [];
  #synced = false;
  #closed = false;
  #resourceVersion: string | undefined;
  #failures = 0;
  #pause: Pause | undefined;
  #stream: WatchStream | undefined;

  constructor(tools: WatchTools, namespace: string) {
    this.#tools = tools;
    this.#namespace = namespace;
    this.#cache = new PodCache(tools.log);
    this.#trouble = new Trouble(tools, { begins: 'pod watch failed, retrying', ends: 'pod watch works again' });
    void this.#run();
  }

  get hasSubscribers(): boolean {
    return this.#cache.hasSubscribers;
  }

  /** The pod as last seen; fetches a pod that is not in the cache. @throws KdebugError pod_not_found, and why a first LIST fails */
  async pod(name: string): Promise<Pod> {
    await this.#sync();
    return this.#cache.get(name) ?? this.#fetch(name);
  }

  /** All pods that `matches` accepts. @throws KdebugError why a first LIST fails */
  async pods(matches: (labels: Readonly<Record<string, string>>) => boolean): Promise<readonly Pod[]> {
    await this.#sync();
    return [...this.#cache.pods()].filter((pod) => matches(pod.metadata.labels));
  }

  subscribe(pod: PodRef, onSeen: (seen: PodSeen) => void): () => void {
    const subscriber: Subscriber = { pod, onSeen };
    this.#cache.subscribe(subscriber);
    void this.#notifyFirst(subscriber);
    return () => this.#cache.unsubscribe(subscriber);
  }

  close(): void {
    this.#closed = true;
    this.#pause?.end();
    this.#stream?.close();
    this.#release(new KdebugError('cluster_unreachable', { detail: 'closed' }));
  }

  #sync(): Promise<void> {
    if (this.#closed) return Promise.reject(new KdebugError('cluster_unreachable', { detail: 'closed' }));
    if (this.#synced) return Promise.resolve();
    // The caller should not wait for the whole back-off.
    this.#pause?.end();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
    });
  }

  #release(error?: KdebugError): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { resolve, reject } of waiting) {
      if (error) reject(error);
      else resolve();
    }
  }

  async #fetch(name: string): Promise<Pod> {
    return viewPod(await this.#tools.client.json({ path: podPath(this.#namespace, name) }, 'pod_not_found'));
  }

  /** Fetches a pod that is not in the cache (a launch can be quicker than the watch), so "gone" is never a guess. */
  async #notifyFirst(subscriber: Subscriber): Promise<void> {
    const { name } = subscriber.pod;
    try {
      await this.#sync();
      const known = this.#cache.get(name);
      const pod = known ?? (await this.#fetch(name));
      if (this.#cache.has(subscriber)) this.#cache.notify(subscriber, this.#cache.get(name) ?? pod);
    } catch (error) {
      const gone = toKdebugError(error).code === 'pod_not_found' && !this.#cache.get(name);
      if (gone && this.#cache.has(subscriber)) this.#cache.notify(subscriber, undefined);
      // After any other failure the watch retries, and notifies when it has a state.
    }
  }

  async #run(): Promise<void> {
    const rounds = new Rounds(this.#tools.clock);
    while (!this.#closed) {
      await rounds.next();
      try {
        if (this.#closed) return;
        if (this.#resourceVersion === undefined) await this.#list();
        if (this.#closed) return;
        await this.#afterWatch(await this.#watch(this.#resourceVersion ?? ''));
      } catch (error) {
        await this.#afterFailure(toKdebugError(error));
      }
    }
  }

  async #list(): Promise<void> {
    const { pods, resourceVersion } = await listPods(this.#tools.client, this.#namespace);
    this.#resourceVersion = resourceVersion;
    const first = !this.#synced;
    this.#synced = true;
    this.#cache.replace(pods);
    if (first) this.#release();
  }

  #watch(resourceVersion: string): Promise<WatchEnd> {
    const { times, random } = this.#tools;
    const seconds = times.minSeconds + Math.floor(random() * (times.maxSeconds - times.minSeconds + 1));
    this.#stream = new WatchStream(
      this.#tools,
      { namespace: this.#namespace, resourceVersion, timeoutSeconds: seconds, silenceMs: times.silenceMs },
      {
        opened: () => {},
        change: (change) => this.#cache.apply(change),
        reached: (version) => {
          this.#failures = 0;
          this.#trouble.worked();
          if (version !== '') this.#resourceVersion = version;
        },
      },
    );
    return this.#stream.over;
  }

  async #afterWatch(end: WatchEnd): Promise<void> {
    if (end.kind === 'failed') throw end.error;
    if (end.kind === 'stale') {
      this.#resourceVersion = undefined;
      this.#tools.onRestart(end.reason);
    }
    // Prevents a tight loop with a server that keeps closing at once.
    this.#failures += 1;
    if (this.#failures > 1) await this.#wait(this.#failures - 2);
  }

  async #afterFailure(error: KdebugError): Promise<void> {
    if (this.#closed) return;
    this.#resourceVersion = undefined;
    this.#failures += 1;
    this.#tools.onRestart(error.code);
    this.#release(error);
    this.#trouble.failed({ namespace: this.#namespace, reason: error.code, detail: error.detail });
    await this.#wait(this.#failures - 1, Number(error.facts.retryAfterMs ?? 0));
  }

  async #wait(attempt: number, atLeastMs = 0): Promise<void> {
    const { clock, random, times } = this.#tools;
    this.#pause = pause(clock, Math.max(atLeastMs, delayOf(times.backOff, attempt, random)));
    await this.#pause.over;
    this.#pause = undefined;
  }
}
