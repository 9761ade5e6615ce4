import type { BatchPod } from '../../core/batch/batch.ts';
import { runIdOf } from '../../core/batch/new-batch.ts';
import { nextLaunches, ttlEndsAtMs, withLaunched } from '../../core/batch/open-batch.ts';
import { KdebugError, toKdebugError } from '../../core/errors.ts';
import { sizeOf } from '../../core/planning/decide-batch.ts';
import { FULL_REFERENCE_PODS, writeFullReference, writeShortReference } from '../../core/run/batch-reference.ts';
import { type BatchRun, isBatchRun, isFinal } from '../../core/run/life-cycle.ts';
import { aboutContainer } from '../../core/run/reference.ts';
import { elapsedAt, sleep } from '../../lib/clock.ts';
import { LatestValue } from '../../lib/latest-value.ts';
import { Rounds } from '../../lib/rounds.ts';
import { Trouble } from '../../lib/trouble.ts';
import type { FlowDeps } from '../context/deps.ts';
import { HELD_FOR_LAUNCH_MS, type HeldRun } from '../context/held-run.ts';
import type { AdvanceContext } from '../run/pipeline.ts';
import { Checkpoints } from './checkpoints.ts';
import { HeldBatch } from './held-batch.ts';
import { recheckOf } from './preflight.ts';
import { headOf, heldPodRun, launchedPodRun, type PodRun, type PodSlot, podRunOf, runPod } from './run-pod.ts';

/** No more pods are launched while this many ended pods still have their logs read. */
const MAX_READING = 50;
const NO_PODS: ReadonlySet<number> = new Set();
/** The pause before the next query of an unreachable cluster for the pods in flight. */
const RETRY_MS = 2_000;

/**
 * Runs an approved batch to its end: launches pods while there is room, takes every container through the stages of any
 * run, and saves the progress. Any replica may enter it again at any time: it finds containers launched after the last
 * save in the cluster.
 * @throws KdebugError lease_lost, store_unreachable
 */
export async function runBatch(held: HeldRun, context: AdvanceContext): Promise<void> {
  if (!isBatchRun(held.run)) throw new KdebugError('internal_error', { detail: 'a batch without a snapshot' });
  await new BatchEngine(held, held.run, context).run();
}

class BatchEngine {
  readonly #held: HeldRun;
  readonly #context: AdvanceContext;
  readonly #recheck: ReturnType<typeof recheckOf>;
  readonly #changes: LatestValue<true>;
  readonly #checkpoints: Checkpoints;
  readonly #podRuns = new Map<HeldRun, PodSlot>();
  readonly #unfinished = new Set<Promise<void>>();
  /** The texts to seal into the containers, written once. */
  readonly #references: { readonly full: string; readonly short: string };
  #isPastTtl = false;
  #moves = 0;
  #batch: HeldBatch | undefined;
  /** The run at the start; use it only for what never changes. */
  #run: BatchRun;

  constructor(held: HeldRun, run: BatchRun, context: AdvanceContext) {
    const { deps } = context;
    this.#held = held;
    this.#changes = new LatestValue(deps.clock);
    this.#checkpoints = new Checkpoints(held, deps);
    this.#context = context;
    this.#recheck = recheckOf(run, deps, () => sizeOf(this.#batch?.open.head ?? run.batch));
    this.#run = run;
    this.#references = { full: writeFullReference(run), short: writeShortReference(run.id) };
  }

  async run(): Promise<void> {
    const stop = this.#held.onChange((isSaved) => {
      if (!isSaved) this.#moves += 1;
      this.#checkpoints.touch();
      this.#changes.put(true);
    });
    try {
      const batch = await this.#begin();
      if (!batch) return;
      await this.#launchAll(batch);
      await Promise.all(this.#unfinished);
      await this.#checkpoints.now();
    } finally {
      stop();
      for (const podRun of this.#podRuns.keys()) podRun.abandon();
      await Promise.all(this.#unfinished);
    }
  }

  /** Undefined if the batch ended before its pods in flight were known. */
  async #begin(): Promise<HeldBatch | undefined> {
    const { clock } = this.#context.deps;
    const isNew = this.#run.state === 'approved' && !this.#held.recovered;
    const found = isNew ? NO_PODS : await this.#podsInFlight();
    // People may have paused, resized or cancelled it meanwhile.
    const { run } = this.#held;
    if (isFinal(run.state) || !isBatchRun(run)) return undefined;
    const batch = withLaunched(run.batch, found, clock.now());
    this.#run = { ...run, batch };
    const heldBatch = new HeldBatch(this.#held, batch, clock.now());
    this.#batch = heldBatch;
    for (const index of new Set([...heldBatch.open.inFlight, ...heldBatch.open.reading]))
      this.#runPod(heldBatch, index, launchedPodRun);
    await this.#checkpoints.now();
    return heldBatch;
  }

  /** The indexes of all pods that already hold a container of this batch. */
  async #podsInFlight(): Promise<ReadonlySet<number>> {
    const { batch, plan, id } = this.#run;
    const { clusters, clock } = this.#context.deps;
    const trouble = new Trouble(this.#context.deps, {
      begins: 'cannot list in-flight pods, retrying',
      ends: 'in-flight pods listed again',
    });
    while (!isFinal(this.#held.run.state)) {
      try {
        const pods = await clusters.get(plan.cluster).pods(plan.namespace, []);
        trouble.worked();
        const launched = new Set(pods.flatMap(({ spec }) => spec.ephemeralContainers.map(({ runId }) => runId)));
        const hasContainer = ({ uid, variant = -1 }: BatchPod): boolean =>
          (batch.variants[variant] ?? []).some((_, container) => launched.has(runIdOf(id, uid, container)));
        return new Set(batch.pods.filter(hasContainer).map(({ index }) => index));
      } catch (thrown) {
        if (this.#held.isOver) throw new KdebugError('lease_lost');
        trouble.failed({ runId: id, reason: toKdebugError(thrown).code });
        await sleep(clock, RETRY_MS);
      }
    }
    return NO_PODS;
  }

  async #launchAll(batch: HeldBatch): Promise<void> {
    const { open } = batch;
    const rounds = new Rounds(this.#context.deps.clock);
    let moves = this.#moves;
    while (open.head.endedAtMs === undefined) {
      await rounds.next();
      await this.#turn(batch);
      // A limited number of pod events counts as progress.
      if (this.#moves !== moves) rounds.progress();
      moves = this.#moves;
    }
  }

  async #turn(batch: HeldBatch): Promise<void> {
    const { open } = batch;
    const { clock } = this.#context.deps;
    if (this.#held.isOver) throw new KdebugError('lease_lost');
    // By the wall clock: the run records when the batch began, perhaps at another replica.
    const endsAtMs = this.#isPastTtl ? undefined : ttlEndsAtMs(open.head);
    if (endsAtMs !== undefined && clock.now() >= endsAtMs) return this.#endByTtl(batch);
    const next = open.reading.size < MAX_READING ? nextLaunches(open) : [];
    if (next.length > 0 && !this.#held.isHeld(HELD_FOR_LAUNCH_MS)) return this.#checkpoints.now();
    for (const index of next) this.#launch(batch, index);
    this.#checkpoints.soon();
    if (open.head.endedAtMs === undefined)
      await this.#changes.next(
        Math.min(elapsedAt(clock, endsAtMs ?? Number.POSITIVE_INFINITY), this.#checkpoints.dueAtMs),
      );
  }

  #launch(batch: HeldBatch, index: number): void {
    if (!batch.move({ kind: 'launched', index }, this.#context.deps.clock.now())) return;
    this.#runPod(batch, index, podRunOf);
  }

  /** The time to live is over: keeps reading ended pods; for the others, stops waiting and keeps the log so far. */
  #endByTtl(batch: HeldBatch): void {
    this.#isPastTtl = true;
    batch.move({ kind: 'ttl-expired' }, this.#context.deps.clock.now());
    for (const [podRun, slot] of this.#podRuns) {
      if (podRun.run.state === 'collecting') continue;
      this.#addLog(batch, podRun, slot);
      podRun.abandon();
    }
  }

  #addLog(batch: HeldBatch, { run: { id } }: HeldRun, slot: PodSlot): void {
    const { readers, batchLogs } = this.#context;
    const reader = readers.of(id);
    if (!reader) return;
    reader.stop();
    const spool = reader.result.then((read) => read.spool);
    void batchLogs.of(batch.run).add(slot, spool, (log) => headOf(batch, slot, log));
  }

  /** Runs all unfinished containers of the pod at once. */
  #runPod(batch: HeldBatch, index: number, make: PodRunMaker): void {
    const pod = this.#run.batch.pods[index];
    const containers = this.#run.batch.variants[pod?.variant ?? -1] ?? [];
    for (const container of containers.keys()) {
      const known = pod?.results?.[container];
      if (known && !known.reading) continue;
      const work = this.#runOne(batch, { index, container }, make).finally(() => this.#unfinished.delete(work));
      this.#unfinished.add(work);
    }
  }

  #refOf({ id, plan }: PodRun, { index }: PodSlot): string {
    const { full, short } = this.#references;
    return this.#context.deps.seal(index < FULL_REFERENCE_PODS ? full : short, aboutContainer(id, plan.podUid));
  }

  /** Never rejects: a failure ends only this container. */
  async #runOne(batch: HeldBatch, slot: PodSlot, make: PodRunMaker): Promise<void> {
    const { deps } = this.#context;
    let podRun: HeldRun | undefined;
    try {
      const fresh = await make(this.#run, slot, deps);
      podRun = heldPodRun({ ...fresh, ref: this.#refOf(fresh, slot) }, deps);
      this.#podRuns.set(podRun, slot);
      const context = { ...this.#context, check: this.#recheck(slot) };
      await runPod({ batch, slot, podRun, context });
    } catch (thrown) {
      const { code } = toKdebugError(thrown);
      if (code === 'lease_lost') return;
      deps.log.error('pod run dropped after error', { runId: podRun?.run.id, reason: code, error: thrown });
      const result = { outcome: 'internal', reason: code } as const;
      batch.move({ kind: 'ended', ...slot, result }, deps.clock.now());
    } finally {
      if (podRun) this.#podRuns.delete(podRun);
    }
  }
}

type PodRunMaker = (batch: BatchRun, slot: PodSlot, deps: FlowDeps) => PodRun | Promise<PodRun>;
