import type { Call } from '../api/call.ts';
import { ApiError, badRequest } from '../api/status.ts';
import { warn } from '../api/warning.ts';
import { isDryRun } from '../api/write-options.ts';
import type { PodObject } from '../objects/pod.ts';

/** What a webhook is asked about (admission.k8s.io/v1 AdmissionReview). */
export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  /** `pods` or `pods/ephemeralcontainers`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: string;
  readonly isDryRun: boolean;
  /** The pod as it would be. */
  readonly object: PodObject;
}

/** A webhook of a test. Without `deny`, `isUnreachable` and `rewrite` it lets everything pass as it is. */
export interface Webhook {
  /** Default `policy.example.com`. */
  readonly name?: string;
  /** Default: every write of a pod. */
  readonly match?: (request: AdmissionRequest) => boolean;
  /** The explanation; empty: none is given. */
  readonly deny?: string;
  /** Of the refusal. Default 400 without a reason, as the API server fills it in. */
  readonly code?: number;
  readonly reason?: string;
  readonly warnings?: readonly string[];
  /** It has side effects, so the API server does not ask it in a dry run and refuses that. */
  readonly sideEffects?: boolean;
  /** A mutating one: makes another pod of it. Asked about ephemeral containers only. */
  readonly rewrite?: (pod: PodObject) => PodObject;
  /** Nobody answers, and its failure policy is `Fail`. */
  readonly isUnreachable?: boolean;
}

/** The webhooks of this cluster, asked in the order in which they were added, after validation and Pod Security. */
export class Webhooks {
  #hooks: Webhook[] = [];

  /** The returned function takes it away again. */
  add(hook: Webhook): () => void {
    this.#hooks.push(hook);
    return () => {
      this.#hooks = this.#hooks.filter((each) => each !== hook);
    };
  }

  clear(): void {
    this.#hooks = [];
  }

  /** What mutating webhooks make of it. */
  rewritten(call: Call, operation: AdmissionRequest['operation'], object: PodObject): PodObject {
    const { resource, subresource } = call.route;
    const { namespace, name } = object.metadata;
    const about = { operation, resource: `${resource}/${subresource}`, namespace, name };
    const request = { ...about, user: call.identity.user.name, isDryRun: isDryRun(call) };
    return this.#hooks.reduce((pod, { match, rewrite }) => {
      if (!rewrite) return pod;
      return (match?.({ ...request, object: pod }) ?? true) ? rewrite(pod) : pod;
    }, object);
  }

  /** @throws ApiError the first refusal */
  admit(call: Call, operation: AdmissionRequest['operation'], object: PodObject): void {
    if (this.#hooks.length === 0) return;
    const { resource, subresource } = call.route;
    const request: AdmissionRequest = {
      operation,
      resource: subresource === '' ? resource : `${resource}/${subresource}`,
      namespace: object.metadata.namespace,
      name: object.metadata.name,
      user: call.identity.user.name,
      isDryRun: isDryRun(call),
      object,
    };
    for (const hook of this.#hooks) if (hook.match?.(request) ?? true) ask(hook, call, request);
  }
}

function ask(hook: Webhook, call: Call, request: AdmissionRequest): void {
  const name = `"${hook.name ?? 'policy.example.com'}"`;
  if (request.isDryRun && hook.sideEffects) throw badRequest(`admission webhook ${name} does not support dry run`);
  if (hook.isUnreachable) throw unreachable(name);
  for (const text of hook.warnings ?? []) warn(call, text);
  if (hook.deny === undefined) return;
  const why = hook.deny || hook.reason;
  const told = `admission webhook ${name} denied the request${why ? `: ${why}` : ' without explanation'}`;
  throw new ApiError(hook.code ?? 400, hook.reason ?? '', told);
}

function unreachable(name: string): ApiError {
  const url = 'https://policy.example.com:443/validate?timeout=10s';
  const dial = `Post "${url}": dial tcp 10.96.0.7:443: connect: connection refused`;
  const message = `failed calling webhook ${name}: failed to call webhook: ${dial}`;
  return new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
}
