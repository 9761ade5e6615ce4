import { answer, type Call, type Handler, readBody } from '../api/call.ts';
import { ApiError, cause, conflict, invalid, noSuchResource } from '../api/status.ts';
import { warn } from '../api/warning.ts';
import { isDryRun } from '../api/write-options.ts';
import { isObject, isSameJson } from '../objects/json.ts';
import { type Container, type Json, type JsonObject, type PodObject, rfc3339 } from '../objects/pod.ts';
import type { NodeSide, World } from '../world.ts';
import { decodeEphemeralContainers } from './ephemeral-fields.ts';
import { ephemeralCauses } from './ephemeral-validation.ts';
import { applyPatch } from './patch.ts';
import { admitByPodSecurity, isSignificant } from './pod-security-admission.ts';
import { answerPod, existing, mergedMetadata, toJson } from './pods.ts';

/**
 * The `pods/ephemeralcontainers` subresource with the API server's order of checks: patch, uid, fields, immutability,
 * then Pod Security over the whole pod, then webhooks. Without the subresource (an old server) the 404 has empty details.
 */
export function ephemeralHandlers(
  world: World,
  nodes: NodeSide,
  isServed: boolean,
): readonly (readonly [string, Handler])[] {
  const served = (handler: Handler): Handler => (isServed ? handler : () => Promise.reject(noSuchResource()));
  return [
    ['get pods/ephemeralcontainers', served((call) => answerPod(world, call, 200, existing(world, call)))],
    ['patch pods/ephemeralcontainers', served((call) => patch(world, nodes, call))],
  ];
}

async function patch(world: World, nodes: NodeSide, call: Call): Promise<void> {
  const body = await readBody(call);
  // Read after the body: what came in between has already happened, as under the API server's own retries.
  const pod = existing(world, call);
  const { result, patch: words } = applyPatch(toJson(world, pod), body, call.request.headers['content-type'] ?? '');
  checkIdentity(pod, result);
  const wanted = decode(result, words, call);
  const causes = ephemeralCauses(pod, wanted);
  if (causes.length > 0) throw invalid('Pod', pod.metadata.name, causes);
  const asked = changed(world, call, { pod, result, wanted });
  const next = asked === pod ? pod : world.webhooks.rewritten(call, 'UPDATE', asked);
  if (isSignificant(next, pod)) admitByPodSecurity(world, call, next);
  world.webhooks.admit(call, 'UPDATE', next);
  if (next === pod || isDryRun(call)) return answerPod(world, call, 200, next);
  const stored = world.pods.put(next);
  answer(call, 200, world.pods.json(stored));
  nodes.ephemeralAdded(stored);
}

/** @throws ApiError 422 another uid, told twice as the real server does; 409 an outdated resourceVersion */
function checkIdentity(pod: PodObject, result: JsonObject): void {
  const metadata = isObject(result.metadata) ? result.metadata : {};
  const { name } = pod.metadata;
  if (metadata.uid !== pod.metadata.uid) {
    const immutable = cause(
      'FieldValueInvalid',
      'metadata.uid',
      `Invalid value: ${JSON.stringify(metadata.uid)}: field is immutable`,
    );
    const error = invalid('Pod', name, [immutable, immutable]);
    throw new ApiError(422, 'Invalid', `Pod "${name}" is invalid: metadata.uid: ${immutable.message}`, error.details);
  }
  if (metadata.resourceVersion !== pod.metadata.resourceVersion) {
    throw conflict('pods', name);
  }
}

/** Unknown fields are dropped: with a warning, or silently, or not at all, as the query asks (meta/v1 fieldValidation). */
function decode(result: JsonObject, patch: Json, call: Call): readonly Container[] {
  const spec = isObject(result.spec) ? result.spec : {};
  const list = Array.isArray(spec.ephemeralContainers) ? spec.ephemeralContainers.filter(isObject) : [];
  const validation = call.query.get('fieldValidation') || 'Warn';
  return decodeEphemeralContainers(list, patch, (told) => {
    if (validation === 'Warn') warn(call, told);
    return validation === 'Strict' ? 'refuse' : 'drop';
  });
}

interface Wish {
  readonly pod: PodObject;
  readonly result: JsonObject;
  readonly wanted: readonly Container[];
}

/** The pod after the patch, or the very same object when nothing changes: then there is no new version either. */
function changed(world: World, call: Call, { pod, result, wanted }: Wish): PodObject {
  const metadata = mergedMetadata(pod, result);
  const hasSameContainers = isSameJson(pod.spec.ephemeralContainers ?? [], wanted);
  const isSame =
    hasSameContainers &&
    isSameJson(metadata.labels ?? {}, pod.metadata.labels ?? {}) &&
    isSameJson(metadata.annotations ?? {}, pod.metadata.annotations ?? {});
  if (isSame) return pod;
  return {
    ...pod,
    metadata: {
      ...metadata,
      generation: pod.metadata.generation + (hasSameContainers ? 0 : 1),
      managedFields: managed(world, call, pod),
    },
    spec: { ...pod.spec, ephemeralContainers: wanted },
  };
}

/** One short entry a manager: who changed the subresource last and when; the fields themselves are left out. */
function managed(world: World, call: Call, pod: PodObject): readonly JsonObject[] {
  const agent = (call.request.headers['user-agent'] ?? 'unknown').split('/')[0] ?? 'unknown';
  const manager = call.query.get('fieldManager') ?? agent;
  const others = (pod.metadata.managedFields ?? []).filter((each) => each.manager !== manager);
  const time = rfc3339(world.clock.now());
  const entry = {
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    time,
    fieldsType: 'FieldsV1',
    fieldsV1: {},
    subresource: 'ephemeralcontainers',
  };
  return [...others, entry];
}
