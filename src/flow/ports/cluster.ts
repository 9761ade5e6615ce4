import type { EphemeralContainer } from '../../core/container/ephemeral-container.ts';
import type { Original } from '../../core/container/once-more.ts';
import type { Node, Pod, PodEvent, PodRef, PodSecurityLevel } from '../../core/container/pod.ts';
import type { Revisions } from '../../core/container/revisions.ts';
import type { Claim, ObjectEvent, ServiceFact, WorkloadFact } from '../../core/diagnosis/facts/facts.ts';
import type { RunId } from '../../core/ids.ts';
import type { RefusedBy } from '../../core/outcome.ts';
import type { WorkloadKind } from '../../core/request/command.ts';
import type { Selector } from '../../core/request/selector.ts';
import type { LogCompleteness } from '../../core/run/run.ts';

/** The identity for the cluster, sent as impersonation headers; without it the bot's own account acts. */
export interface ActingAs {
  readonly user: string;
  readonly groups: readonly string[];
  /** Sent as `Impersonate-Extra-slack-user`, so that the cluster's audit log names the person. */
  readonly slackUser: string;
}

/**
 * One Kubernetes cluster. Every method throws `KdebugError` only: `cluster_unreachable`, `cluster_busy` (429 or 503,
 * fact `retryAfterMs`), `cluster_unauthenticated`, `cluster_forbidden` (fact `mayPass` when a starting API server would
 * answer so), and the codes that it names. Names are checked before a URL is built (`invalid_name`). Safe for any number of concurrent runs.
 */
export interface Cluster {
  readonly name: string;
  /**
   * The pod from the shared watch of its namespace, which opens on first use. It may be a moment old: a launch carries
   * the uid. @throws KdebugError pod_not_found
   */
  pod(namespace: string, name: string): Promise<Pod>;
  /**
   * All pods of a namespace that the selector matches, from the same watch: to count, choose and compare. The flow gets them without
   * probes, and with empty messages (`filteredClusters`); `pod` has the words of one.
   */
  pods(namespace: string, selector: Selector): Promise<readonly Pod[]>;
  /**
   * The namespace's `pod-security.kubernetes.io/enforce` level, cached 30 s. `privileged` without the label.
   * @throws KdebugError namespace_not_found
   */
  podSecurity(namespace: string): Promise<PodSecurityLevel>;
  /**
   * Adds the ephemeral container by a strategic-merge PATCH that carries the pod's uid. Repeating it is harmless: the
   * same name is never added twice (KEP-277: entries are immutable). A refusal is a result; a doubt is an error.
   */
  launch(request: LaunchRequest): Promise<LaunchResult>;
  /**
   * The command, mounts and names of variables of a container, read from the API server now; never the value of a variable.
   * Undefined: there is no such container.
   */
  original(pod: Pick<PodRef, 'namespace' | 'name'>, containerName: string): Promise<Original | undefined>;
  /**
   * The revisions of the Deployment of the pod, with the image that each gives this container, read from the API server
   * now. An optional right, whose lack is an answer.
   */
  revisions(pod: Pick<Pod, 'metadata'>, containerName: string): Promise<Revisions>;
  /**
   * Asks if a debug run is allowed there: patch pods/ephemeralcontainers, get pods/log, get pods. Caches a yes for at
   * most 30 s, a no for 5 s. Throws when it cannot know.
   */
  access(request: AccessRequest): Promise<AccessResult>;
  /**
   * Calls `onSeen` with the pod's current state at once and after every change, from the shared watch of its namespace;
   * level-triggered, so states may be skipped. Calls never overlap. Never throws; ends by `close`.
   */
  watch(pod: PodRef, onSeen: (seen: PodSeen) => void): { close(): void };
  /**
   * Reads a container's log from its start until `ended` has resolved and the final read is complete, or `limitBytes`
   * of content came, or `signal` aborts. Content arrives in order, every line once, without stamps (design, section
   * 4.7). Waits for `sink` only as long as the sink's own promise; memory is bounded. Resolves with how complete the
   * log is.
   */
  collectLog(request: LogRequest, sink: LogSink): Promise<LogCompleteness>;
  /**
   * The newest events about the pod, or one of its ephemeral containers, newest first, at most 20; for sentences only.
   */
  events(pod: PodRef, containerName?: string): Promise<readonly PodEvent[]>;
  /**
   * The node, at most 30 s old; undefined when it does not exist, or the bot may not read it (that right is optional).
   */
  node(name: string): Promise<Node | undefined>;
  /**
   * Warnings of the namespace about the objects that `about` accepts, newest first; of one list, at most 2 s old, of at most 500. Where
   * that list is cut, those about `pod` are asked for besides.
   */
  warnings(namespace: string, about: About, pod?: PodRef): Promise<Warnings>;
  /** Optional rights. Undefined: the bot lacks the right, which is asked for again after five minutes. */
  claims(namespace: string): Promise<readonly Claim[] | undefined>;
  storageClasses(): Promise<readonly string[] | undefined>;
  services(namespace: string): Promise<readonly ServiceFact[] | undefined>;
  workload(namespace: string, named: NamedWorkload): Promise<WorkloadFact | 'not-found' | undefined>;
  /**
   * Reads the newest lines of a container of the pod, of its last incarnation with `previous`, in their order. Ends at
   * the end of what is there, at `limitBytes`, or by `signal`. A container without a log has no lines.
   */
  readTargetLog(request: TargetLogRequest, onLine: (line: StampedLine) => void): Promise<void>;
  /** One cheap call (`/version`), for readiness and for the error of a first connection. */
  check(): Promise<{ readonly version: string }>;
}

export type About = (involved: ObjectEvent['involved']) => boolean;

export interface Warnings {
  readonly events: readonly ObjectEvent[];
  /** False: there may be more, about `pod` where it was given, else about any object. */
  readonly areAll: boolean;
}

export interface NamedWorkload {
  readonly kind: WorkloadKind;
  readonly name: string;
}

export interface TargetLogRequest {
  readonly pod: PodRef;
  readonly containerName: string;
  readonly previous: boolean;
  readonly tailLines: number;
  readonly limitBytes: number;
  readonly signal: AbortSignal;
  readonly actingAs?: ActingAs;
}

export interface StampedLine {
  /** The kubelet's stamp. */
  readonly atMs: number;
  /** Without the stamp and the line break; not yet cleaned or redacted. At most 16 KiB. */
  readonly text: string;
}

export interface LaunchRequest {
  readonly pod: PodRef;
  readonly container: EphemeralContainer;
  readonly runId: RunId;
  /** Adds what a container of the pod has, with the values of its variables, as the pod's spec says at that moment. */
  readonly copyOf?: CopyOf;
  readonly actingAs?: ActingAs;
  /** A server-side dry run of the same patch. */
  readonly dryRun?: boolean;
}

export interface CopyOf {
  readonly containerName: string;
  /** Variables to leave out. */
  readonly withoutEnv: readonly string[];
  /** The program that starts this one: words before its own, and a volume that it needs besides. */
  readonly startedBy?: {
    readonly words: readonly string[];
    readonly mount: { readonly name: string; readonly mountPath: string };
  };
}

export type LaunchResult =
  /** The API server holds a container with our name and run id that does what was sent (`doesAsSent`), in `pod`. */
  | { readonly kind: 'launched'; readonly pod: Pod }
  | { readonly kind: 'refused'; readonly by: RefusedBy; readonly message: string }
  | { readonly kind: 'pod-gone' }
  | { readonly kind: 'pod-replaced' }
  /** 404 with empty details: the server has no `ephemeralcontainers` subresource. */
  | { readonly kind: 'unsupported' };

export type PodSeen =
  | { readonly kind: 'pod'; readonly pod: Pod }
  | { readonly kind: 'gone' }
  /** A pod of the same name with another uid. */
  | { readonly kind: 'replaced' };

export interface LogRequest {
  readonly pod: PodRef;
  readonly containerName: string;
  /** The container has already terminated: one plain read is enough for a small log. */
  readonly terminated: boolean;
  /** From the container's status; `complete` needs a follow opened within 3 s of it. */
  readonly startedAtMs: number;
  readonly limitBytes: number;
  /** Resolves when the container has terminated or its pod is gone: time for the final read. */
  readonly ended: Promise<void>;
  readonly signal: AbortSignal;
  readonly actingAs?: ActingAs;
  /** By the stamps of the lines; all lines come all the same (`LogSink.reachedSince`). */
  readonly sinceMs?: number;
}

/** Accepts content. Returns a promise to slow the reader down (a full disk buffer, never Slack). */
export interface LogSink {
  write(chunk: Buffer): Promise<void> | void;
  /** Called at most once, before the first line that was written at `sinceMs` or later. */
  reachedSince?(): void;
}

/** Asks the cluster's authorisation: as the person of `actingAs`, else about `subject`, else about the bot itself. */
export interface AccessRequest {
  readonly namespace: string;
  /** Absent: for every pod of the namespace. */
  readonly podName?: string;
  readonly actingAs?: ActingAs;
  readonly subject?: { readonly user: string; readonly groups: readonly string[] };
}

export type AccessResult =
  | { readonly kind: 'allowed' }
  /** `missing`: verbs and resources, as in a Role: `patch pods/ephemeralcontainers`. */
  | { readonly kind: 'denied'; readonly reason: string; readonly missing: readonly string[] };

export interface Clusters {
  /** @throws KdebugError cluster_unknown */
  get(name: string): Cluster;
}
