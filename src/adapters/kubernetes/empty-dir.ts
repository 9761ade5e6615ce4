import { CARRIES_VARIABLE } from '../../core/container/carrier.ts';
import { quantityOf } from '../../lib/quantity.ts';
import { asObject, asObjects, asText, type JsonObject, textOrUndefined } from './api/json-fields.ts';

/** More than a tracer needs: the kubelet evicts a pod whose emptyDir grows beyond its limit. */
const ENOUGH_BYTES = 64 * 1024 * 1024;

/**
 * An emptyDir of a pod that a program can be copied into and started from beside this container. Only one that no other
 * container of the pod mounts while this one is down: who can write there could put another program in its place. None
 * in memory, which the pod may lack. Undefined where processes are shared, too: nobody could end only those of one
 * container.
 */
export function emptyDirFor(pod: JsonObject, container: JsonObject): string | undefined {
  const spec = asObject(pod.spec);
  if (spec.shareProcessNamespace === true || spec.hostPID === true) return undefined;
  const neighbours = [...neighboursOf(spec, container), ...debuggersOf(pod)].flatMap(({ volumeMounts }) =>
    asObjects(volumeMounts),
  );
  const shared = new Set(neighbours.map(({ name }) => name));
  const found = asObjects(spec.volumes).find(({ name, emptyDir }) => !shared.has(name) && hasRoom(emptyDir));
  return found && asText(found.name);
}

/** Init containers have ended, but for those that restart for the pod's life. */
const neighboursOf = (spec: JsonObject, container: JsonObject): readonly JsonObject[] =>
  [
    ...asObjects(spec.containers),
    ...asObjects(spec.initContainers).filter(({ restartPolicy }) => restartPolicy === 'Always'),
  ].filter(({ name }) => name !== container.name);

/** Those that may still run, but for one that brings a tracer. */
function debuggersOf(pod: JsonObject): readonly JsonObject[] {
  const statuses = asObjects(asObject(pod.status).ephemeralContainerStatuses);
  const ended = new Set(
    statuses.filter(({ state }) => asObject(state).terminated !== undefined).map(({ name }) => name),
  );
  return asObjects(asObject(pod.spec).ephemeralContainers).filter(
    ({ name, env }) => !ended.has(name) && !asObjects(env).some((variable) => variable.name === CARRIES_VARIABLE),
  );
}

function hasRoom(emptyDir: unknown): boolean {
  if (emptyDir === undefined) return false;
  const { medium, sizeLimit } = asObject(emptyDir);
  if (textOrUndefined(medium) !== undefined) return false;
  return sizeLimit === undefined || (quantityOf(asText(sizeLimit)) ?? 0) >= ENOUGH_BYTES;
}
