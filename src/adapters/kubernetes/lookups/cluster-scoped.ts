import type { Node, PodSecurityLevel } from '../../../core/container/pod.ts';
import { Cached } from '../../../lib/cached.ts';
import type { Clock } from '../../../lib/clock.ts';
import { defined } from '../../../lib/object.ts';
import type { ApiClient } from '../api/api-client.ts';
import { toClusterError } from '../api/api-errors.ts';
import { asObject, asObjects, asText, asTexts } from '../api/json-fields.ts';
import { namespacePath, nodePath } from '../api/paths.ts';
import { FACT_LOAD_MS, MAX_FACT_BYTES } from './optional-facts.ts';

const NODE_FRESH_MS = 30_000;
/** A missing right stays cached this long. */
const UNSEEN_MS = 300_000;
const MAX_NODES = 5_000;
/** The node is one line of a verdict: not worth a long wait. */
const TIMEOUT_MS = 3_000;

/** Nodes, fetched on demand and cached for 30 s. */
export class Nodes {
  readonly #client: ApiClient;
  readonly #known: Cached<Node | undefined>;

  constructor(client: ApiClient, clock: Clock) {
    this.#client = client;
    this.#known = new Cached({
      clock,
      freshMs: (node) => (node ? NODE_FRESH_MS : UNSEEN_MS),
      maxEntries: MAX_NODES,
      loadMs: FACT_LOAD_MS,
    });
  }

  /** Undefined for 403 and 404. @throws KdebugError invalid_name, and as the Cluster port says */
  of(name: string): Promise<Node | undefined> {
    return this.#known.get(name, () => this.#fetch(name));
  }

  async #fetch(name: string): Promise<Node | undefined> {
    const answer = await this.#client.send({ path: nodePath(name), timeoutMs: TIMEOUT_MS, maxBytes: MAX_FACT_BYTES });
    if (answer.status === 403 || answer.status === 404) return undefined;
    if (answer.status !== 200) throw toClusterError(answer);
    const body = asObject(answer.body);
    const status = asObject(body.status);
    const info = asObject(status.nodeInfo);
    const zone = asObject(asObject(body.metadata).labels)['topology.kubernetes.io/zone'];
    return {
      name,
      conditions: asObjects(status.conditions).map((one) => ({ type: asText(one.type), status: asText(one.status) })),
      ...defined({
        zone: asText(zone) || undefined,
        kernel: asText(info.kernelVersion) || undefined,
        kubelet: asText(info.kubeletVersion) || undefined,
      }),
    };
  }
}

const LABEL = 'pod-security.kubernetes.io/enforce';
const LEVEL_FRESH_MS = 30_000;
const MAX_NAMESPACES = 1_000;

/** The Pod Security levels of namespaces, each fetched at most once in 30 s. */
export class PodSecurity {
  readonly #client: ApiClient;
  readonly #known: Cached<PodSecurityLevel>;

  constructor(client: ApiClient, clock: Clock) {
    this.#client = client;
    this.#known = new Cached({ clock, freshMs: () => LEVEL_FRESH_MS, maxEntries: MAX_NAMESPACES });
  }

  /** @throws KdebugError namespace_not_found, invalid_name */
  levelOf(namespace: string): Promise<PodSecurityLevel> {
    return this.#known.get(namespace, () => this.#fetch(namespace));
  }

  async #fetch(namespace: string): Promise<PodSecurityLevel> {
    const raw = await this.#client.json({ path: namespacePath(namespace) }, 'namespace_not_found');
    return readLevel(asTexts(asObject(asObject(raw).metadata).labels)[LABEL]);
  }
}

/** An unknown value counts as `restricted`, as in Pod Security Admission itself (policy.ParseLevel). */
function readLevel(label: string | undefined): PodSecurityLevel {
  if (label === undefined || label === '' || label === 'privileged') return 'privileged';
  return label === 'baseline' ? 'baseline' : 'restricted';
}
