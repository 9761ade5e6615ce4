import type { Claim, ServiceFact } from '../../../core/diagnosis/facts/facts.ts';
import { Cached } from '../../../lib/cached.ts';
import type { Clock } from '../../../lib/clock.ts';
import { defined } from '../../../lib/object.ts';
import type { ApiClient, ApiRequest } from '../api/api-client.ts';
import { type ApiResponse, itemsOf, toClusterError } from '../api/api-errors.ts';
import {
  asNumber,
  asObject,
  asObjects,
  asText,
  asTexts,
  type JsonObject,
  textOrUndefined,
} from '../api/json-fields.ts';
import { groupPath, namespacePath, storageClassesPath } from '../api/paths.ts';

/** Not worth a long wait: a first answer is due within a second. */
const TIMEOUT_MS = 3_000;
const FRESH_MS = 2_000;
const CLASSES_FRESH_MS = 30_000;
/** A missing right stays cached this long. */
const FORBIDDEN_MS = 300_000;
/** A list of a large namespace takes a few megabytes. */
const MAX_LISTS = 20;
/** Some 5,000 claims or Services. */
export const MAX_FACT_BYTES = 8 * 1024 * 1024;
/** An answer may come drop by drop; whoever asks later does not wait for it. */
export const FACT_LOAD_MS = 5_000;

export type FactClient = Pick<ApiClient, 'send'>;

/**
 * Answers that need a right which kdebug may lack. They stay cached for `freshMs`, undefined (the right is missing) for
 * five minutes.
 */
export class OptionalFacts<Fact> {
  readonly #client: FactClient;
  readonly #known: Cached<Fact | undefined>;

  constructor(client: FactClient, clock: Clock, { freshMs = FRESH_MS, maxEntries = MAX_LISTS } = {}) {
    this.#client = client;
    this.#known = new Cached({
      clock,
      freshMs: (fact) => (fact === undefined ? FORBIDDEN_MS : freshMs),
      maxEntries,
      loadMs: FACT_LOAD_MS,
    });
  }

  /** `view` reads every answer but a refusal. @throws KdebugError as the Cluster port says */
  get(request: Pick<ApiRequest, 'path' | 'query'>, view: (answer: ApiResponse) => Fact): Promise<Fact | undefined> {
    return this.#known.get(request.path, async () => {
      const answer = await this.#client.send({ ...request, timeoutMs: TIMEOUT_MS, maxBytes: MAX_FACT_BYTES });
      if (answer.status !== 403) return view(answer);
      const refusal = toClusterError(answer);
      // An API server that starts does not know its roles yet: no reason to remember it.
      if (refusal.facts.mayPass === true) throw refusal;
      return undefined;
    });
  }
}

const listOf = (answer: ApiResponse): readonly JsonObject[] => {
  if (answer.status !== 200) throw toClusterError(answer);
  return itemsOf(answer.body);
};

const nameOf = (object: JsonObject): string => asText(asObject(object.metadata).name);

/** The PersistentVolumeClaims of namespaces, and the cluster's StorageClasses. */
export class Storage {
  readonly #claims: OptionalFacts<readonly Claim[]>;
  readonly #classes: OptionalFacts<readonly string[]>;

  constructor(client: FactClient, clock: Clock) {
    this.#claims = new OptionalFacts(client, clock);
    this.#classes = new OptionalFacts(client, clock, { freshMs: CLASSES_FRESH_MS });
  }

  /** All of them: the lack of one is a finding. @throws KdebugError invalid_name */
  async claims(namespace: string): Promise<readonly Claim[] | undefined> {
    const path = `${namespacePath(namespace)}/persistentvolumeclaims`;
    return this.#claims.get({ path }, (answer) => listOf(answer).map(viewClaim));
  }

  async classes(): Promise<readonly string[] | undefined> {
    return this.#classes.get({ path: storageClassesPath }, (answer) => listOf(answer).map(nameOf));
  }
}

/** The older way to name a class; the API server prefers it. */
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

function viewClaim(claim: JsonObject): Claim {
  const spec = asObject(claim.spec);
  const annotated = asTexts(asObject(claim.metadata).annotations)[CLASS_ANNOTATION];
  return {
    name: nameOf(claim),
    phase: asText(asObject(claim.status).phase),
    ...defined({
      // An empty one says: no class.
      storageClass: annotated ?? (typeof spec.storageClassName === 'string' ? spec.storageClassName : undefined),
      volumeName: textOrUndefined(spec.volumeName),
      requested: textOrUndefined(asObject(asObject(spec.resources).requests).storage),
    }),
  };
}

const SERVICE_NAME = 'kubernetes.io/service-name';

type Addresses = NonNullable<ServiceFact['addresses']>;

/** The Services of namespaces, with the addresses behind them. */
export class Services {
  readonly #services: OptionalFacts<readonly ServiceFact[]>;
  readonly #addresses: OptionalFacts<ReadonlyMap<string, Addresses>>;

  constructor(client: FactClient, clock: Clock) {
    this.#services = new OptionalFacts(client, clock);
    this.#addresses = new OptionalFacts(client, clock);
  }

  /** Without `addresses` where the EndpointSlices could not be read. @throws KdebugError invalid_name */
  async of(namespace: string): Promise<readonly ServiceFact[] | undefined> {
    const slices = {
      path: `${groupPath('discovery.k8s.io/v1', namespace)}/endpointslices`,
      query: { labelSelector: SERVICE_NAME },
    };
    const [services, addresses] = await Promise.all([
      this.#services.get({ path: `${namespacePath(namespace)}/services` }, (answer) => listOf(answer).map(viewService)),
      this.#addresses.get(slices, (answer) => countAddresses(listOf(answer))).catch(() => undefined),
    ]);
    if (!services || !addresses) return services;
    return services.map((each) => ({ ...each, addresses: addresses.get(each.name) ?? { ready: 0, notReady: 0 } }));
  }
}

function viewService(service: JsonObject): ServiceFact {
  const spec = asObject(service.spec);
  return {
    name: nameOf(service),
    // The selector of an alias of another host is ignored.
    selector: spec.type === 'ExternalName' ? {} : asTexts(spec.selector),
    ...(spec.clusterIP === 'None' ? { isHeadless: true as const } : {}),
    ports: asObjects(spec.ports).map(({ port, targetPort }) => ({
      port: asNumber(port) ?? 0,
      targetPort: asNumber(targetPort) ?? (asText(targetPort) || (asNumber(port) ?? 0)),
    })),
  };
}

/** By Service. An endpoint counts once, however many slices and address families it is in. */
function countAddresses(slices: readonly JsonObject[]): ReadonlyMap<string, Addresses> {
  const isReady = new Map<string, Map<string, boolean>>();
  for (const slice of slices) {
    const service = asTexts(asObject(slice.metadata).labels)[SERVICE_NAME] ?? '';
    const endpoints = isReady.get(service) ?? new Map<string, boolean>();
    isReady.set(service, endpoints);
    for (const endpoint of asObjects(slice.endpoints)) {
      const key = asText(asObject(endpoint.targetRef).uid) || JSON.stringify(endpoint.addresses);
      // discovery/v1 EndpointConditions: unknown means ready.
      const ready = asObject(endpoint.conditions).ready !== false;
      endpoints.set(key, ready || endpoints.get(key) === true);
    }
  }
  return new Map(
    [...isReady].map(([service, endpoints]) => {
      const ready = [...endpoints.values()].filter(Boolean).length;
      return [service, { ready, notReady: endpoints.size - ready }];
    }),
  );
}
