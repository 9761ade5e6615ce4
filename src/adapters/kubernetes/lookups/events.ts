import type { PodEvent, PodRef } from '../../../core/container/pod.ts';
import type { ObjectEvent } from '../../../core/diagnosis/facts/facts.ts';
import type { About, Warnings as WarningList } from '../../../flow/ports/cluster.ts';
import { Cached } from '../../../lib/cached.ts';
import type { Clock } from '../../../lib/clock.ts';
import { defined } from '../../../lib/object.ts';
import type { ApiClient } from '../api/api-client.ts';
import { itemsOf } from '../api/api-errors.ts';
import { asNumber, asObject, asText, type JsonObject, textOrUndefined } from '../api/json-fields.ts';
import { checkedContainer, namespacePath } from '../api/paths.ts';
import { FACT_LOAD_MS, MAX_FACT_BYTES } from './optional-facts.ts';

const MAX_ENTRIES = 20;
/** Events live an hour, and equal ones share one object: a pod has a few dozen at most. */
const PAGE = 500;
/** An answer quotes the newest. */
const MAX_WARNINGS = 500;
const MESSAGE_LENGTH = 1_000;

/** The newest events of a pod, or of one of its ephemeral containers, newest first (core/v1 Event, `involvedObject.fieldPath`). */
export async function readEvents(
  client: ApiClient,
  nowMs: number,
  pod: PodRef,
  containerName?: string,
): Promise<readonly PodEvent[]> {
  const fieldPath =
    containerName === undefined ? undefined : `spec.ephemeralContainers{${checkedContainer(containerName)}}`;
  const raw = await client.json({
    path: `${namespacePath(pod.namespace)}/events`,
    query: {
      fieldSelector: [
        `involvedObject.uid=${pod.uid}`,
        ...(fieldPath === undefined ? [] : [`involvedObject.fieldPath=${fieldPath}`]),
      ].join(','),
      limit: String(PAGE),
    },
  });
  return itemsOf(raw)
    .filter((event) => fieldPath === undefined || asObject(event.involvedObject).fieldPath === fieldPath)
    .map((event) => viewEvent(event, nowMs))
    .sort(newestFirst)
    .slice(0, MAX_ENTRIES);
}

const WARNINGS_FRESH_MS = 2_000;
const WARNINGS_TIMEOUT_MS = 3_000;
/** The namespaces that people ask about within two seconds. A list of 500 warnings takes up to a megabyte. */
const MAX_NAMESPACES = 20;
/**
 * The API server pages in the order of names, not of time, so the newest of many may be on any page: one call for one large page,
 * about two megabytes, since an answer has few calls and one second.
 */
const WARNINGS_PAGE = 2_000;

/** The Warning events of whole namespaces, each list shared for 2 s. */
export class Warnings {
  readonly #client: Pick<ApiClient, 'json'>;
  readonly #clock: Clock;
  readonly #known: Cached<WarningList>;

  constructor(client: Pick<ApiClient, 'json'>, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
    this.#known = new Cached({
      clock,
      freshMs: () => WARNINGS_FRESH_MS,
      maxEntries: MAX_NAMESPACES,
      loadMs: FACT_LOAD_MS,
    });
  }

  /**
   * Those that `about` accepts of the newest 500 among at most 2,000, newest first; messages are cut at 1,000 characters. The newest
   * are told by times that whoever writes an event gives it.
   * @throws KdebugError invalid_name, and as the Cluster port says
   */
  async of(namespace: string, about: About, pod?: PodRef): Promise<WarningList> {
    const path = `${namespacePath(namespace)}/events`;
    const { events, areAll } = await this.#known.get(namespace, () => this.#fetch(path, 'type=Warning'));
    const wanted = events.filter(({ involved }) => about(involved));
    if (areAll || pod === undefined) return { events: wanted, areAll };
    const own = await this.#fetch(path, `involvedObject.uid=${pod.uid},type=Warning`);
    const others = wanted.filter(({ involved }) => involved.uid !== pod.uid);
    return { events: [...own.events, ...others].sort(newestFirst), areAll: own.areAll };
  }

  async #fetch(path: string, fieldSelector: string): Promise<WarningList> {
    const query = { fieldSelector, limit: String(WARNINGS_PAGE) };
    const list = await this.#client.json({ path, query, timeoutMs: WARNINGS_TIMEOUT_MS, maxBytes: MAX_FACT_BYTES });
    const nowMs = this.#clock.now();
    const events = itemsOf(list).map((event) => viewObjectEvent(event, nowMs));
    const isWhole = asText(asObject(asObject(list).metadata).continue) === '';
    return {
      events: events.sort(newestFirst).slice(0, MAX_WARNINGS),
      areAll: isWhole && events.length <= MAX_WARNINGS,
    };
  }
}

const newestFirst = (a: PodEvent, b: PodEvent): number => b.atMs - a.atMs;

function viewObjectEvent(event: JsonObject, nowMs: number): ObjectEvent {
  const { kind, name, uid } = asObject(event.involvedObject);
  const involved = { kind: asText(kind), name: asText(name), ...defined({ uid: textOrUndefined(uid) }) };
  return { ...viewEvent(event, nowMs), involved };
}

/** A time in the future counts as now. */
function viewEvent(event: JsonObject, nowMs: number): PodEvent {
  const series = asObject(event.series);
  const fieldPath = textOrUndefined(asObject(event.involvedObject).fieldPath);
  const count = asNumber(series.count) ?? asNumber(event.count);
  const at = [series.lastObservedTime, event.lastTimestamp, event.eventTime, asObject(event.metadata).creationTimestamp]
    .map(asText)
    .find(Boolean);
  return {
    reason: asText(event.reason),
    message: asText(event.message).slice(0, MESSAGE_LENGTH),
    type: asText(event.type),
    atMs: at ? Math.min(nowMs, Date.parse(at) || 0) : 0,
    ...defined({ count, fieldPath }),
  };
}
