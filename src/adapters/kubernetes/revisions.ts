import { controllerOf, type Pod, TEMPLATE_HASH } from '../../core/container/pod.ts';
import type { Revision, Revisions } from '../../core/container/revisions.ts';
import type { ApiClient } from './api/api-client.ts';
import { type ApiResponse, itemsOf, toClusterError } from './api/api-errors.ts';
import { asFlag, asObject, asObjects, asText, asTexts, type JsonObject, textOrUndefined } from './api/json-fields.ts';
import { replicaSetsPath, workloadPath } from './api/paths.ts';
import { MAX_FACT_BYTES } from './lookups/optional-facts.ts';
import { containerOf } from './once-more.ts';

const REVISION = 'deployment.kubernetes.io/revision';

/**
 * The revisions of the Deployment of a pod, read now: people approve an image by it. A ReplicaSet counts if its controller
 * is that Deployment, by its uid; labels alone would let another one in.
 * @throws KdebugError as the Cluster port says
 */
export async function readRevisions(
  client: ApiClient,
  pod: Pick<Pod, 'metadata'>,
  containerName: string,
): Promise<Revisions> {
  const { namespace } = pod.metadata;
  const owner = controllerOf(pod);
  if (owner?.kind !== 'ReplicaSet') return { kind: 'none' };
  const answer = await client.send({ path: workloadPath(namespace, 'replicaset', owner.name) });
  if (answer.status === 404) return { kind: 'none' };
  if (isRefused(answer)) return { kind: 'no-right', right: 'get replicasets.apps' };
  if (answer.status !== 200) throw toClusterError(answer);
  const set = asObject(answer.body);
  const deployment = deploymentOf(set);
  const own = numberOf(set);
  if (!deployment || own === undefined) return { kind: 'none' };
  const query = { labelSelector: selectorOf(set) };
  const list = await client.send({ path: replicaSetsPath(namespace), query, maxBytes: MAX_FACT_BYTES });
  if (isRefused(list)) return { kind: 'no-right', right: 'list replicasets.apps' };
  if (list.status !== 200) throw toClusterError(list);
  const all = itemsOf(list.body)
    .filter((each) => deploymentOf(each)?.uid === deployment.uid)
    .flatMap((each) => revisionOf(each, containerName));
  return { kind: 'revisions', deployment: deployment.name, own, all };
}

/** An API server that starts does not know its roles yet: that is no missing right. */
function isRefused(answer: ApiResponse): boolean {
  return answer.status === 403 && toClusterError(answer).facts.mayPass !== true;
}

function deploymentOf({ metadata }: JsonObject): { readonly name: string; readonly uid: string } | undefined {
  const owner = asObjects(asObject(metadata).ownerReferences).find(({ controller }) => asFlag(controller) === true);
  const [name, uid] = [asText(owner?.name), asText(owner?.uid)];
  return owner?.kind === 'Deployment' && name !== '' && uid !== '' ? { name, uid } : undefined;
}

function numberOf({ metadata }: JsonObject): number | undefined {
  const text = asTexts(asObject(metadata).annotations)[REVISION] ?? '';
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}

/** The Deployment's: that of its ReplicaSet has the hash of the template besides. Its expressions would only leave out more. */
const selectorOf = ({ spec }: JsonObject): string =>
  Object.entries(asTexts(asObject(asObject(spec).selector).matchLabels))
    .filter(([key]) => key !== TEMPLATE_HASH)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

function revisionOf(set: JsonObject, containerName: string): readonly Revision[] {
  const number = numberOf(set);
  if (number === undefined) return [];
  const container = containerOf(asObject(asObject(set.spec).template), containerName);
  return [{ number, image: textOrUndefined(container?.image) }];
}
