import { createHash } from 'node:crypto';
import { createArchive } from '../../../src/adapters/spool/archive.ts';
import { fingerprintOf } from '../../../src/core/container/fingerprint.ts';
import type { Original } from '../../../src/core/container/once-more.ts';
import type {
  ContainerStatus,
  Node,
  Pod,
  PodEvent,
  PodRef,
  PodSecurityLevel,
} from '../../../src/core/container/pod.ts';
import type { Revisions } from '../../../src/core/container/revisions.ts';
import type { Claim, ObjectEvent, ServiceFact, WorkloadFact } from '../../../src/core/diagnosis/facts/facts.ts';
import { KdebugError, type ReasonCode } from '../../../src/core/errors.ts';
import type { ByFileName } from '../../../src/core/run/delivery.ts';
import type { LogCompleteness } from '../../../src/core/run/run.ts';
import type { PostRef } from '../../../src/core/run/run-state.ts';
import type { Message } from '../../../src/core/say/message/message.ts';
import { DEFAULT_NAMES, withNames } from '../../../src/core/shown-names.ts';
import type {
  About,
  AccessResult,
  Cluster,
  LaunchRequest,
  LaunchResult,
  LogRequest,
  LogSink,
  PodSeen,
  StampedLine,
  TargetLogRequest,
  Warnings,
} from '../../../src/flow/ports/cluster.ts';
import type { ChannelFacts, Directory, HowFresh, Person } from '../../../src/flow/ports/directory.ts';
import type { FileToShare, Shared } from '../../../src/flow/ports/files.ts';
import type { Archive, AuditEntry, AuditLog, Spool, Spools } from '../../../src/flow/ports/machine.ts';
import type {
  Destination,
  PostMeta,
  PrivateDestination,
  Sent,
  Thread,
  TokenState,
} from '../../../src/flow/ports/slack.ts';
import { aPod } from '../../support/builders.ts';

/** Errors to throw at the next calls of a method, and whether the effect happened before. */
class Faults {
  readonly #queue: { readonly method: string; readonly code: ReasonCode; readonly after: boolean }[] = [];

  add(method: string, code: ReasonCode, when: 'before' | 'after' = 'before'): void {
    this.#queue.push({ method, code, after: when === 'after' });
  }

  clear(): void {
    this.#queue.length = 0;
  }

  take(method: string, when: 'before' | 'after'): void {
    const index = this.#queue.findIndex((fault) => fault.method === method && fault.after === (when === 'after'));
    if (index < 0) return;
    const [fault] = this.#queue.splice(index, 1);
    throw new KdebugError(fault!.code);
  }
}

/** A cluster of pods in memory that keeps the rules that the flow relies on: uid, names once, level-triggered watch. */
export class FakeCluster implements Cluster {
  readonly name = 'prod';
  readonly faults = new Faults();
  readonly launches: LaunchRequest[] = [];
  level: PodSecurityLevel = 'privileged';
  podEvents: readonly PodEvent[] = [];
  /** Undefined: the optional right is missing. */
  claimsNow: readonly Claim[] | undefined;
  storageClassesNow: readonly string[] | undefined;
  servicesNow: readonly ServiceFact[] | undefined;
  workloadNow: WorkloadFact | 'not-found' | undefined;
  warningsNow: readonly ObjectEvent[] = [];
  areAllWarnings = true;
  /** Undefined: the pod has no such container. */
  originalNow: Original | undefined;
  revisionsNow: Revisions = { kind: 'none' };
  /** Of a container, or of its last incarnation: `web`, `web --previous`. */
  readonly targetLogs = new Map<string, readonly StampedLine[]>();
  /** Undefined: the bot may not look at nodes. */
  nodeNow: Node | undefined;
  /** Further pods of the namespace. */
  siblings: readonly Pod[] = [];
  log = '';
  /** What the container wrote later. */
  newerLog: { readonly atMs: number; readonly text: string } | undefined;
  completeness: LogCompleteness = { complete: true, limitReached: false, beginningMayBeMissing: false, gaps: [] };
  refusal: Extract<LaunchResult, { kind: 'refused' }> | undefined;
  allowed: AccessResult = { kind: 'allowed' };
  readonly calls: string[] = [];
  #pod: Pod | undefined = aPod();
  #watchers = new Set<{ readonly pod: PodRef; readonly onSeen: (seen: PodSeen) => void }>();

  pod(_namespace: string, name: string): Promise<Pod> {
    return this.#answer('pod', () => {
      const pod = [this.#pod, ...this.siblings].find((each) => each?.metadata.name === name);
      if (!pod) throw new KdebugError('pod_not_found', { detail: name });
      return pod;
    });
  }

  pods(): Promise<readonly Pod[]> {
    return Promise.resolve([...(this.#pod ? [this.#pod] : []), ...this.siblings]);
  }

  podSecurity(): Promise<PodSecurityLevel> {
    return this.#answer('podSecurity', () => this.level);
  }

  warnings(_namespace: string, about: About): Promise<Warnings> {
    const areAll = this.areAllWarnings;
    return this.#answer('warnings', () => ({
      events: this.warningsNow.filter(({ involved }) => about(involved)),
      areAll,
    }));
  }

  claims(): Promise<readonly Claim[] | undefined> {
    return this.#answer('claims', () => this.claimsNow);
  }

  storageClasses(): Promise<readonly string[] | undefined> {
    return this.#answer('storageClasses', () => this.storageClassesNow);
  }

  services(): Promise<readonly ServiceFact[] | undefined> {
    return this.#answer('services', () => this.servicesNow);
  }

  workload(): Promise<WorkloadFact | 'not-found' | undefined> {
    return this.#answer('workload', () => this.workloadNow);
  }

  readTargetLog({ containerName, previous }: TargetLogRequest, onLine: (line: StampedLine) => void): Promise<void> {
    return this.#answer('readTargetLog', () => {
      for (const line of this.targetLogs.get(`${containerName}${previous ? ' --previous' : ''}`) ?? []) onLine(line);
    });
  }

  launch(request: LaunchRequest): Promise<LaunchResult> {
    return this.#answer('launch', (): LaunchResult => {
      if (!this.#pod) return { kind: 'pod-gone' };
      if (this.#pod.metadata.uid !== request.pod.uid) return { kind: 'pod-replaced' };
      if (this.refusal) return this.refusal;
      if (request.dryRun) return { kind: 'launched', pod: this.#pod };
      const { name, image } = request.container;
      const { ephemeralContainers } = this.#pod.spec;
      const held = ephemeralContainers.find((existing) => existing.name === name);
      if (held?.fingerprint !== undefined && held.fingerprint !== fingerprintOf(request.container)) {
        return { kind: 'refused', by: 'name-taken', message: 'the pod already has a different container of this name' };
      }
      if (!held) {
        this.launches.push(request);
        this.setPod({
          ...this.#pod,
          spec: {
            ...this.#pod.spec,
            ephemeralContainers: [...ephemeralContainers, { name, image, ...heldOf(request) }],
          },
        });
      }
      return { kind: 'launched', pod: this.#pod };
    });
  }

  original(): Promise<Original | undefined> {
    return this.#answer('original', () => this.originalNow);
  }

  revisions(): Promise<Revisions> {
    return this.#answer('revisions', () => this.revisionsNow);
  }

  access(): Promise<AccessResult> {
    return this.#answer('access', () => this.allowed);
  }

  watch(pod: PodRef, onSeen: (seen: PodSeen) => void): { close(): void } {
    const watcher = { pod, onSeen };
    this.#watchers.add(watcher);
    this.#tell(watcher);
    return { close: () => this.#watchers.delete(watcher) };
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  async collectLog(request: LogRequest, sink: LogSink): Promise<LogCompleteness> {
    this.calls.push('collectLog');
    await Promise.race([
      request.ended,
      new Promise<void>((resolve) => request.signal.addEventListener('abort', () => resolve())),
    ]);
    this.faults.take('collectLog', 'before');
    const { sinceMs = Number.POSITIVE_INFINITY } = request;
    const isNewFrom = this.newerLog !== undefined && this.newerLog.atMs >= sinceMs;
    await sink.write(Buffer.from(this.log));
    if (isNewFrom) sink.reachedSince?.();
    if (this.newerLog) await sink.write(Buffer.from(this.newerLog.text));
    return this.completeness;
  }

  events(): Promise<readonly PodEvent[]> {
    return this.#answer('events', () => this.podEvents);
  }

  node(): Promise<Node | undefined> {
    return this.#answer('node', () => this.nodeNow);
  }

  check(): Promise<{ version: string }> {
    return Promise.resolve({ version: 'v1.34.4' });
  }

  /** Replaces the pod, or takes it away, and tells all who watch. */
  setPod(pod: Pod | undefined): void {
    this.#pod = pod;
    for (const watcher of this.#watchers) this.#tell(watcher);
  }

  /** The kubelet reports on our container, the first or another one. */
  report(status: Partial<ContainerStatus>, index = 0): void {
    if (!this.#pod) return;
    const name = this.launches[index]?.container.name ?? '';
    const ours = { name, image: '', imageID: 'sha256:feed', restartCount: 0, ...status };
    const others = this.#pod.status.ephemeralContainerStatuses.filter((each) => each.name !== name);
    const { launches } = this;
    const isLaunched = (each: ContainerStatus) => launches.some(({ container }) => container.name === each.name);
    const ephemeralContainerStatuses = [...others.filter(isLaunched), ours];
    this.setPod({ ...this.#pod, status: { ...this.#pod.status, ephemeralContainerStatuses } });
  }

  #tell({ pod, onSeen }: { readonly pod: PodRef; readonly onSeen: (seen: PodSeen) => void }): void {
    if (!this.#pod) onSeen({ kind: 'gone' });
    else if (this.#pod.metadata.uid !== pod.uid) onSeen({ kind: 'replaced' });
    else onSeen({ kind: 'pod', pod: this.#pod });
  }

  async #answer<Value>(method: string, act: () => Value): Promise<Value> {
    this.calls.push(method);
    this.faults.take(method, 'before');
    const value = act();
    this.faults.take(method, 'after');
    return value;
  }
}

/** Who asked for a container, as its environment says. */
function requesterOf({ container }: LaunchRequest): { requesterId?: string } {
  const requesterId = container.env.find(({ name }) => name === 'KDEBUG_REQUESTER')?.value;
  return requesterId === undefined ? {} : { requesterId };
}

/** What the projection keeps of a container that was sent. */
export const heldOf = (request: LaunchRequest) => ({
  runId: request.runId,
  fingerprint: fingerprintOf(request.container),
  ...requesterOf(request),
  ...refOf(request),
});

/** What the marks in a container's environment say of it. */
function refOf({ container }: LaunchRequest): { ref?: string; notAfterMs?: number } {
  const variable = (wanted: string) => container.env.find(({ name }) => name === wanted)?.value;
  const ref = variable('KDEBUG_REF');
  return ref === undefined ? {} : { ref, notAfterMs: Date.parse(variable('KDEBUG_NOT_AFTER') ?? '') };
}

export interface Said {
  readonly ref: PostRef;
  readonly place: Destination;
  readonly meta: PostMeta;
  /** Names of the files that came with it. */
  readonly files: readonly string[];
  message: Message;
  updates: number;
  /** Of its last update. */
  lane?: 'progress' | 'final';
}

const isAt = (post: Said, place: Destination): boolean =>
  post.place.channelId === place.channelId && post.place.threadTs === place.threadTs;

interface SharedFile {
  readonly place: Destination;
  readonly filename: string;
  readonly altText?: string | undefined;
  readonly content: string;
  readonly raw: Buffer;
}

/** A Slack that keeps what was said, with the default names. */
export class FakeThread implements Thread {
  readonly faults = new Faults();
  readonly posts: Said[] = [];
  readonly files: SharedFile[] = [];
  /** Names of files that Slack takes from nobody. */
  readonly refusedFiles = new Set<string>();
  /** Threads whose root is deleted: a reply stands in the channel itself. */
  readonly goneThreads = new Set<string>();
  readonly told: { readonly person: PrivateDestination; readonly message: Message }[] = [];
  readonly calls: string[] = [];

  post(place: Destination, message: Message, meta: PostMeta, sure?: () => Promise<void>): Promise<Sent> {
    const there = this.#there(place);
    return this.#answer('post', () => ({ ...this.#add(there.place, message, meta, []), ...there.landed }), sure);
  }

  #there(place: Destination): { readonly place: Destination; readonly landed: { readonly threadGone?: string } } {
    const { channelId, threadTs } = place;
    return threadTs !== undefined && this.goneThreads.has(threadTs)
      ? { place: { channelId }, landed: { threadGone: threadTs } }
      : { place, landed: {} };
  }

  update(ref: PostRef, message: Message, _meta?: PostMeta, lane?: 'progress' | 'final'): Promise<void> {
    return this.#answer('update', () => {
      const post = this.posts.find((candidate) => candidate.ref.ts === ref.ts)!;
      if (lane) post.lane = lane;
      post.message = withNames(message, DEFAULT_NAMES);
      post.updates += 1;
    });
  }

  find(place: Destination, { run, kind }: Pick<PostMeta, 'run' | 'kind'>): Promise<Sent | undefined> {
    const there = this.#there(place);
    const isIt = (post: Said) => isAt(post, there.place) && post.meta.run === run && post.meta.kind === kind;
    return this.#answer('find', () => {
      const post = this.posts.find(isIt);
      return post && { ...post.ref, ...there.landed };
    });
  }

  findShared(place: Destination, filenames: readonly string[]): Promise<Shared | undefined> {
    return this.#answer('findShared', () => {
      const there = this.#there(place);
      const has = (name: string) => (said: Said) => isAt(said, there.place) && said.files.includes(name);
      const post = this.posts.find((said) => filenames.some((name) => has(name)(said)));
      if (!post) return undefined;
      return {
        ref: post.ref,
        files: this.#idsOf(filenames.filter((name) => has(name)(post))),
        refused: {},
        ...there.landed,
      };
    });
  }

  /** As Slack does it: the words and the files show as one message, which carries no metadata. */
  async share(
    place: Destination,
    messageOf: (refused: ByFileName) => Message,
    files: readonly FileToShare[],
    sure?: () => Promise<void>,
  ): Promise<Shared> {
    if (files.length === 0 || files.length > 10)
      throw new KdebugError('slack_refused', { detail: 'invalid_arguments' });
    const contents: SharedFile[] = [];
    const taken = files.filter(({ filename }) => !this.refusedFiles.has(filename));
    const refused = files.filter((file) => !taken.includes(file)).map(({ filename }) => [filename, 'slack_refused']);
    if (taken.length === 0) throw new KdebugError('slack_refused', { detail: 'no file accepted' });
    for (const { filename, open, altText } of taken) {
      const pieces: Uint8Array[] = [];
      for await (const piece of open()) pieces.push(piece);
      const raw = Buffer.concat(pieces);
      contents.push({ place: this.#there(place).place, filename, content: raw.toString(), raw, altText });
    }
    const show = (): Shared => {
      this.files.push(...contents);
      const names = taken.map(({ filename }) => filename);
      const byName = Object.fromEntries(refused) as ByFileName;
      const ref = this.#add(this.#there(place).place, messageOf(byName), { run: '', kind: 'result', seq: 0 }, names);
      return { ref, files: this.#idsOf(names), refused: byName };
    };
    return this.#answer('share', show, sure);
  }

  #idsOf(names: readonly string[]): ByFileName {
    const idOf = (name: string) => `F${this.files.findIndex(({ filename }) => filename === name) + 1}`;
    return Object.fromEntries(names.map((name) => [name, idOf(name)]));
  }

  #add(place: Destination, message: Message, meta: PostMeta, files: readonly string[]): PostRef {
    const ref = { channelId: place.channelId, ts: `${this.posts.length + 1}.0` };
    this.posts.push({ ref, place, meta, message: withNames(message, DEFAULT_NAMES), files, updates: 0 });
    return ref;
  }

  tell(person: PrivateDestination, message: Message): Promise<void> {
    return this.#answer('tell', () => {
      this.told.push({ person, message: withNames(message, DEFAULT_NAMES) });
    });
  }

  permalink({ channelId, ts }: PostRef): Promise<string | undefined> {
    return this.#answer('permalink', () => `https://local.slack.com/archives/${channelId}/p${ts.replace('.', '')}`);
  }

  openDirect(userId: string): Promise<Destination> {
    return this.#answer('openDirect', () => ({ channelId: `D-${userId}` }));
  }

  async #answer<Value>(method: string, act: () => Value, sure?: () => Promise<void>): Promise<Value> {
    this.calls.push(method);
    this.faults.take(method, 'before');
    await sure?.();
    const value = act();
    this.faults.take(method, 'after');
    return value;
  }
}

/** Spools in memory. */
export class FakeSpools implements Spools {
  async archive(): Promise<Archive> {
    return createArchive(await this.open());
  }

  open(): Promise<Spool> {
    const pieces: Uint8Array[] = [];
    const size = () => pieces.reduce((sum, piece) => sum + piece.length, 0);
    const spool: Spool = {
      write: (chunk) => void pieces.push(chunk),
      finish: () => Promise.resolve(createHash('sha256').update(Buffer.concat(pieces)).digest('hex')),
      get bytes() {
        return size();
      },
      async *read() {
        yield* pieces;
      },
      remove: () => Promise.resolve(),
    };
    return Promise.resolve(spool);
  }
}

/** Everybody is a member; user groups are as a test sets them. */
export class FakeDirectory implements Directory {
  readonly faults = new Faults();
  readonly groups = new Map<string, Set<string>>([['S0SRE', new Set(['U0BOB', 'U0ALICE'])]]);
  /** Channels that are shared with another company. */
  readonly shared = new Set<string>();
  /** Channels that the bot is not in. */
  readonly notIn = new Set<string>();
  /** Channels with too many people to look for one. */
  readonly large = new Set<string>();
  /** Private channels. */
  readonly hidden = new Set<string>();
  /** Who is in a channel; where a test says nothing, nobody. All approvers of the tests see the cards of the shop. */
  readonly inChannels = new Map([['C0SHOP', new Set(['U0ROY', 'U0BOB', 'U0ALICE', 'U0CAROL', 'U0DAN', 'U0EVE'])]]);

  readonly kinds = new Map<string, Person['kind']>();
  /** What an answer that was kept says; asked afresh, `groups` and `kinds` speak. */
  readonly kept = new Map<string, Set<string>>();
  /** What was known when Slack took questions; only for showing. */
  readonly lastKnown = new Map<string, Set<string>>();

  async person(userId: string): Promise<Person> {
    this.faults.take('person', 'before');
    return { userId, teamId: 'T0TEAM', kind: this.kinds.get(userId) ?? 'member', name: userId };
  }

  async members(usergroupId: string, howFresh?: HowFresh): Promise<ReadonlySet<string>> {
    this.faults.take(typeof howFresh === 'number' ? 'fresh members' : 'members', 'before');
    const kept = typeof howFresh === 'number' ? undefined : this.kept.get(usergroupId);
    const old = howFresh === 'shown' ? this.lastKnown.get(usergroupId) : undefined;
    return old ?? kept ?? this.groups.get(usergroupId) ?? new Set();
  }

  async channel(channelId: string): Promise<ChannelFacts> {
    this.faults.take('channel', 'before');
    if (this.hidden.has(channelId) && this.notIn.has(channelId))
      throw new KdebugError('slack_channel_closed', { facts: { error: 'channel_not_found' } });
    return {
      name: channelId.toLowerCase(),
      isShared: this.shared.has(channelId),
      isMember: !this.notIn.has(channelId),
      isPrivate: this.hidden.has(channelId),
    };
  }

  async channelMembers(channelId: string): Promise<ReadonlySet<string>> {
    this.faults.take('channelMembers', 'before');
    if (this.notIn.has(channelId) && this.hidden.has(channelId)) throw new KdebugError('slack_channel_closed');
    return this.inChannels.get(channelId) ?? new Set();
  }

  async areTogetherIn(channelId: string, userId: string): Promise<boolean> {
    this.faults.take(`areTogetherIn ${channelId}`, 'before');
    if (this.large.has(channelId)) throw new KdebugError('slack_refused', { facts: { error: 'too_many_members' } });
    return !this.notIn.has(channelId) && (this.inChannels.get(channelId)?.has(userId) ?? false);
  }
}

/** Slack accepts the token until a test says otherwise. */
export class FakeToken implements TokenState {
  readonly #listeners = new Set<() => void>();
  /** What Slack would say, when asked. */
  isGood = true;
  #isAccepted = true;
  asked = 0;

  isAccepted(): boolean {
    return this.#isAccepted;
  }

  async confirm(): Promise<boolean> {
    this.asked += 1;
    this.#isAccepted = this.isGood;
    return this.#isAccepted;
  }

  /** Slack answers some call: it accepts the token, or not. */
  answer(isGood: boolean): void {
    const isNews = isGood && !this.#isAccepted;
    this.isGood = isGood;
    this.#isAccepted = isGood;
    if (isNews) for (const listener of [...this.#listeners]) listener();
  }

  onAccepted(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Keeps the entries; can be told to fail. */
export class FakeAudit implements AuditLog {
  readonly faults = new Faults();
  readonly entries: AuditEntry[] = [];

  async append(entry: AuditEntry): Promise<void> {
    this.faults.take(entry.step, 'before');
    this.entries.push(entry);
  }
}
