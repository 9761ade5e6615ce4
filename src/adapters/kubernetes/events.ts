import type { PodEvent, PodRef } from '../../core/container/pod.ts';
import type { ApiClient } from './api/api-client.ts';
import { asNumber, asObject, asObjects, asText, type JsonObject, textOrNothing } from './api/json-fields.ts';
import { checkedContainer, namespacePath } from './api/paths.ts';

const MOST = 20;
/** Events live an hour, and like ones are counted in one object: a pod has a few dozen at most. */
const PAGE = 500;
const MESSAGE_LENGTH = 1_000;

/** The newest events of a pod, or of one of its ephemeral containers, newest first (core/v1 Event, `involvedObject.fieldPath`). */
export async function readEvents(client: ApiClient, pod: PodRef, containerName?: string): Promise<readonly PodEvent[]> {
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
  return asObjects(asObject(raw).items)
    .filter((event) => fieldPath === undefined || asObject(event.involvedObject).fieldPath === fieldPath)
    .map(viewEvent)
    .sort((a, b) => b.atMs - a.atMs)
    .slice(0, MOST);
}

function viewEvent(event: JsonObject): PodEvent {
  const series = asObject(event.series);
  const fieldPath = textOrNothing(asObject(event.involvedObject).fieldPath);
  const count = asNumber(series.count) ?? asNumber(event.count);
  const at = [series.lastObservedTime, event.lastTimestamp, event.eventTime, asObject(event.metadata).creationTimestamp]
    .map(asText)
    .find(Boolean);
  return {
    reason: asText(event.reason),
    message: asText(event.message).slice(0, MESSAGE_LENGTH),
    type: asText(event.type),
    atMs: at ? Date.parse(at) || 0 : 0,
    ...(count !== undefined && { count }),
    ...(fieldPath !== undefined && { fieldPath }),
  };
}
