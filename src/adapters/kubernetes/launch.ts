import { doesAsSent } from '../../core/container/fingerprint.ts';
import type { PodRef } from '../../core/container/pod.ts';
import { KdebugError } from '../../core/errors.ts';
import type { LaunchAnswer, LaunchRequest } from '../../flow/ports/cluster.ts';
import { type BackOff, delayOf } from '../../lib/backoff.ts';
import { type Clock, sleep } from '../../lib/clock.ts';
import { mayAddEphemeralContainers } from './access.ts';
import type { ApiClient } from './api/api-client.ts';
import { type ApiAnswer, type ApiStatus, readStatus, toClusterError } from './api/api-errors.ts';
import { asObject, asObjects } from './api/json-fields.ts';
import { podPath } from './api/paths.ts';
import type { ServerClock } from './api/server-clock.ts';
import { viewPod } from './pod-view.ts';

/** How often and how long an answer in doubt is asked for again. Tests make it short. */
export interface LaunchTimes {
  readonly tries: number;
  readonly timeoutMs: number;
  readonly backOff: BackOff;
  /** A server that asks for more patience than this is left alone: `cluster_busy` says until when. */
  readonly longestRetryAfterMs: number;
}

export const LAUNCH_TIMES: LaunchTimes = {
  tries: 5,
  timeoutMs: 12_000,
  backOff: { firstMs: 200, maxMs: 2_000 },
  longestRetryAfterMs: 2_000,
};

interface LaunchTools {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly random: () => number;
  readonly times: LaunchTimes;
}

/**
 * Adds one ephemeral container. An answer in doubt (no answer, 409, 429, 5xx) repeats the identical PATCH, at most `tries`
 * times: the API server then answers 200 and changes nothing when the first had arrived after all, because entries are
 * merged by name and immutable (KEP-277; cluster facts, launch table). @throws KdebugError as the Cluster port says
 */
export async function launch(tools: LaunchTools, request: LaunchRequest): Promise<LaunchAnswer> {
  const patch = patchOf(tools, request);
  const doubts: KdebugError[] = [];
  for (;;) {
    const answer = await sendOnce(tools.client, patch);
    if (!(answer instanceof KdebugError) && !isDoubtful(answer)) return readAnswer(tools.client, request, answer);
    const doubt = answer instanceof KdebugError ? answer : toClusterError(answer);
    doubts.push(doubt);
    const waitMs = patience(tools, doubts.length, doubt);
    if (waitMs === undefined) {
      if (doubts.every(({ facts }) => facts.status === FAILED)) return readFailed(tools.client, request, doubt);
      throw doubt;
    }
    await sleep(tools.clock, waitMs);
  }
}

const patchOf = ({ times }: LaunchTools, { pod, container, dryRun, actingAs }: LaunchRequest) => ({
  method: 'PATCH' as const,
  path: `${podPath(pod.namespace, pod.name)}/ephemeralcontainers`,
  query: { fieldManager: 'kdebug', fieldValidation: 'Strict', ...(dryRun && { dryRun: 'All' }) },
  body: {
    type: 'application/strategic-merge-patch+json',
    value: { metadata: { uid: pod.uid }, spec: { ephemeralContainers: [container] } },
  },
  actingAs,
  timeoutMs: times.timeoutMs,
});

/** How long to wait before the next try; undefined when there is to be none. */
function patience({ times, random }: LaunchTools, tries: number, { facts }: KdebugError): number | undefined {
  const waitMs = Math.max(delayOf(times.backOff, tries - 1, random), Number(facts.retryAfterMs ?? 0));
  return tries >= times.tries || waitMs > times.longestRetryAfterMs ? undefined : waitMs;
}

/** The API server's own failure, which also is what a webhook leads to that does not answer and must. */
const FAILED = 500;

/** Failed every time, with nothing left on its way: unless a try went through after all, its words are the answer. */
async function readFailed(client: ApiClient, request: LaunchRequest, { detail }: KdebugError): Promise<LaunchAnswer> {
  const held = await findOurs(client, request.pod, request);
  return held ?? { kind: 'refused', by: 'validation', message: detail };
}

async function sendOnce(client: ApiClient, patch: Parameters<ApiClient['send']>[0]): Promise<ApiAnswer | KdebugError> {
  try {
    return await client.send(patch);
  } catch (error) {
    if (error instanceof KdebugError && error.code === 'cluster_unreachable') return error;
    throw error;
  }
}

const isDoubtful = ({ status }: ApiAnswer): boolean => status === 409 || status === 429 || status >= 500;

async function readAnswer(client: ApiClient, request: LaunchRequest, answer: ApiAnswer): Promise<LaunchAnswer> {
  if (answer.status >= 200 && answer.status < 300) return readHeld(request, answer.body) ?? NAME_TAKEN;
  const status = readStatus(answer.status, answer.body);
  switch (answer.status) {
    case 400:
      return { kind: 'refused', by: isFromWebhook(status) ? 'webhook' : 'validation', message: status.message };
    case 403:
      return readForbidden(client, request, status);
    case 404:
      return { kind: status.kind === '' ? 'unsupported' : 'pod-gone' };
    case 413:
      return { kind: 'refused', by: 'validation', message: status.message };
    case 422:
      return readInvalid(client, request, status);
    default:
      throw toClusterError(answer);
  }
}

/** A validating webhook's refusal carries the webhook's own status, which has no details, and by default no reason. */
const isFromWebhook = (status: ApiStatus): boolean => status.kind === '' && status.reason !== 'BadRequest';

/**
 * RBAC, Pod Security and webhooks all answer 403. RBAC is told by asking it (`access-review.ts`). Of the rest, a built-in
 * plug-in names the object in `details` and a webhook does not; for this subresource the built-in one that refuses is Pod Security.
 */
async function readForbidden(client: ApiClient, request: LaunchRequest, status: ApiStatus): Promise<LaunchAnswer> {
  const { namespace, name } = request.pod;
  const allowed = await mayAddEphemeralContainers(client, { namespace, name, actingAs: request.actingAs });
  const by = !allowed ? 'rbac' : status.kind === 'pods' && status.causes.length === 0 ? 'pod-security' : 'webhook';
  return { kind: 'refused', by, message: status.message };
}

const hasCause = (status: ApiStatus, reason: string, field: string): boolean =>
  status.causes.some((cause) => cause.reason === reason && cause.field === field);

async function readInvalid(client: ApiClient, request: LaunchRequest, status: ApiStatus): Promise<LaunchAnswer> {
  if (hasCause(status, 'FieldValueInvalid', 'metadata.uid')) return { kind: 'pod-replaced' };
  if (hasCause(status, 'FieldValueForbidden', 'spec.ephemeralContainers')) {
    const held = await findOurs(client, request.pod, request);
    if (held) return held;
  }
  // An admission policy (CEL) answers 422 with causes that name no field; the API server's validation always names one.
  const isAdmission = status.causes.length > 0 && status.causes.every(({ field }) => field === '');
  return { kind: 'refused', by: isAdmission ? 'webhook' : 'validation', message: status.message };
}

/** "May not be changed": a webhook may have rewritten our own first PATCH. What counts is what stands under the name. */
async function findOurs(client: ApiClient, pod: PodRef, request: LaunchRequest): Promise<LaunchAnswer | undefined> {
  const answer = await client.send({ path: podPath(pod.namespace, pod.name) });
  if (answer.status === 404) return { kind: 'pod-gone' };
  if (answer.status !== 200) throw toClusterError(answer);
  if (viewPod(answer.body).metadata.uid !== pod.uid) return { kind: 'pod-replaced' };
  return readHeld(request, answer.body);
}

const NAME_TAKEN: LaunchAnswer = {
  kind: 'refused',
  by: 'name-taken',
  message: 'the pod holds a container of this name that is not what was asked for',
};

/** Who may patch the pod can take the name before us. Undefined: nobody holds it. */
function readHeld({ container }: LaunchRequest, body: unknown): LaunchAnswer | undefined {
  const all = asObjects(asObject(asObject(body).spec).ephemeralContainers);
  const held = all.find(({ name }) => name === container.name);
  if (!held) return undefined;
  return doesAsSent(container, held) ? { kind: 'launched', pod: viewPod(body) } : NAME_TAKEN;
}

const MAX_ENTRIES = 1_000;
/** `startedAt` in a container's status has whole seconds. */
const SECOND_MS = 1_000;

/**
 * When this process asked for a container first: it cannot have started before that, by the cluster's clock. The status alone says only in which
 * second it started, which is too coarse to prove that no log file was filled before the first line that was read.
 */
export class Launches {
  readonly #serverClock: Pick<ServerClock, 'earliest'>;
  readonly #askedAtMs = new Map<string, number>();

  constructor(serverClock: Pick<ServerClock, 'earliest'>) {
    this.#serverClock = serverClock;
  }

  /** A container is about to be asked for. Names are unique: they are derived from the run and the pod. */
  note(containerName: string): void {
    const atMs = this.#serverClock.earliest();
    if (atMs === undefined || this.#askedAtMs.has(containerName)) return;
    this.#askedAtMs.set(containerName, atMs);
    const [oldest] = this.#askedAtMs.keys();
    if (this.#askedAtMs.size > MAX_ENTRIES && oldest !== undefined) this.#askedAtMs.delete(oldest);
  }

  /** The earliest moment at which the container can have started. Another replica may have launched it before we asked again. */
  earliestStart(containerName: string, startedAtMs: number): number {
    const askedAtMs = this.#askedAtMs.get(containerName);
    const isOurs = askedAtMs !== undefined && askedAtMs < startedAtMs + SECOND_MS;
    return isOurs ? Math.max(startedAtMs, askedAtMs) : startedAtMs;
  }
}
