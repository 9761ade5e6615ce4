import type { Pod, PodRef } from '../../../core/container/pod.ts';
import { KdebugError, toKdebugError } from '../../../core/errors.ts';
import type { PodSeen } from '../../../flow/ports/cluster.ts';
import type { Log } from '../../../flow/ports/machine.ts';
import { delayOf } from '../../../lib/backoff.ts';
import { type Clock, type Pause, pause } from '../../../lib/clock.ts';
import type { OneByOne } from '../../../lib/one-by-one.ts';
import { Rounds } from '../../../lib/rounds.ts';
import { Trouble } from '../../../lib/trouble.ts';
import { type ApiClient, type ApiRequest, isTooLarge } from '../api/api-client.ts';
import { toClusterError } from '../api/api-errors.ts';
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
/** Parsed in one turn of the event loop. 500 pods are about 3 MB, 40 of those with the longest arguments are 56. */
const PAGE_BYTES = 3 * 1024 * 1024;
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** As much as an event of the watch may have. */
const MAX_POD_BYTES = 16 * 1024 * 1024;
/** A page that is too large is asked for again with this part of its pods. */
const SMALLER = 5;

/**
 * The pods of a namespace, page by page, as projections. An expired page (410) fails the list; the watch repeats it.
 * @throws KdebugError cluster_failed, which says where, for a pod that is too large by itself
 */
async function listPods({ client, pages }: WatchTools, namespace: string): Promise<PodList> {
  const pods: Pod[] = [];
  const path = podsPath(namespace);
  let token: string | undefined;
  let limit = PAGE;
  for (;;) {
    const maxBytes = limit === 1 ? MAX_POD_BYTES : MAX_PAGE_BYTES;
    const request: ApiRequest = { path, query: { limit: String(limit), continue: token }, maxBytes };
    const page: Page | undefined = await pages.run(() => readPage(client, request));
    if (page) {
      pods.push(...page.pods);
      if (page.token === undefined) return { pods, resourceVersion: page.resourceVersion };
      token = page.token;
      limit = pageFor(page);
    } else if (limit === 1) throw tooLarge(namespace, pods.at(-1));
    else limit = Math.max(1, Math.floor(limit / SMALLER));
  }
}

/** As many pods as fit into a page if they are as large as these. */
const pageFor = ({ pods, bytes }: Page): number =>
  Math.min(PAGE, Math.max(1, Math.floor((PAGE_BYTES * pods.length) / bytes)));

function tooLarge(namespace: string, before: Pod | undefined): KdebugError {
  const which = before === undefined ? 'the first pod' : `the pod after ${before.metadata.name}`;
  return new KdebugError('cluster_failed', { detail: `${which} in ${namespace} is too large to be read` });
}

interface Page extends PodList {
  readonly token: string | undefined;
  readonly bytes: number;
}

/** Undefined: it is too large. */
async function readPage(client: ApiClient, request: ApiRequest): Promise<Page | undefined> {
  try {
    const answer = await client.send(request);
    if (answer.status !== 200) throw toClusterError(answer);
    const { metadata, items } = asObject(answer.body);
    const { resourceVersion, continue: token } = asObject(metadata);
    return {
      pods: asObjects(items).map(viewPod),
      resourceVersion: asText(resourceVersion),
      token: textOrUndefined(token),
      bytes: answer.bytes ?? 1,
    };
  } catch (thrown) {
    if (isTooLarge(toKdebugError(thrown))) return undefined;
    throw thrown;
  }
}

export interface WatchTools {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly times: WatchTimes;
  /** Pages of all namespaces: while one is read and parsed it takes many times its size. */
  readonly pages: OneByOne;
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
    const { pods, resourceVersion } = await listPods(this.#tools, this.#namespace);
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
