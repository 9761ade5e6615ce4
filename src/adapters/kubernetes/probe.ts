import type { ClusterProbe, Right, SeenImage } from '../../doctor/probes.ts';
import type { Clock } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import { Access } from './access.ts';
import { ApiClient } from './api/api-client.ts';
import { toClusterError } from './api/api-errors.ts';
import { Connection } from './api/connection.ts';
import type { KubeconfigSource } from './api/credentials.ts';
import { asObject, asObjects, asText, type JsonObject } from './api/json-fields.ts';
import { nodePath, podsPath } from './api/paths.ts';
import { PodSecurity } from './lookups/cluster-scoped.ts';

export interface ClusterProbeOptions {
  readonly source: KubeconfigSource;
  /** For the user agent `kdebug/<version>`. */
  readonly version: string;
  readonly clock: Clock;
}

const TIMEOUT_MS = 5_000;
/** Calls to measure the latency with: the first one also opens the connection. */
const TIMED_CALLS = 5;
const MAX_PODS = 500;
/** Nodes to ask for their images; a namespace's pods rarely run on more. */
const MAX_NODES = 20;

/**
 * The questions that `doctor` has for a cluster, by the connection and the credentials that kdebug itself uses. It
 * changes nothing there. @throws KdebugError cluster_config_invalid
 */
export function createClusterProbe({ source, version, clock }: ClusterProbeOptions): ClusterProbe {
  const connection = new Connection(source, clock);
  const client = new ApiClient(connection, version, clock);
  const access = new Access(client, clock);
  const podSecurity = new PodSecurity(client, clock);
  const get = (path: string, query = {}): Promise<unknown> => client.json({ path, query, timeoutMs: TIMEOUT_MS });

  return {
    server: async () => new URL((await connection.route()).origin).host,
    async version() {
      const tookMs: number[] = [];
      let gitVersion = '';
      for (let call = 0; call < TIMED_CALLS; call += 1) {
        const beganAtMs = performance.now();
        gitVersion = asText(asObject(await get('/version')).gitVersion);
        tookMs.push(performance.now() - beganAtMs);
      }
      return { version: gitVersion, tookMs };
    },
    async account() {
      const body = await review(client, 'authentication', 'SelfSubjectReview', {});
      return body && (asText(asObject(asObject(body.status).userInfo).username) || undefined);
    },
    async hasEphemeralContainers() {
      const resources = asObjects(asObject(await get('/api/v1')).resources);
      const found = resources.find(({ name }) => name === 'pods/ephemeralcontainers');
      return Array.isArray(found?.verbs) && found.verbs.includes('patch');
    },
    async may(right) {
      const body = await review(client, 'authorization', 'SelfSubjectAccessReview', attributesOf(right));
      return asObject(body?.status).allowed === true;
    },
    async missingFor(who, namespace) {
      const result = await access.of({ ...who, namespace });
      return result.kind === 'allowed' ? [] : result.missing;
    },
    async namespaces() {
      const answer = await client.send({ path: '/api/v1/namespaces', query: { limit: '5000' }, timeoutMs: TIMEOUT_MS });
      if (answer.status === 403) return undefined;
      if (answer.status !== 200) throw toClusterError(answer);
      return asObjects(asObject(answer.body).items).map(nameOf);
    },
    podSecurity: (namespace) => podSecurity.levelOf(namespace),
    async images(namespace) {
      const pods = asObjects(asObject(await get(podsPath(namespace), { limit: String(MAX_PODS) })).items);
      const nodes = [...new Set(pods.map(({ spec }) => asText(asObject(spec).nodeName)))].filter((node) => node !== '');
      const onNodes = await Promise.all(nodes.slice(0, MAX_NODES).map((node) => imagesOfNode(client, node)));
      return [...pods.flatMap(imagesOfPod), ...onNodes.flat()];
    },
    close: () => connection.close(),
  };
}

const nameOf = ({ metadata }: JsonObject): string => asText(asObject(metadata).name);

const attributesOf = ({ verb, resource, subresource, group, name, namespace }: Right): object => ({
  resourceAttributes: { verb, resource, ...defined({ subresource, group, name, namespace }) },
});

/** Creates a review; undefined when the server does not know this kind. @throws KdebugError as the Cluster port says */
async function review(
  client: ApiClient,
  group: 'authentication' | 'authorization',
  kind: string,
  spec: object,
): Promise<JsonObject | undefined> {
  const apiVersion = `${group}.k8s.io/v1`;
  const answer = await client.send({
    method: 'POST',
    path: `/apis/${apiVersion}/${kind.toLowerCase()}s`,
    body: { type: 'application/json', value: { apiVersion, kind, spec } },
    timeoutMs: TIMEOUT_MS,
  });
  if (answer.status === 404) return undefined;
  if (answer.status < 200 || answer.status > 299) throw toClusterError(answer);
  return asObject(answer.body);
}

const KINDS = [
  ['containers', 'containerStatuses'],
  ['initContainers', 'initContainerStatuses'],
  ['ephemeralContainers', 'ephemeralContainerStatuses'],
] as const;

/** The image as the spec writes it, with what the kubelet says of it. */
const imagesOfPod = ({ spec, status }: JsonObject): readonly SeenImage[] =>
  KINDS.flatMap(([containers, statuses]) =>
    asObjects(asObject(spec)[containers]).map(({ name, image }) => {
      const found = asObject(asObjects(asObject(status)[statuses]).find((one) => one.name === name));
      const waiting = asObject(asObject(found.state).waiting);
      const isTrouble = PULL_TROUBLES.has(asText(waiting.reason));
      return {
        image: asText(image),
        imageId: asText(found.imageID),
        trouble: isTrouble ? asText(waiting.message) || asText(waiting.reason) : '',
      };
    }),
  );

/** kubelet pkg/kubelet/images/types.go */
const PULL_TROUBLES: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);

/** Empty when the bot may not read nodes: that right is optional. */
async function imagesOfNode(client: ApiClient, node: string): Promise<readonly SeenImage[]> {
  const answer = await client.send({ path: nodePath(node), timeoutMs: TIMEOUT_MS });
  if (answer.status !== 200) return [];
  return asObjects(asObject(asObject(answer.body).status).images).flatMap(({ names }) => {
    const all = Array.isArray(names) ? names.map(asText) : [];
    const imageId = all.find((name) => name.includes('@')) ?? 'present';
    return all.map((image) => ({ image, imageId, trouble: '' }));
  });
}
