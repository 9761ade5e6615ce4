import { isObject } from '../objects/json.ts';
import type { Json, JsonObject, Labels } from '../objects/pod.ts';
import { age, type Columns, column } from '../objects/table.ts';

/** An object that the local cluster keeps and shows, and that nothing here acts on. */
export interface StoredObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
    readonly labels?: Labels;
  };
  readonly [field: string]: unknown;
}

export interface StoredKind {
  readonly kind: string;
  /** Empty for core/v1; the version is always v1. */
  readonly group: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly columns: Columns<StoredObject>;
}

const NONE = '<none>';

const within = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), value);

type Cell = string | ((object: StoredObject, now: number) => string | number);

/** Name and age as kubectl prints them; between them a path, or a function, a column. `+` before a title: only with `-o wide`. */
function columnsOf(cells: Readonly<Record<string, Cell>>): Columns<StoredObject> {
  const titles = Object.keys(cells);
  const [shown, wide] = [
    titles.filter((title) => !title.startsWith('+')),
    titles.filter((title) => title.startsWith('+')),
  ];
  const cellOf = (object: StoredObject, now: number, cell: Cell = '') =>
    typeof cell === 'string' ? String(within(object, cell) ?? NONE) : cell(object, now);
  return {
    definitions: [
      column('Name'),
      ...shown.map((title) => column(title)),
      column('Age'),
      ...wide.map((title) => column(title.slice(1), 1)),
    ],
    cells: (object, now) => [
      object.metadata.name,
      ...shown.map((title) => cellOf(object, now, cells[title])),
      age(object.metadata.creationTimestamp, now),
      ...wide.map((title) => cellOf(object, now, cells[title])),
    ],
  };
}

const count = (object: StoredObject, path: string): number => Number(within(object, path) ?? 0);
const counted = (path: string) => (object: StoredObject) => count(object, path);
const listOf = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

const readyOf = (object: StoredObject): string =>
  `${count(object, 'status.readyReplicas')}/${within(object, 'spec.replicas') ?? 1}`;

function jobStatus(job: StoredObject): string {
  const met = (type: string) =>
    listOf(within(job, 'status.conditions')).some((each) => each.type === type && each.status === 'True');
  if (met('Complete')) return 'Complete';
  if (met('Failed')) return 'Failed';
  if (met('Suspended')) return 'Suspended';
  return met('FailureTarget') ? 'FailureTarget' : 'Running';
}

function jobDuration(job: StoredObject, now: number): string {
  const start = within(job, 'status.startTime');
  const end = within(job, 'status.completionTime');
  if (typeof start !== 'string') return '';
  return age(start, typeof end === 'string' ? Date.parse(end) : now);
}

const portsOf = (service: StoredObject): string =>
  listOf(within(service, 'spec.ports'))
    .map(
      ({ port, nodePort, protocol }) => `${port}${nodePort === undefined ? '' : `:${nodePort}`}/${protocol ?? 'TCP'}`,
    )
    .join(',') || NONE;

const addressesOf = (slice: StoredObject): string =>
  listOf(slice.endpoints)
    .flatMap(({ addresses }) => (Array.isArray(addresses) ? addresses.map((each: Json) => String(each)) : []))
    .join(',') || '<unset>';

const textsOf = (value: unknown): string =>
  isObject(value)
    ? Object.entries(value)
        .map(([key, each]) => `${key}=${String(each)}`)
        .join(',') || NONE
    : NONE;

const APPS = 'apps';
const BATCH = 'batch';

/** By resource. There are no controllers: an object says what its seed says. */
export const STORED_KINDS: Readonly<Record<string, StoredKind>> = {
  persistentvolumeclaims: {
    kind: 'PersistentVolumeClaim',
    group: '',
    namespaced: true,
    shortNames: ['pvc'],
    columns: columnsOf({
      Status: 'status.phase',
      Volume: (claim) => String(within(claim, 'spec.volumeName') ?? ''),
      Capacity: (claim) => String(within(claim, 'status.capacity.storage') ?? ''),
      'Access Modes': (claim) => String(within(claim, 'status.accessModes') ?? ''),
      StorageClass: (claim) => String(within(claim, 'spec.storageClassName') ?? ''),
      VolumeAttributesClass: () => '<unset>',
    }),
  },
  services: {
    kind: 'Service',
    group: '',
    namespaced: true,
    shortNames: ['svc'],
    columns: columnsOf({
      Type: 'spec.type',
      'Cluster-IP': 'spec.clusterIP',
      'External-IP': (service) => String(within(service, 'spec.externalName') ?? NONE),
      'Port(s)': portsOf,
      '+Selector': (service) => textsOf(within(service, 'spec.selector')),
    }),
  },
  deployments: {
    kind: 'Deployment',
    group: APPS,
    namespaced: true,
    shortNames: ['deploy'],
    columns: columnsOf({
      Ready: readyOf,
      'Up-to-date': counted('status.updatedReplicas'),
      Available: counted('status.availableReplicas'),
    }),
  },
  replicasets: {
    kind: 'ReplicaSet',
    group: APPS,
    namespaced: true,
    shortNames: ['rs'],
    columns: columnsOf({
      Desired: counted('spec.replicas'),
      Current: counted('status.replicas'),
      Ready: counted('status.readyReplicas'),
    }),
  },
  statefulsets: {
    kind: 'StatefulSet',
    group: APPS,
    namespaced: true,
    shortNames: ['sts'],
    columns: columnsOf({ Ready: readyOf }),
  },
  daemonsets: {
    kind: 'DaemonSet',
    group: APPS,
    namespaced: true,
    shortNames: ['ds'],
    columns: columnsOf({
      Desired: counted('status.desiredNumberScheduled'),
      Current: counted('status.currentNumberScheduled'),
      Ready: counted('status.numberReady'),
      'Up-to-date': counted('status.updatedNumberScheduled'),
      Available: counted('status.numberAvailable'),
      'Node Selector': (set) => textsOf(within(set, 'spec.template.spec.nodeSelector')),
    }),
  },
  jobs: {
    kind: 'Job',
    group: BATCH,
    namespaced: true,
    shortNames: [],
    columns: columnsOf({
      Status: jobStatus,
      Completions: (job) => `${count(job, 'status.succeeded')}/${within(job, 'spec.completions') ?? 1}`,
      Duration: jobDuration,
    }),
  },
  cronjobs: {
    kind: 'CronJob',
    group: BATCH,
    namespaced: true,
    shortNames: ['cj'],
    columns: columnsOf({
      Schedule: 'spec.schedule',
      Timezone: 'spec.timeZone',
      Suspend: (job) => (within(job, 'spec.suspend') === true ? 'True' : 'False'),
      Active: (job) => listOf(within(job, 'status.active')).length,
      'Last Schedule': (job, now) => {
        const last = within(job, 'status.lastScheduleTime');
        return typeof last === 'string' ? age(last, now) : NONE;
      },
    }),
  },
  storageclasses: {
    kind: 'StorageClass',
    group: 'storage.k8s.io',
    namespaced: false,
    shortNames: ['sc'],
    columns: columnsOf({
      Provisioner: 'provisioner',
      ReclaimPolicy: 'reclaimPolicy',
      VolumeBindingMode: 'volumeBindingMode',
      AllowVolumeExpansion: ({ allowVolumeExpansion }) => String(allowVolumeExpansion === true),
    }),
  },
  endpointslices: {
    kind: 'EndpointSlice',
    group: 'discovery.k8s.io',
    namespaced: true,
    shortNames: [],
    columns: columnsOf({
      AddressType: 'addressType',
      Ports: ({ ports }) =>
        listOf(ports)
          .map(({ port }) => String(port))
          .join(',') || '<unset>',
      Endpoints: addressesOf,
    }),
  },
};

/** Of the resources of a group, for discovery. */
export const storedResources = (group: string): readonly object[] =>
  Object.entries(STORED_KINDS)
    .filter(([, each]) => each.group === group)
    .map(([name, { kind, namespaced, shortNames }]) => ({
      name,
      singularName: kind.toLowerCase(),
      namespaced,
      kind,
      verbs: ['create', 'delete', 'get', 'list'],
      ...(shortNames.length === 0 ? {} : { shortNames }),
    }));
