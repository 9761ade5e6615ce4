import type { EphemeralJob, ReadJob } from '../core/batch/ephemeral-job.ts';
import type { EphemeralContainer } from '../core/container/ephemeral-container.ts';
import type { Node } from '../core/container/node.ts';
import type { Pod, PodEvent, PodRef, PodSecurityLevel } from '../core/container/pod.ts';
import type { UserAndGroup } from '../core/container/profiles.ts';
import type { ReasonCode } from '../core/errors.ts';
import type { RunId } from '../core/ids.ts';
import type { Policy } from '../core/policy/policy.ts';
import type { Form } from '../core/report/form.ts';
import type { Message } from '../core/report/message.ts';
import type { OutcomeKind, RefusedBy } from '../core/run/outcome.ts';
import type { LogCompleteness, Origin, PostRef, Run } from '../core/run/run.ts';

// ---------------------------------------------------------------------------------------------------------- the cluster

/** Whom the cluster sees: sent as impersonation headers; absent, the bot's own account acts. */
export interface ActingAs {
  readonly user: string;
  readonly groups: readonly string[];
  /** Sent as `Impersonate-Extra-slack-user`, so that the cluster's audit log names the person. */
  readonly slackUser: string;
}

/**
 * One Kubernetes cluster. Every method throws `KdebugError` only: `cluster_unreachable`, `cluster_busy` (429 or 503,
 * fact `retryAfterMs`), `cluster_unauthenticated`, `cluster_forbidden`, and what each names. Names are checked
 * before a URL is built (`invalid_name`). Safe to use by any number of runs at once.
 */
export interface Cluster {
  readonly name: string;
  /**
   * The pod as the shared watch of its namespace knows it (opened, and waited for, on first use).
   * It may be a moment old: a launch carries the uid. @throws KdebugError pod_not_found
   */
  pod(namespace: string, name: string): Promise<Pod>;
  /** All pods of a namespace that a label selector matches, from the same watch. @throws KdebugError invalid_selector */
  pods(namespace: string, selector: string): Promise<readonly Pod[]>;
  /** The namespace's `pod-security.kubernetes.io/enforce` level, cached 30 s. `privileged` when unlabelled. @throws KdebugError namespace_not_found */
  podSecurity(namespace: string): Promise<PodSecurityLevel>;
  /**
   * Adds the ephemeral container by a strategic-merge PATCH that carries the pod's uid. Repeating it is harmless:
   * the same name is never added twice (KEP-277: entries are immutable). A refusal is an answer; a doubt is an error.
   */
  launch(request: LaunchRequest): Promise<LaunchAnswer>;
  /** Whether a debug run is allowed there: patch pods/ephemeralcontainers, get pods/log, get pods. Cached for at most 30 s, denials for 5 s; fails closed by throwing. */
  access(request: AccessRequest): Promise<AccessAnswer>;
  /**
   * Calls `onSeen` with the pod's present state at once and again at every change, from the shared watch of its
   * namespace; level-triggered, so states may be skipped. Calls are never concurrent. Never throws; ends by `close`.
   */
  watch(pod: PodRef, onSeen: (seen: PodSeen) => void): { close(): void };
  /**
   * Reads a container's log from its start until `ended` has resolved and the final read is through, or `limitBytes`
   * of content came, or `signal` aborts. Content arrives in order, every line once, without stamps (design, section 4.7).
   * Never waits longer for `sink` than the sink's own promise; memory is bounded. Resolves with what is known of it.
   */
  collectLog(request: LogRequest, sink: LogSink): Promise<LogCompleteness>;
  /** The newest events about the pod, or one of its ephemeral containers, newest first, at most 20; for sentences only. */
  events(pod: PodRef, containerName?: string): Promise<readonly PodEvent[]>;
  /** The node, at most 30 s old; undefined when there is none of that name, or the bot may not look (a right that is optional). */
  node(name: string): Promise<Node | undefined>;
  /** One cheap call (`/version`). For readiness and for the error of a first look. */
  check(): Promise<{ readonly version: string }>;
}

export interface LaunchRequest {
  readonly pod: PodRef;
  readonly container: EphemeralContainer;
  readonly runId: RunId;
  readonly actingAs?: ActingAs;
  /** A server-side dry run of the same patch. */
  readonly dryRun?: boolean;
}

export type LaunchAnswer =
  /** The API server holds a container of our name with our run id. `pod` is what it holds. */
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
  /** The container has terminated already: one plain read is enough when the log is small. */
  readonly terminated: boolean;
  /** From the container's status; `complete` needs a follow opened within 3 s of it. */
  readonly startedAtMs: number;
  readonly limitBytes: number;
  /** Resolves when the container has terminated or its pod is gone: time for the final read. */
  readonly ended: Promise<void>;
  readonly signal: AbortSignal;
  readonly actingAs?: ActingAs;
}

/** Takes content. Returns a promise when it wants the reader to slow down (a full disk buffer, never Slack). */
export interface LogSink {
  write(chunk: Buffer): Promise<void> | void;
}

export type { PodEvent };

/** Asks the cluster's own authorisation. With `actingAs` as that person, else of `subject`, else of the bot itself. */
export interface AccessRequest {
  readonly namespace: string;
  readonly podName: string;
  readonly actingAs?: ActingAs;
  readonly subject?: { readonly user: string; readonly groups: readonly string[] };
}

export type AccessAnswer =
  | { readonly kind: 'allowed' }
  /** `missing`: the verbs and resources that lack, as in a Role: `patch pods/ephemeralcontainers`. */
  | { readonly kind: 'denied'; readonly reason: string; readonly missing: readonly string[] };

/** The clusters of the policy. */
export interface Clusters {
  /** @throws KdebugError cluster_unknown */
  get(name: string): Cluster;
}

// ------------------------------------------------------------------------------------------------------------ the store

/** A claim on a run: writes with a `fence` that is no longer the newest are refused. */
export interface Lease {
  readonly run: Run;
  readonly fence: number;
}

/** A bound on how many runs may share a key; checked together with the creation, so that no burst slips through. */
export interface Quota {
  /** E.g. `person:U0ROY`. */
  readonly key: string;
  readonly code: ReasonCode;
  /** `open`: runs that are not final at a time; `minute`: created within the last 60 s. */
  readonly per: 'open' | 'minute';
  readonly max: number;
}

export type CreateAnswer =
  | { readonly kind: 'created'; readonly fence: number }
  | { readonly kind: 'duplicate'; readonly runId: RunId }
  /** Nothing was kept. `retryAtMs`: when there will be room, where that is known. */
  | { readonly kind: 'limited'; readonly code: ReasonCode; readonly retryAtMs?: number };

/**
 * Keeps runs. Every method is atomic, may be repeated after a lost answer, and throws `KdebugError store_unreachable`.
 * Any number of replicas use it at the same time.
 */
export interface RunStore {
  /** Left by replicas for the one that holds a run. */
  readonly notes: Notes;
  /** Keeps a new run, leased to `owner`, unless its dedupe key is known: then nothing changes and the first one's id comes back. */
  create(run: Run, owner: string, quotas?: readonly Quota[]): Promise<CreateAnswer>;
  read(id: RunId): Promise<Run | undefined>;
  /** Leases one run, unless another owner holds it. For who must change it now: a click. */
  take(id: RunId, owner: string): Promise<Lease | undefined>;
  /** Runs of a channel whose grant may still be open, newest first, at most 20. */
  granting(channelId: string): Promise<readonly Run[]>;
  /** Leases up to `limit` runs that are not settled (`isSettled`) and whose lease has lapsed, oldest first. */
  claim(owner: string, limit: number): Promise<readonly Lease[]>;
  /** Extends every lease of `owner`; one call a replica, not one a run. */
  renew(owner: string): Promise<void>;
  /** Replaces the run if `fence` is its newest, and extends its lease: who was told `saved` has the run from then on. A stale owner must stop at once. */
  save(run: Run, fence: number): Promise<'saved' | 'stale'>;
  /** Gives the lease back; another replica may claim at once. */
  release(id: RunId, fence: number): Promise<void>;
  /**
   * Remembers the user and group that containers of an image run as; `image` is its digest. The newest word counts. At least the
   * newest 1,000 images are kept, for at least 7 days.
   */
  learn(image: string, identity: UserAndGroup): Promise<void>;
  /** What `learn` was told of that image. */
  learnt(image: string): Promise<UserAndGroup | undefined>;
  /** The newest runs of a channel, newest first. */
  recent(channelId: string, limit: number): Promise<readonly Run[]>;
  /** Whether it answers; for readiness. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Small texts for whoever holds a run right now, from a replica that does not. Throws as the store does. A note is given once, and
 * lost when nobody asks for it within a minute, or when its answer is: who leaves one must not count on it.
 */
export interface Notes {
  leave(id: RunId, note: string): Promise<void>;
  /** The oldest first, at most 100. */
  take(id: RunId): Promise<readonly string[]>;
}

// -------------------------------------------------------------------------------------------------------------- Slack

export interface Place {
  readonly channelId: string;
  readonly threadTs?: string;
}

/** The Slack message metadata of design section 3: finds a post again after a crash. */
export interface PostMeta {
  readonly run: string;
  readonly batch?: string;
  readonly kind: 'anchor' | 'result';
  readonly seq: number;
}

/**
 * Speaks in Slack. Keeps Slack's rates by itself: calls wait their turn (`lane`: `final` overtakes `progress`; of
 * several waiting updates of one message only the newest is sent, and all of them resolve with it). Throws `KdebugError`:
 * `slack_unanswered` (it may or may not have happened: look with `find`), `slack_message_gone`, `slack_channel_closed`
 * (archived, not a member, unknown), `slack_token_rejected`, `slack_refused` (any other error string, fact `error`).
 */
export interface Thread {
  /**
   * Posts a message; the only call that must not be repeated blindly. It may wait its turn for a long time: `sure` is asked right
   * before it is sent, and what it throws comes through, with nothing posted.
   */
  post(place: Place, message: Message, meta: PostMeta, sure?: () => Promise<void>): Promise<PostRef>;
  update(ref: PostRef, message: Message, meta: PostMeta, lane: 'progress' | 'final'): Promise<void>;
  /** Looks for a post by its metadata: in the thread, or in the channel's newest messages since `sinceMs`. */
  find(place: Place, meta: Pick<PostMeta, 'run' | 'kind'>, sinceMs: number): Promise<PostRef | undefined>;
  /** Looks for a file of ours by its name (an upload carries no metadata), where `find` looks. Answers with its id. */
  findFile(place: Place, filename: string, sinceMs: number): Promise<string | undefined>;
  /** Shares a file in a thread. Answers with the file's id. */
  upload(place: Place, file: FileToShare): Promise<string>;
  /** A private answer, by `response_url` when there is one that works, else `chat.postEphemeral`. */
  tell(person: PrivatePlace, message: Message): Promise<void>;
  /** A direct message: for results whose channel is closed. */
  openDirect(userId: string): Promise<Place>;
}

export interface PrivatePlace {
  readonly channelId: string;
  readonly userId: string;
  readonly threadTs?: string;
  readonly responseUrl?: string;
}

export interface FileToShare {
  readonly filename: string;
  readonly title: string;
  readonly bytes: number;
  /** May be called again for another try. */
  open(): AsyncIterable<Uint8Array>;
  /** As for a post: asked right before the file is shown. */
  readonly sure?: () => Promise<void>;
}

/** What goes back to whoever typed or clicked, at once and to them alone. */
export type Answer =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'message'; readonly message: Message }
  /** A form to fill in (a modal); its submission comes back to `Inbox.submit`. */
  | { readonly kind: 'form'; readonly form: Form };

/**
 * What Slack brings in, already verified (signature, app, team) and authorised by the one table of handlers. Every method
 * resolves within 2.5 s, once what must not be lost is in the store: only then is it acknowledged.
 */
export interface Inbox {
  /** A command, from whichever source; a message rides on the acknowledgement. */
  command(origin: Origin, words: string): Promise<Answer>;
  /** A button. */
  action(click: Click): Promise<Answer>;
  /** A form that was filled in. */
  submit(submission: Submission): Promise<SubmitAnswer>;
  /** A shortcut on a message: "Debug a pod" opens a form with what the message says of a pod, "Apply as EphemeralJob" one with its YAML. */
  shortcut(shortcut: Shortcut): Promise<Answer>;
  /** Somebody was refused at the door, before their words were looked at: kept in the audit log. Never rejects. */
  refused(refused: RefusedAtDoor): Promise<void>;
}

/** A delivery that the one table of handlers did not let in. */
export interface RefusedAtDoor {
  readonly userId: string;
  /** Empty where the delivery names none. */
  readonly channelId: string;
  /** The handler's name in the table. */
  readonly handler: string;
  readonly code: ReasonCode;
}

/** Who did something, where. */
export interface Actor {
  readonly teamId: string;
  readonly userId: string;
  readonly channelId: string;
}

export interface Click extends Actor {
  readonly action: string;
  /** A run or batch id; never more. */
  readonly value: string;
  readonly messageTs: string;
  /** Equal for every delivery of the same click. */
  readonly dedupeKey: string;
}

export interface Submission extends Actor {
  /** The form's own `name` and `value`, as it was opened. */
  readonly name: string;
  readonly value: string;
  /** By field id; a field that was left empty is absent. */
  readonly fields: Readonly<Record<string, string>>;
  readonly threadTs?: string;
  readonly dedupeKey: string;
  readonly receivedAtMs: number;
}

export type SubmitAnswer =
  /** Taken; the form closes. `message` is said privately. */
  | { readonly kind: 'taken'; readonly message?: Message }
  /** Stays open with a word beside each wrong field. */
  | { readonly kind: 'errors'; readonly errors: Readonly<Record<string, string>> };

export interface Shortcut extends Actor {
  /** Its callback id. */
  readonly name: string;
  /** The message's text, as plain as it can be had. */
  readonly text: string;
  /** The message's first code block as it was typed, else its text file; at most 65,537 characters (one more than a job may have). */
  readonly code?: string;
  readonly messageTs: string;
  readonly threadTs?: string;
  readonly dedupeKey: string;
  readonly receivedAtMs: number;
}

/** A person as Slack knows them now. Only `member` may ask or vote. */
export interface Person {
  readonly userId: string;
  readonly teamId: string;
  readonly kind: 'member' | 'guest' | 'outsider' | 'bot' | 'deactivated';
  /** Shown, never matched. */
  readonly name: string;
}

/** Who is who. Throws `KdebugError slack_unreachable`, `slack_refused`; nobody is allowed anything on a failure. */
export interface Directory {
  /** Cached for at most 60 s. @throws KdebugError person_unknown */
  person(userId: string): Promise<Person>;
  /** The members of a user group at this moment; never older than 5 s. @throws KdebugError usergroup_unknown */
  members(usergroupId: string): Promise<ReadonlySet<string>>;
}

// ------------------------------------------------------------------------------------------------------ the machine

/** Bounded scratch files for logs; gone with the process. */
export interface Spools {
  open(runId: RunId): Promise<Spool>;
}

export interface Spool {
  /** Resolves or returns at once while the disk keeps up. @throws KdebugError spool_full */
  write(chunk: Uint8Array): Promise<void> | void;
  /** No more writes; what was written can be read from now on. Resolves with its SHA-256 in hexadecimal. */
  finish(): Promise<string>;
  readonly bytes: number;
  read(): AsyncIterable<Uint8Array>;
  remove(): Promise<void>;
}

/** The policy that is in force now; reloaded behind the caller's back. */
export interface PolicySource {
  current(): Policy;
}

export interface Clock {
  now(): number;
  /** Calls `wake` once after `ms`; the returned function takes it back. */
  after(ms: number, wake: () => void): () => void;
}

/** EphemeralJobs as text. Pure, and never throws. */
export interface Manifests {
  /** Strict: all that is wrong is told with its line and column. */
  read(yaml: string): ReadJob;
  /** What `read` gives back as the same job. */
  write(job: EphemeralJob): string;
}

export interface Ids {
  runId(): RunId;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** Structured records; the fields' names are those of the docs (`runId`, `namespace`, `podName`, `reason` …). Never secrets. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** Counters for operators. Every word given is from a closed list (outcomes, reason codes, method names), so series stay few. */
export interface Metrics {
  /** A delivery was acknowledged: `accepted`, `answered`, or the code of the error; `durationMs` since it was received. */
  command(result: string, durationMs: number): void;
  /** A run reached a final state; `durationMs` since it was received. */
  runFinished(outcome: OutcomeKind, durationMs: number): void;
  /** A call to `kubernetes` or `slack` was answered: `ok`, or the code of the error. */
  apiCall(api: 'kubernetes' | 'slack', method: string, result: string, durationMs: number): void;
}

/** The steps of a run that are kept for ever. */
export type AuditStep =
  | 'refusal'
  | 'request'
  | 'decision'
  | 'access-review'
  | 'dry-run'
  | 'vote'
  | 'grant'
  | 'batch'
  | 'patch'
  | 'outcome';

export interface AuditEntry {
  readonly step: AuditStep;
  readonly atMs: number;
  readonly runId: string;
  readonly channelId: string;
  /** The person whose deed it is; the bot itself for what it does by itself. */
  readonly actorId: string;
  /** Names, codes, hashes and numbers; never a secret, a log line or a private address. */
  readonly facts: Readonly<Record<string, string | number | boolean | undefined>>;
}

/** Append-only, chained by hash. */
export interface AuditLog {
  /** Resolves when it is written. @throws KdebugError audit_unavailable: then what was to be recorded must not happen. */
  append(entry: AuditEntry): Promise<void>;
}
