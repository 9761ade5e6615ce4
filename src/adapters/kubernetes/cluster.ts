import type { Original } from '../../core/container/once-more.ts';
import type { Node, Pod, PodEvent, PodRef, PodSecurityLevel } from '../../core/container/pod.ts';
import type { Revisions } from '../../core/container/revisions.ts';
import type { Claim, ServiceFact, WorkloadFact } from '../../core/diagnosis/facts/facts.ts';
import { matchesSelector, type Selector } from '../../core/request/selector.ts';
import type { LogCompleteness } from '../../core/run/run.ts';
import type {
  About,
  AccessRequest,
  AccessResult,
  Cluster,
  LaunchRequest,
  LaunchResult,
  LogRequest,
  LogSink,
  NamedWorkload,
  PodSeen,
  StampedLine,
  TargetLogRequest,
  Warnings as WarningList,
} from '../../flow/ports/cluster.ts';
import type { Log } from '../../flow/ports/machine.ts';
import type { Clock } from '../../lib/clock.ts';
import { OneByOne } from '../../lib/one-by-one.ts';
import { Turns } from '../../lib/turns.ts';
import { Access } from './access.ts';
import { ApiClient, type OnCall } from './api/api-client.ts';
import { Connection } from './api/connection.ts';
import type { KubeconfigSource } from './api/credentials.ts';
import { asObject, asText } from './api/json-fields.ts';
import { podPath } from './api/paths.ts';
import { collectLog } from './complete-log/collect-log.ts';
import { LOG_TIMES, type LogTimes } from './complete-log/log-times.ts';
import { LAUNCH_TIMES, Launches, type LaunchTimes, launch } from './launch.ts';
import { Nodes, PodSecurity } from './lookups/cluster-scoped.ts';
import { readEvents, Warnings } from './lookups/events.ts';
import { Services, Storage } from './lookups/optional-facts.ts';
import { Workloads } from './lookups/workloads.ts';
import { readOriginal } from './once-more.ts';
import { readRevisions } from './revisions.ts';
import { readTargetLog } from './target-log.ts';
import { WATCH_TIMES, type WatchTimes } from './watch/watch-stream.ts';
import { Watches } from './watch/watches.ts';

export interface ClusterOptions {
  readonly name: string;
  readonly source: KubeconfigSource;
  readonly version: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly onCall?: OnCall;
  /** Called when a watch lists again, with the reason in a word. */
  readonly onWatchRestart?: (reason: string) => void;
  /** For tests: other durations, and repeatable random numbers. */
  readonly launchTimes?: LaunchTimes;
  readonly watchTimes?: WatchTimes;
  readonly logTimes?: LogTimes;
  readonly random?: () => number;
}

/** The `Cluster` port over one API server: one pool of connections, one watch per namespace. */
export class KubernetesCluster implements Cluster {
  readonly name: string;
  readonly #options: ClusterOptions;
  readonly #random: () => number;
  readonly #connection: Connection;
  readonly #client: ApiClient;
  readonly #watches: Watches;
  readonly #podSecurity: PodSecurity;
  readonly #nodes: Nodes;
  readonly #warnings: Warnings;
  readonly #storage: Storage;
  readonly #services: Services;
  readonly #workloads: Workloads;
  readonly #launches: Launches;
  readonly #access: Access;
  readonly #turns: Turns;

  /** @throws KdebugError cluster_config_invalid */
  constructor(options: ClusterOptions) {
    const { clock, log } = options;
    this.name = options.name;
    this.#options = options;
    this.#random = options.random ?? Math.random;
    this.#connection = new Connection(options.source, clock);
    this.#client = new ApiClient(this.#connection, options.version, clock, options.onCall);
    const times = options.watchTimes ?? WATCH_TIMES;
    const onRestart = options.onWatchRestart ?? (() => undefined);
    const pages = new OneByOne();
    this.#watches = new Watches({ client: this.#client, clock, log, random: this.#random, times, pages, onRestart });
    this.#launches = new Launches(this.#client.serverClock);
    this.#podSecurity = new PodSecurity(this.#client, clock);
    this.#nodes = new Nodes(this.#client, clock);
    this.#warnings = new Warnings(this.#client, clock);
    this.#storage = new Storage(this.#client, clock);
    this.#services = new Services(this.#client, clock);
    this.#workloads = new Workloads(this.#client, clock);
    this.#access = new Access(this.#client, clock);
    this.#turns = new Turns(clock);
  }

  /** Calls that wait because the API server asked for fewer. */
  get queued(): number {
    return this.#client.queued;
  }

  async pod(namespace: string, name: string): Promise<Pod> {
    podPath(namespace, name);
    return this.#watches.of(namespace).pod(name);
  }

  async pods(namespace: string, selector: Selector): Promise<readonly Pod[]> {
    return this.#watches.of(namespace).pods((labels) => matchesSelector(selector, labels));
  }

  async podSecurity(namespace: string): Promise<PodSecurityLevel> {
    return this.#podSecurity.levelOf(namespace);
  }

  async launch(request: LaunchRequest): Promise<LaunchResult> {
    const { clock, launchTimes } = this.#options;
    if (!request.dryRun) this.#launches.note(request.container.name);
    return launch({ client: this.#client, clock, random: this.#random, times: launchTimes ?? LAUNCH_TIMES }, request);
  }

  async original(pod: Pick<PodRef, 'namespace' | 'name'>, containerName: string): Promise<Original | undefined> {
    return readOriginal(this.#client, pod, containerName);
  }

  async revisions(pod: Pick<Pod, 'metadata'>, containerName: string): Promise<Revisions> {
    return readRevisions(this.#client, pod, containerName);
  }

  async access(request: AccessRequest): Promise<AccessResult> {
    return this.#access.of(request);
  }

  watch(pod: PodRef, onSeen: (seen: PodSeen) => void): { close(): void } {
    return { close: this.#watches.of(pod.namespace).subscribe(pod, onSeen) };
  }

  async collectLog(request: LogRequest, sink: LogSink): Promise<LogCompleteness> {
    const { clock, logTimes } = this.#options;
    const startedAtMs = this.#launches.earliestStart(request.containerName, request.startedAtMs);
    const tools = { client: this.#client, clock, random: this.#random, times: logTimes ?? LOG_TIMES };
    return collectLog(tools, { ...request, startedAtMs }, sink);
  }

  async events(pod: PodRef, containerName?: string): Promise<readonly PodEvent[]> {
    return readEvents(this.#client, this.#options.clock.now(), pod, containerName);
  }

  async warnings(namespace: string, about: About, pod?: PodRef): Promise<WarningList> {
    return this.#warnings.of(namespace, about, pod);
  }

  async claims(namespace: string): Promise<readonly Claim[] | undefined> {
    return this.#storage.claims(namespace);
  }

  async storageClasses(): Promise<readonly string[] | undefined> {
    return this.#storage.classes();
  }

  async services(namespace: string): Promise<readonly ServiceFact[] | undefined> {
    return this.#services.of(namespace);
  }

  async workload(namespace: string, named: NamedWorkload): Promise<WorkloadFact | 'not-found' | undefined> {
    return this.#workloads.of(namespace, named);
  }

  async readTargetLog(request: TargetLogRequest, onLine: (line: StampedLine) => void): Promise<void> {
    return readTargetLog({ client: this.#client, turns: this.#turns.of(request.pod.namespace) }, request, onLine);
  }

  async node(name: string): Promise<Node | undefined> {
    return this.#nodes.of(name);
  }

  async check(): Promise<{ readonly version: string }> {
    const body = asObject(await this.#client.json({ path: '/version', timeoutMs: 5_000 }));
    return { version: asText(body.gitVersion) };
  }

  /** Ends watches, log readings and connections. Safe to call twice. */
  async close(): Promise<void> {
    this.#watches.close();
    await this.#connection.close();
  }
}
