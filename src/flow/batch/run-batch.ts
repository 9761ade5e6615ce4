import type { BatchPod } from '../../core/batch/batch.ts';
import { FULL_REFERENCE_PODS, writeFullReference, writeShortReference } from '../../core/batch/batch-reference.ts';
import { sizeOf } from '../../core/batch/decide-batch.ts';
import { runIdOf } from '../../core/batch/new-batch.ts';
import { nextLaunches, ttlEndsAtMs, withLaunched } from '../../core/batch/open-batch.ts';
import { KdebugError, toKdebugError } from '../../core/errors.ts';
import { type BatchRun, isBatchRun, isFinal } from '../../core/run/life-cycle.ts';
import { aboutContainer } from '../../core/run/reference.ts';
import { sleep } from '../../lib/clock.ts';
import { LatestValue } from '../../lib/latest-value.ts';
import { Rounds } from '../../lib/rounds.ts';
import type { FlowDeps } from '../deps.ts';
import { HELD_FOR_LAUNCH_MS, type HeldRun } from '../held-run.ts';
import type { AdvanceContext } from '../pipeline.ts';
import { Checkpoints } from './checkpoints.ts';
import { HeldBatch } from './held-batch.ts';
import { recheckOf } from './preflight.ts';
import { headOf, heldPodRun, launchedPodRun, type PodRun, type PodSlot, podRunOf, runPod } from './run-pod.ts';

/** Pods that have ended while their logs are still being read: more than that, and nothing new is launched. */
const MAX_READING = 50;
const NOTHING: ReadonlySet<number> = new Set();
/** How long to wait before a cluster that does not answer is asked again what is in flight. */
const AGAIN_MS = 2_000;

/**
 * Works on a batch that may run until it has ended: launches as long as there is room, takes every container through the stages
 * of any run, and keeps how far it is. May be entered again at any time, by any replica: what was launched since it was last
 * kept is found in the cluster. @throws KdebugError lease_lost, store_unreachable
 */
export async function runBatch(session: HeldRun, context: AdvanceContext): Promise<void> {
  if (!isBatchRun(session.run)) throw new KdebugError('internal_error', { detail: 'a batch without a snapshot' });
  await new BatchEngine(session, session.run, context).work();
}

class BatchEngine {
  readonly #session: HeldRun;
  readonly #context: AdvanceContext;
  readonly #recheck: ReturnType<typeof recheckOf>;
  readonly #news: LatestValue<true>;
  readonly #checkpoints: Checkpoints;
  readonly #parts = new Map<HeldRun, PodSlot>();
  readonly #works = new Set<Promise<void>>();
  /** Written once: what the pods' containers carry, each sealed for itself. */
  readonly #references: { readonly keeper: string; readonly other: string };
  #isTimeOver = false;
  /** Moves of its pods so far. */
  #moves = 0;
  #batch: HeldBatch | undefined;
  /** As it was when the work began; for what never changes. */
  #run: BatchRun;

  constructor(session: HeldRun, run: BatchRun, context: AdvanceContext) {
    const { deps } = context;
    this.#session = session;
    this.#news = new LatestValue(deps.clock);
    this.#checkpoints = new Checkpoints(session, deps);
    this.#context = context;
    this.#recheck = recheckOf(run, deps, () => sizeOf(this.#batch?.open.head ?? run.batch));
    this.#run = run;
    this.#references = { keeper: writeFullReference(run), other: writeShortReference(run.id) };
  }

  async work(): Promise<void> {
    const stop = this.#session.onChange((kept) => {
      if (!kept) this.#moves += 1;
      this.#checkpoints.touch();
      this.#news.put(true);
    });
    try {
      const batch = await this.#begin();
      if (!batch) return;
      await this.#goOn(batch);
      await Promise.all(this.#works);
      await this.#checkpoints.now();
    } finally {
      stop();
      for (const part of this.#parts.keys()) part.abandon();
      await Promise.all(this.#works);
    }
  }

  /** Undefined: it was ended before it was known what is in flight. */
  async #begin(): Promise<HeldBatch | undefined> {
    const { clock } = this.#context.deps;
    const isNew = this.#run.state === 'approved' && !this.#session.recovered;
    const found = isNew ? NOTHING : await this.#found();
    // People may have paused, resized or cancelled it meanwhile.
    const { run } = this.#session;
    if (isFinal(run.state) || !isBatchRun(run)) return undefined;
    const batch = withLaunched(run.batch, found, clock.now());
    this.#run = { ...run, batch };
    const held = new HeldBatch(this.#session, batch, clock.now());
    this.#batch = held;
    for (const index of new Set([...held.open.inFlight, ...held.open.reading]))
      this.#workOn(held, index, launchedPodRun);
    await this.#checkpoints.now();
    return held;
  }

  /** Pods that are queued as far as was kept, and hold a container of this batch. */
  async #found(): Promise<ReadonlySet<number>> {
    const { batch, plan, id } = this.#run;
    const { clusters, clock, log } = this.#context.deps;
    while (!isFinal(this.#session.run.state)) {
      try {
        const pods = await clusters.get(plan.cluster).pods(plan.namespace, '');
        const held = new Set(pods.flatMap(({ spec }) => spec.ephemeralContainers.map(({ runId }) => runId)));
        const isHeld = ({ uid, variant = -1 }: BatchPod): boolean =>
          (batch.variants[variant] ?? []).some((_, container) => held.has(runIdOf(id, uid, container)));
        return new Set(batch.pods.filter(isHeld).map(({ index }) => index));
      } catch (thrown) {
        if (this.#session.isOver) throw new KdebugError('lease_lost');
        log.warn('what is in flight is not known yet', { runId: id, reason: toKdebugError(thrown).code });
        await sleep(clock, AGAIN_MS);
      }
    }
    return NOTHING;
  }

  async #goOn(batch: HeldBatch): Promise<void> {
    const { open } = batch;
    const rounds = new Rounds(this.#context.deps.clock);
    let moves = this.#moves;
    while (open.head.endedAtMs === undefined) {
      await rounds.next();
      await this.#turn(batch);
      // Pods move only so often.
      if (this.#moves !== moves) rounds.progress();
      moves = this.#moves;
    }
  }

  async #turn(batch: HeldBatch): Promise<void> {
    const { open } = batch;
    if (this.#session.isOver) throw new KdebugError('lease_lost');
    const endsAtMs = this.#isTimeOver ? undefined : ttlEndsAtMs(open.head);
    if (endsAtMs !== undefined && this.#context.deps.clock.now() >= endsAtMs) return this.#endOfTime(batch);
    const next = open.reading.size < MAX_READING ? nextLaunches(open) : [];
    if (next.length > 0 && !this.#session.isHeld(HELD_FOR_LAUNCH_MS)) return this.#checkpoints.now();
    for (const index of next) this.#launch(batch, index);
    this.#checkpoints.soon();
    if (open.head.endedAtMs === undefined)
      await this.#news.next(Math.min(endsAtMs ?? Number.POSITIVE_INFINITY, this.#checkpoints.dueAtMs));
  }

  #launch(batch: HeldBatch, index: number): void {
    if (!batch.move({ kind: 'launched', index }, this.#context.deps.clock.now())) return;
    this.#workOn(batch, index, podRunOf);
  }

  /** What has ended is still read; the others are no longer waited for, and what they have written so far is their log. */
  #endOfTime(batch: HeldBatch): void {
    this.#isTimeOver = true;
    batch.move({ kind: 'ttl-expired' }, this.#context.deps.clock.now());
    for (const [part, place] of this.#parts) {
      if (part.run.state === 'collecting') continue;
      this.#keepLog(batch, part, place);
      part.abandon();
    }
  }

  #keepLog(batch: HeldBatch, { run: { id } }: HeldRun, place: PodSlot): void {
    const { readers, batchLogs } = this.#context;
    const reader = readers.of(id);
    if (!reader) return;
    reader.stop();
    const spool = reader.result.then((read) => read.spool);
    void batchLogs.of(batch.run).add(place, spool, (log) => headOf(batch, place, log));
  }

  /** Every container of the pod that has not ended, at once. */
  #workOn(batch: HeldBatch, index: number, make: MakePart): void {
    const pod = this.#run.batch.pods[index];
    const containers = this.#run.batch.variants[pod?.variant ?? -1] ?? [];
    for (const container of containers.keys()) {
      const known = pod?.results?.[container];
      if (known && !known.reading) continue;
      const work = this.#workOnPart(batch, { index, container }, make).finally(() => this.#works.delete(work));
      this.#works.add(work);
    }
  }

  #refOf({ id, plan }: PodRun, { index }: PodSlot): string {
    const { keeper, other } = this.#references;
    return this.#context.deps.seal(index < FULL_REFERENCE_PODS ? keeper : other, aboutContainer(id, plan.podUid));
  }

  /** Never rejects: what goes wrong with one container is its own end. */
  async #workOnPart(batch: HeldBatch, place: PodSlot, make: MakePart): Promise<void> {
    const { deps } = this.#context;
    let part: HeldRun | undefined;
    try {
      const made = await make(this.#run, place, deps);
      part = heldPodRun({ ...made, ref: this.#refOf(made, place) }, deps);
      this.#parts.set(part, place);
      const context = { ...this.#context, check: this.#recheck(place) };
      await runPod({ batch, place, part, context });
    } catch (thrown) {
      const { code } = toKdebugError(thrown);
      if (code === 'lease_lost') return;
      deps.log.error('a part of a batch was let go', { runId: part?.run.id, reason: code, error: thrown });
      const result = { outcome: 'internal', reason: code } as const;
      batch.move({ kind: 'ended', ...place, result }, deps.clock.now());
    } finally {
      if (part) this.#parts.delete(part);
    }
  }
}

type MakePart = (batch: BatchRun, place: PodSlot, deps: FlowDeps) => PodRun | Promise<PodRun>;
