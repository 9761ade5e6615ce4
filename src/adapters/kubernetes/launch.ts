import { doesAsSent } from '../../core/container/fingerprint.ts';
import type { PodRef } from '../../core/container/pod.ts';
import { KdebugError } from '../../core/errors.ts';
import type { LaunchRequest, LaunchResult } from '../../flow/ports/cluster.ts';
import { type BackOff, delayOf } from '../../lib/backoff.ts';
import { type Clock, sleep } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import { mayAddEphemeralContainers } from './access.ts';
import type { ApiClient } from './api/api-client.ts';
import { type ApiResponse, type ApiStatus, lacksRole, readStatus, toClusterError } from './api/api-errors.ts';
import { asObject, asObjects } from './api/json-fields.ts';
import { podPath } from './api/paths.ts';
import type { ServerClock } from './api/server-clock.ts';
import { withOriginal } from './once-more.ts';
import { viewPod } from './pod-view.ts';

/** The tries, and the times, for a launch whose response leaves doubt. */
export interface LaunchTimes {
  readonly maxTries: number;
  readonly timeoutMs: number;
  readonly backOff: BackOff;
  /** A server that asks for a longer pause gets no retry: `cluster_busy` carries the pause. */
  readonly maxRetryAfterMs: number;
}

export const LAUNCH_TIMES: LaunchTimes = {
  maxTries: 5,
  timeoutMs: 12_000,
  backOff: { firstMs: 200, maxMs: 2_000 },
  maxRetryAfterMs: 2_000,
};

interface LaunchTools {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly random: () => number;
  readonly times: LaunchTimes;
}

/**
 * Adds one ephemeral container. After a doubtful response (none, 409, 429, 5xx, a 403 that may pass) it repeats the
 * identical PATCH, at most `maxTries` times in all. If the first PATCH arrived after all, the API server answers 200 and
 * changes nothing: it merges entries by name, and they are immutable (KEP-277).
 * @throws KdebugError as the Cluster port says
 */
export async function launch(tools: LaunchTools, given: LaunchRequest): Promise<LaunchResult> {
  const request = given.copyOf ? await withOriginal(tools.client, given, given.copyOf) : given;
  return 'kind' in request ? request : launchWhole(tools, request);
}

async function launchWhole(tools: LaunchTools, request: LaunchRequest): Promise<LaunchResult> {
  const patch = patchOf(tools, request);
  const doubts: KdebugError[] = [];
  for (;;) {
    const result = await sendOnce(tools.client, patch, request);
    if (!(result instanceof KdebugError)) return result;
    doubts.push(result);
    const waitMs = retryDelayMs(tools, doubts.length, result);
    if (waitMs === undefined) {
      if (doubts.every(({ facts }) => facts.status === FAILED)) return readFailed(tools.client, request, result);
      if (doubts.every(isDenied)) return { kind: 'refused', by: 'rbac', message: result.detail };
      throw result;
    }
    await sleep(tools.clock, waitMs);
  }
}

const patchOf = ({ times }: LaunchTools, { pod, container, dryRun, actingAs }: LaunchRequest) => ({
  method: 'PATCH' as const,
  path: `${podPath(pod.namespace, pod.name)}/ephemeralcontainers`,
  query: { fieldManager: 'kdebug', fieldValidation: 'Strict', ...defined({ dryRun: dryRun ? 'All' : undefined }) },
  body: {
    type: 'application/strategic-merge-patch+json',
    value: { metadata: { uid: pod.uid }, spec: { ephemeralContainers: [container] } },
  },
  actingAs,
  timeoutMs: times.timeoutMs,
});

/** Undefined: no more tries. */
function retryDelayMs({ times, random }: LaunchTools, tries: number, { facts }: KdebugError): number | undefined {
  const waitMs = Math.max(delayOf(times.backOff, tries - 1, random), Number(facts.retryAfterMs ?? 0));
  return tries >= times.maxTries || waitMs > times.maxRetryAfterMs ? undefined : waitMs;
}

/** The API server's own failure; also its answer when a required webhook does not respond. */
const FAILED = 500;

/** Every try failed and none is still running: unless one succeeded after all, the server's message is the result. */
async function readFailed(client: ApiClient, request: LaunchRequest, { detail }: KdebugError): Promise<LaunchResult> {
  const held = await findExisting(client, request.pod, request);
  return held ?? { kind: 'refused', by: 'validation', message: detail };
}

/** Each try was refused for a role that is not there, and the review agreed: that is no start of an API server. */
const isDenied = ({ facts }: KdebugError): boolean => facts.reviewAllows === false;

/** An error is a doubt: the container may be there, or the next try may be answered otherwise. */
async function sendOnce(
  client: ApiClient,
  patch: Parameters<ApiClient['send']>[0],
  request: LaunchRequest,
): Promise<LaunchResult | KdebugError> {
  let answer: ApiResponse;
  try {
    answer = await client.send(patch);
  } catch (error) {
    if (error instanceof KdebugError && error.code === 'cluster_unreachable') return error;
    throw error;
  }
  return isDoubtful(answer) ? toClusterError(answer) : readResponse(client, request, answer);
}

const isDoubtful = ({ status }: ApiResponse): boolean => status === 409 || status === 429 || status >= 500;

async function readResponse(
  client: ApiClient,
  request: LaunchRequest,
  answer: ApiResponse,
): Promise<LaunchResult | KdebugError> {
  if (answer.status >= 200 && answer.status < 300) return readExisting(request, answer.body) ?? NAME_IN_USE;
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
 * The beginnings of refusals by Pod Security (k8s.io/pod-security-admission) and by every authoriser (apiserver,
 * ForbiddenMessage).
 */
const BY_POD_SECURITY = /^pods "[^"]*" is forbidden: violates PodSecurity "/;
const BY_AUTHORISER = /^[\w.]+(?: "[^"]*")? is forbidden: User ".*" cannot \S+ (?:resource|path) "/;

/**
 * RBAC, Pod Security, other plug-ins and webhooks all answer 403. Pod Security is known by its words alone. For the rest
 * a review tells whether it was RBAC (`access.ts`). A starting API server knows its objects before its roles: when the
 * review contradicts an authoriser's refusal, or a role is not there, the same PATCH may be allowed a moment later.
 */
async function readForbidden(
  client: ApiClient,
  request: LaunchRequest,
  { code, message }: ApiStatus,
): Promise<LaunchResult | KdebugError> {
  if (BY_POD_SECURITY.test(message)) return { kind: 'refused', by: 'pod-security', message };
  const { namespace, name } = request.pod;
  const reviewAllows = await mayAddEphemeralContainers(client, { namespace, name, actingAs: request.actingAs });
  if (BY_AUTHORISER.test(message) && (reviewAllows || lacksRole(message)))
    return new KdebugError('cluster_forbidden', {
      detail: message,
      facts: { status: code, mayPass: true, reviewAllows },
    });
  return { kind: 'refused', by: reviewAllows ? 'webhook' : 'rbac', message };
}

const hasCause = (status: ApiStatus, reason: string, field: string): boolean =>
  status.causes.some((cause) => cause.reason === reason && cause.field === field);

async function readInvalid(client: ApiClient, request: LaunchRequest, status: ApiStatus): Promise<LaunchResult> {
  if (hasCause(status, 'FieldValueInvalid', 'metadata.uid')) return { kind: 'pod-replaced' };
  if (hasCause(status, 'FieldValueForbidden', 'spec.ephemeralContainers')) {
    const held = await findExisting(client, request.pod, request);
    if (held) return held;
  }
  // An admission policy (CEL) answers 422 with causes that name no field; the API server's validation always names one.
  const isAdmission = status.causes.length > 0 && status.causes.every(({ field }) => field === '');
  return { kind: 'refused', by: isAdmission ? 'webhook' : 'validation', message: status.message };
}

/** "May not be changed": a webhook may have rewritten our own first PATCH. The container with that name decides. */
async function findExisting(client: ApiClient, pod: PodRef, request: LaunchRequest): Promise<LaunchResult | undefined> {
  const answer = await client.send({ path: podPath(pod.namespace, pod.name) });
  if (answer.status === 404) return { kind: 'pod-gone' };
  if (answer.status !== 200) throw toClusterError(answer);
  if (viewPod(answer.body).metadata.uid !== pod.uid) return { kind: 'pod-replaced' };
  return readExisting(request, answer.body);
}

const NAME_IN_USE: LaunchResult = {
  kind: 'refused',
  by: 'name-taken',
  message: 'the pod already has a different container of this name',
};

/** Anybody who may patch the pod can use the name before us. Undefined: no container has it. */
function readExisting({ container }: LaunchRequest, body: unknown): LaunchResult | undefined {
  const all = asObjects(asObject(asObject(body).spec).ephemeralContainers);
  const held = all.find(({ name }) => name === container.name);
  if (!held) return undefined;
  return doesAsSent(container, held) ? { kind: 'launched', pod: viewPod(body) } : NAME_IN_USE;
}

const MAX_ENTRIES = 1_000;
/** `startedAt` in a container's status has whole seconds. */
const SECOND_MS = 1_000;

/**
 * The times at which this process first requested each container, by the cluster's clock: none can have started
 * earlier. The status has whole seconds, too coarse to prove that no log file was full before the first line read.
 */
export class Launches {
  readonly #serverClock: Pick<ServerClock, 'earliest'>;
  readonly #requestedAtMs = new Map<string, number>();

  constructor(serverClock: Pick<ServerClock, 'earliest'>) {
    this.#serverClock = serverClock;
  }

  /** Call before the launch. Names are unique: they derive from the run and the pod. */
  note(containerName: string): void {
    const atMs = this.#serverClock.earliest();
    if (atMs === undefined || this.#requestedAtMs.has(containerName)) return;
    this.#requestedAtMs.set(containerName, atMs);
    const [oldest] = this.#requestedAtMs.keys();
    if (this.#requestedAtMs.size > MAX_ENTRIES && oldest !== undefined) this.#requestedAtMs.delete(oldest);
  }

  /** The container's earliest possible start. Another replica may have launched it before this one. */
  earliestStart(containerName: string, startedAtMs: number): number {
    const requestedAtMs = this.#requestedAtMs.get(containerName);
    const isOurs = requestedAtMs !== undefined && requestedAtMs < startedAtMs + SECOND_MS;
    return isOurs ? Math.max(startedAtMs, requestedAtMs) : startedAtMs;
  }
}
