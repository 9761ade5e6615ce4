import { badRequest, cause, invalid } from '../api/status.ts';
import { isObject } from '../objects/json.ts';
import type { Condition, Container, JsonObject, PodObject, PodSpec, Port } from '../objects/pod.ts';
import { defaultPullPolicy } from './ephemeral-fields.ts';

interface PodBirth {
  readonly namespace: string;
  readonly uid: string;
  readonly now: string;
  /** Absent: no node takes it. */
  readonly nodeName?: string;
  readonly conditions?: readonly Condition[];
}

const tolerated = (key: string): JsonObject => ({
  key: `node.kubernetes.io/${key}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
});

/** What the API server and its admission fill in (core/v1 defaults, DefaultTolerationSeconds, Priority). */
const SPEC: Omit<PodSpec, 'containers'> = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  serviceAccountName: 'default',
  serviceAccount: 'default',
  securityContext: {},
  schedulerName: 'default-scheduler',
  tolerations: [tolerated('not-ready'), tolerated('unreachable')],
  priority: 0,
  enableServiceLinks: true,
  preemptionPolicy: 'PreemptLowerPriority',
};

/** A pod as the API server would keep it: defaults filled in, scheduled at once. @throws ApiError 400, 422 */
export function podFrom(raw: JsonObject, { namespace, uid, now, nodeName, conditions }: PodBirth): PodObject {
  const metadata = isObject(raw.metadata) ? raw.metadata : {};
  const spec = isObject(raw.spec) ? raw.spec : {};
  if (raw.kind !== undefined && raw.kind !== 'Pod')
    throw badRequest('the object provided is unrecognized (must be of type Pod)');
  const name = nameOf(metadata, uid);
  const containers = containersOf(spec.containers);
  if (containers.length === 0)
    throw invalid('Pod', name, [cause('FieldValueRequired', 'spec.containers', 'Required value')]);
  const filled: PodSpec = {
    ...SPEC,
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(typeof spec.serviceAccountName === 'string' ? { serviceAccount: spec.serviceAccountName } : {}),
    ...spec,
    containers,
  };
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      ...textMaps(metadata),
      ...ownersOf(metadata),
      name,
      namespace,
      uid,
      resourceVersion: '0',
      generation: 1,
      creationTimestamp: now,
    },
    spec: filled,
    status: {
      phase: 'Pending',
      ...(conditions ? { conditions } : {}),
      qosClass: containers.some(hasResources) ? 'Burstable' : 'BestEffort',
    },
  };
}

const hasResources = ({ resources }: Container): boolean =>
  Object.keys({ ...resources?.limits, ...resources?.requests }).length > 0;

function nameOf(metadata: JsonObject, uid: string): string {
  if (typeof metadata.name === 'string') return metadata.name;
  if (typeof metadata.generateName === 'string') return `${metadata.generateName}${uid.slice(0, 5)}`;
  throw invalid('Pod', '', [
    cause('FieldValueRequired', 'metadata.name', 'Required value: name or generateName is required'),
  ]);
}

function textMaps(metadata: JsonObject): { labels?: Record<string, string>; annotations?: Record<string, string> } {
  const texts = (value: JsonObject) =>
    Object.fromEntries(Object.entries(value).map(([key, each]) => [key, String(each)]));
  return {
    ...(isObject(metadata.labels) ? { labels: texts(metadata.labels) } : {}),
    ...(isObject(metadata.annotations) ? { annotations: texts(metadata.annotations) } : {}),
  };
}

/** Nothing here looks for the owners, nor removes a pod without one. */
function ownersOf({ ownerReferences }: JsonObject): Pick<PodObject['metadata'], 'ownerReferences'> {
  if (!Array.isArray(ownerReferences)) return {};
  const owners = ownerReferences.filter(isObject).map(({ apiVersion, kind, name, uid, controller }) => ({
    apiVersion: String(apiVersion),
    kind: String(kind),
    name: String(name),
    uid: String(uid),
    controller: controller === true,
  }));
  return { ownerReferences: owners };
}

const withProtocol = (port: JsonObject): Port => ({
  protocol: 'TCP',
  ...port,
  containerPort: Number(port.containerPort),
});

function containersOf(value: unknown): readonly Container[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isObject).map((each) => {
    const image = typeof each.image === 'string' ? each.image : '';
    return {
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      imagePullPolicy: defaultPullPolicy(image),
      ...each,
      ...(Array.isArray(each.ports) ? { ports: each.ports.filter(isObject).map(withProtocol) } : {}),
      name: typeof each.name === 'string' ? each.name : '',
      image,
    };
  });
}
