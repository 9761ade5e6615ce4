import type { Pod } from '../../../core/container/pod.ts';
import type { ApiClient } from '../api/api-client.ts';
import { asObject, asObjects, asText, textOrNothing } from '../api/json-fields.ts';
import { podsPath } from '../api/paths.ts';
import { viewPod } from '../pod-view.ts';

export interface PodList {
  readonly pods: readonly Pod[];
  /** Where a watch goes on from; opaque. */
  readonly resourceVersion: string;
}

const PAGE = 500;

/**
 * All pods of a namespace as they are now, page by page; only projections are kept. A page that has become too old (410)
 * fails the whole list, which the watch then begins again.
 */
export async function listPods(client: ApiClient, namespace: string): Promise<PodList> {
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
    token = textOrNothing(metadata.continue);
  } while (token !== undefined);
  return { pods, resourceVersion };
}
