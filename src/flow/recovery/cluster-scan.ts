import { containerName } from '../../core/container/build.ts';
import type { Pod } from '../../core/container/pod.ts';
import { toKdebugError } from '../../core/errors.ts';
import { isRunId, type RunId } from '../../core/ids.ts';
import { type BatchReference, readPartReference, rebuildBatch } from '../../core/run/batch-reference.ts';
import { aboutContainer, type FoundContainer, rebuildRun } from '../../core/run/reference.ts';
import type { Run } from '../../core/run/run.ts';
import { sleep } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import { Trouble } from '../../lib/trouble.ts';
import { quotasOfKnown } from '../context/accept.ts';
import type { FlowDeps } from '../context/deps.ts';
import { HeldRun } from '../context/held-run.ts';
import { type EndedRun, EndedRuns, RECENT_MS } from './ended-runs.ts';

/** The pause before rescanning a namespace that could not be read. */
const AGAIN_MS = 30_000;
/** Longer than a running batch goes without a save. */
const GIVEN_BACK_MS = 5_000;

const SCAN = { begins: 'scan for lost runs failed, will retry', ends: 'scan for lost runs works again' } as const;

/**
 * Treats the cluster as the second copy of the truth (design, section 4): finds the containers of runs that the store
 * does not know, once per namespace, when its watch is first needed. The runs find their posts by metadata, and finish.
 * A run that was answered without a container ends with the store: its words are in Slack, and nothing is left to follow.
 */
export class Recovery {
  readonly #deps: FlowDeps;
  readonly #start: (held: HeldRun) => void;
  readonly #ended: EndedRuns;
  readonly #scanned = new Set<string>();
  #stopped = false;

  /** `start` gets each recovered run, after it is back in the store. */
  constructor(deps: FlowDeps, start: (held: HeldRun) => void) {
    this.#deps = deps;
    this.#start = start;
    this.#ended = new EndedRuns(deps);
    deps.metrics.observe('ended_runs_to_search', () => this.#ended.left);
  }

  /** Scans every namespace that the policy names; those matching a pattern follow on first use. */
  scanAll(): void {
    const rules = Object.values(this.#deps.policies.current().channels).flatMap((channel) => channel.rules);
    const namespacesOfPolicy = rules.flatMap(({ clusters, namespaces }) =>
      clusters.flatMap((cluster) => namespaces.map((namespace) => ({ cluster, namespace }))),
    );
    for (const { cluster, namespace } of namespacesOfPolicy)
      if (!namespace.includes('*')) this.scan(cluster, namespace);
  }

  /** Scans in the background, once per process. `trouble`: of the tries before. */
  scan(cluster: string, namespace: string, trouble = new Trouble(this.#deps, SCAN)): void {
    const key = `${cluster}/${namespace}`;
    if (this.#stopped || this.#scanned.has(key)) return;
    this.#scanned.add(key);
    this.#scanNow(cluster, namespace).then(
      () => trouble.worked(),
      (thrown: unknown) => {
        trouble.failed({ namespace, reason: toKdebugError(thrown).code });
        this.#deps.clock.after(AGAIN_MS, () => {
          this.#scanned.delete(key);
          this.scan(cluster, namespace, trouble);
        });
      },
    );
  }

  stop(): void {
    this.#stopped = true;
    this.#ended.stop();
  }

  async #scanNow(cluster: string, namespace: string): Promise<void> {
    const batches = new Map<RunId, LostBatch>();
    const ended: EndedRun[] = [];
    for (const pod of await this.#deps.clusters.get(cluster).pods(namespace, []))
      for (const found of foundIn(pod)) {
        const text = isRecent(found, this.#deps.clock.now()) ? this.#open(found) : undefined;
        if (text !== undefined && !addPart(batches, found, text)) ended.push(...(await this.#recover(found, text)));
      }
    this.#ended.add(ended);
    await Promise.all([...batches].map(([id, lost]) => this.#recoverBatch(id, lost)));
  }

  /** Undefined: the text was not sealed for this very container; anybody who may patch pods can copy another's text. */
  #open({ runId, containerName: name, ref, pod }: FoundContainer): string | undefined {
    const { uid } = pod.metadata;
    return name === containerName(runId, uid) ? this.#deps.unseal(ref, aboutContainer(runId, uid)) : undefined;
  }

  async #recover(found: FoundContainer, text: string): Promise<readonly EndedRun[]> {
    const run = rebuildRun(found, text, this.#deps.policies.current().output.redact);
    return run ? this.#restoreOrReturn(run, [found], run.plan.timeoutMs, found.pod.metadata.name) : [];
  }

  /** A replica that still holds the batch restores it whole within seconds: better than what this can rebuild. */
  async #recoverBatch(id: RunId, { reference, pods, parts }: LostBatch): Promise<void> {
    if (await this.#isKnown(id)) return;
    await sleep(this.#deps.clock, GIVEN_BACK_MS);
    const run = reference && rebuildBatch(id, reference, pods, this.#deps.clock.now());
    if (!run) return;
    const timeoutMs = Math.max(...reference.variant.map((plan) => plan.timeoutMs));
    this.#ended.add(await this.#restoreOrReturn(run, parts, timeoutMs, `${pods.length} pods`));
  }

  /** Restores a run that is under way. Returns one that has ended: Slack may have its result, and then a post would only appear twice. */
  async #restoreOrReturn(
    run: Run,
    containers: readonly FoundContainer[],
    timeoutMs: number,
    podName: string,
  ): Promise<readonly EndedRun[]> {
    const nowMs = this.#deps.clock.now();
    const stands = containers.map((found) => standOf(found, timeoutMs, nowMs));
    const isUnderWay = stands.some(({ kind }) => kind === 'under-way');
    const isOver = stands.some(({ kind }) => kind === 'over');
    if (!(isUnderWay || isOver) || (await this.#isKnown(run.id))) return [];
    const restore = (): Promise<void> => this.#restore(run, podName);
    if (!isUnderWay) return [{ run, endedAtMs: Math.max(...stands.map(({ atMs }) => atMs)), restore }];
    await restore();
    return [];
  }

  async #isKnown(id: RunId): Promise<boolean> {
    return this.#stopped || (await this.#deps.store.read(id)) !== undefined;
  }

  async #restore(run: Run, podName: string): Promise<void> {
    const { store, owner, policies, log, metrics } = this.#deps;
    const created = await store.create(run, owner, quotasOfKnown(run, policies.current()));
    if (created.kind !== 'created') return;
    metrics.adopted('cluster');
    log.warn('found a run in the cluster that the store had lost', { runId: run.id, podName });
    this.#start(new HeldRun({ run, fence: created.fence }, this.#deps, { recovered: true }));
  }
}

/** The traces of a batch in the cluster: the pods with its containers, and the reference that some of these carry. */
interface LostBatch {
  reference: BatchReference | undefined;
  readonly pods: Pod[];
  readonly parts: FoundContainer[];
}

/** False: not part of a batch. */
function addPart(batches: Map<RunId, LostBatch>, found: FoundContainer, text: string): boolean {
  const reference = readPartReference(text);
  if (!reference) return false;
  const batch = batches.get(reference.partOf) ?? { reference: undefined, pods: [], parts: [] };
  batches.set(reference.partOf, batch);
  batch.reference ??= reference.kept;
  batch.parts.push(found);
  if (batch.pods.at(-1) !== found.pod) batch.pods.push(found.pod);
  return true;
}

function foundIn(pod: Pod): readonly FoundContainer[] {
  return pod.spec.ephemeralContainers.flatMap(({ name, image, runId, ref, notAfterMs, fingerprint }) =>
    runId !== undefined && isRunId(runId) && ref !== undefined
      ? [
          {
            runId,
            containerName: name,
            image,
            ref,
            pod,
            ...defined({ fingerprint, notAfterMs }),
          },
        ]
      : [],
  );
}

const terminationOf = ({ pod, containerName }: FoundContainer) =>
  pod.status.ephemeralContainerStatuses.find(({ name }) => name === containerName)?.terminated;

/** `atMs`: when it ended, or when kdebug gives up. A container that never ended counts as given up once its deadlines have passed. */
interface Stand {
  readonly kind: 'under-way' | 'over' | 'long-over';
  readonly atMs: number;
}

function standOf(found: FoundContainer, timeoutMs: number, nowMs: number): Stand {
  const termination = terminationOf(found);
  if (termination) return { kind: 'over', atMs: Date.parse(termination.finishedAt) };
  const atMs = (found.notAfterMs ?? Number.POSITIVE_INFINITY) + timeoutMs;
  if (nowMs < atMs) return { kind: 'under-way', atMs };
  return { kind: nowMs - atMs < RECENT_MS ? 'over' : 'long-over', atMs };
}

function isRecent(found: FoundContainer, nowMs: number): boolean {
  const termination = terminationOf(found);
  return termination === undefined || nowMs - Date.parse(termination.finishedAt) < RECENT_MS;
}
