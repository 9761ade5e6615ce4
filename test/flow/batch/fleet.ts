import type { ContainerStatus, Pod, PodRef, PodSecurityLevel } from '../../../src/core/container/pod.ts';
import type { Revisions } from '../../../src/core/container/revisions.ts';
import type { Claim, ServiceFact, WorkloadFact } from '../../../src/core/diagnosis/facts/facts.ts';
import { KdebugError, type ReasonCode } from '../../../src/core/errors.ts';
import type { LogCompleteness } from '../../../src/core/run/run.ts';
import type {
  Cluster,
  LaunchRequest,
  LaunchResult,
  LogRequest,
  LogSink,
  PodSeen,
  Warnings,
} from '../../../src/flow/ports/cluster.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { aPod, aStatus, aTermination } from '../../support/builders.ts';
import { heldOf } from '../support/fakes.ts';

/** What the kubelet makes of a pod's debug container. */
export interface Fate {
  /** From the launch until it runs; undefined: the kubelet says this reason and it never runs. */
  readonly startMs: number;
  readonly runMs: number;
  readonly exitCode: number;
  readonly fails?: string | undefined;
}

const FATE: Fate = { startMs: 100, runMs: 1_000, exitCode: 0 };

interface Watcher {
  readonly pod: PodRef;
  readonly onSeen: (seen: PodSeen) => void;
}

/** A cluster of many pods in memory with a kubelet on a given clock; it keeps count of what really runs. */
export class Fleet implements Cluster {
  readonly name = 'prod';
  readonly launches: LaunchRequest[] = [];
  readonly calls: string[] = [];
  /** Containers launched and not terminated, and the most there ever were. */
  readonly inFlight = new Set<string>();
  peak = 0;
  /** The next launches fail so, after or before they happened. */
  readonly troubles: { readonly code: ReasonCode; readonly when: 'before' | 'after' }[] = [];
  fateOf: (podName: string) => Fate = () => FATE;
  /** What could not be proven about a pod's log. */
  doubtsOf: (podName: string) => Partial<LogCompleteness> = () => ({});
  /** What a debug container writes. */
  logOf: (podName: string) => string = (podName) => `seen in ${podName}\n`;
  level: PodSecurityLevel = 'privileged';
  /** Lists are not answered. */
  isSilent = false;
  /** The server is too old for ephemeral containers. */
  isUnsupported = false;
  readonly #clock: Clock;
  readonly #pods = new Map<string, Pod>();
  readonly #watchers = new Set<Watcher>();

  constructor(clock: Clock, pods: readonly Pod[]) {
    this.#clock = clock;
    for (const pod of pods) this.#pods.set(pod.metadata.name, pod);
  }

  get names(): readonly string[] {
    return [...this.#pods.keys()];
  }

  async pod(_namespace: string, name: string): Promise<Pod> {
    const pod = this.#pods.get(name);
    if (!pod) throw new KdebugError('pod_not_found', { detail: name });
    return pod;
  }

  async pods(): Promise<readonly Pod[]> {
    if (this.isSilent) throw new KdebugError('cluster_unreachable');
    return [...this.#pods.values()];
  }

  async podSecurity(): Promise<PodSecurityLevel> {
    return this.level;
  }

  async warnings(): Promise<Warnings> {
    return { events: [], areAll: true };
  }

  async claims(): Promise<readonly Claim[] | undefined> {
    return undefined;
  }

  async storageClasses(): Promise<readonly string[] | undefined> {
    return undefined;
  }

  async services(): Promise<readonly ServiceFact[] | undefined> {
    return undefined;
  }

  async workload(): Promise<WorkloadFact | 'not-found' | undefined> {
    return undefined;
  }

  async revisions(): Promise<Revisions> {
    return { kind: 'none' };
  }

  async original(): Promise<undefined> {
    return undefined;
  }

  async readTargetLog(): Promise<void> {}

  async launch(request: LaunchRequest): Promise<LaunchResult> {
    if (request.dryRun) return { kind: 'launched', pod: aPod() };
    this.calls.push('launch');
    const trouble = this.troubles.shift();
    if (trouble?.when === 'before') throw new KdebugError(trouble.code, { facts: { retryAfterMs: 200 } });
    const answer: LaunchResult = this.isUnsupported ? { kind: 'unsupported' } : this.#launch(request);
    if (trouble) throw new KdebugError(trouble.code);
    return answer;
  }

  async access() {
    return { kind: 'allowed' } as const;
  }

  watch(pod: PodRef, onSeen: (seen: PodSeen) => void): { close(): void } {
    const watcher = { pod, onSeen };
    this.#watchers.add(watcher);
    this.#tell(watcher);
    return { close: () => this.#watchers.delete(watcher) };
  }

  async collectLog({ pod, ended, signal }: LogRequest, sink: LogSink): Promise<LogCompleteness> {
    this.calls.push('log');
    await Promise.race([ended, new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))]);
    await sink.write(Buffer.from(this.logOf(pod.name)));
    const whole = { complete: true, limitReached: false, beginningMayBeMissing: false, gaps: [] };
    return { ...whole, ...this.doubtsOf(pod.name) };
  }

  async events() {
    return [];
  }

  async node() {
    return undefined;
  }

  async check() {
    return { version: 'v1.34.4' };
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  /** Replaces a pod, or takes it away, and tells all who watch it. */
  set(name: string, pod: Pod | undefined): void {
    const ended = pod ? [] : (this.#pods.get(name)?.spec.ephemeralContainers ?? []);
    for (const container of ended) this.inFlight.delete(container.name);
    if (pod) this.#pods.set(name, pod);
    else this.#pods.delete(name);
    for (const watcher of this.#watchers) if (watcher.pod.name === name) this.#tell(watcher);
  }

  now(name: string): Pod {
    const pod = this.#pods.get(name);
    if (!pod) throw new Error(`no pod ${name}`);
    return pod;
  }

  #launch(request: LaunchRequest): LaunchResult {
    const {
      pod: { name, uid },
      container,
      runId,
    } = request;
    const pod = this.#pods.get(name);
    if (!pod) return { kind: 'pod-gone' };
    if (pod.metadata.uid !== uid) return { kind: 'pod-replaced' };
    const { ephemeralContainers } = pod.spec;
    if (ephemeralContainers.some((known) => known.name === container.name)) return { kind: 'launched', pod };
    this.launches.push({ pod: { name, uid, namespace: 'shop' }, container, runId });
    const added = { name: container.name, image: container.image, ...heldOf(request) };
    const held = { ...pod, spec: { ...pod.spec, ephemeralContainers: [...ephemeralContainers, added] } };
    this.set(name, held);
    this.#live(name, container.name);
    return { kind: 'launched', pod: held };
  }

  #live(podName: string, container: string): void {
    const { startMs, runMs, exitCode, fails } = this.fateOf(podName);
    this.inFlight.add(container);
    this.peak = Math.max(this.peak, this.inFlight.size);
    if (fails !== undefined) {
      this.#clock.after(startMs, () => {
        this.inFlight.delete(container);
        this.#report(podName, container, { waiting: { reason: fails, message: 'no' } });
      });
      return;
    }
    this.#clock.after(startMs, () =>
      this.#report(podName, container, { running: { startedAt: '2026-11-21T07:30:01Z' } }),
    );
    this.#clock.after(startMs + runMs, () => {
      this.inFlight.delete(container);
      const reason = exitCode === 0 ? 'Completed' : 'Error';
      this.#report(podName, container, { terminated: aTermination({ exitCode, reason }) });
    });
  }

  #report(podName: string, name: string, status: Partial<ContainerStatus>): void {
    const pod = this.#pods.get(podName);
    if (!pod?.spec.ephemeralContainers.some((known) => known.name === name)) return;
    const others = pod.status.ephemeralContainerStatuses.filter((known) => known.name !== name);
    const statuses = [...others, aStatus({ name, image: '', ...status })];
    this.set(podName, { ...pod, status: { ...pod.status, ephemeralContainerStatuses: statuses } });
  }

  #tell({ pod, onSeen }: Watcher): void {
    const now = this.#pods.get(pod.name);
    if (!now) onSeen({ kind: 'gone' });
    else onSeen(now.metadata.uid === pod.uid ? { kind: 'pod', pod: now } : { kind: 'replaced' });
  }
}

/** `web-0`, `web-1` …, of the deployment `web`, one on each of `nodes` nodes in turn. */
export const podsOfWeb = (count: number, nodes = 3): readonly Pod[] =>
  Array.from({ length: count }, (_, index) =>
    aPod({
      metadata: {
        name: `web-${index}`,
        uid: `uid-${index}`,
        creationTimestamp: new Date(Date.UTC(2026, 10, 20, 0, 0, index)).toISOString(),
        labels: { app: 'web', 'pod-template-hash': 'abc' },
        ownerReferences: [{ kind: 'ReplicaSet', name: 'web-abc', controller: true }],
      },
      spec: { nodeName: `node-${index % nodes}` },
    }),
  );
