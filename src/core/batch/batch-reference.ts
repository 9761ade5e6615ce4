import { defined } from '../../lib/defined.ts';
import type { Pod } from '../container/pod.ts';
import type { RunId } from '../ids.ts';
import type { BatchRun } from '../run/life-cycle.ts';
import { readSealed, withoutSecret, withoutWords } from '../run/reference.ts';
import type { Run } from '../run/run.ts';
import type { Variant } from './batch.ts';

/** So many pods of a batch carry what is needed to finish it when its record is lost; the others only say whose part they are. */
export const KEEPERS = 10;

/** Who asked for what, as `Run` has it; no bearer secret and no words of voters. */
export type BatchReference = Pick<
  Run,
  'origin' | 'request' | 'commandLine' | 'job' | 'planHash' | 'decision' | 'approval'
> & {
  readonly variant: Variant;
  readonly parallelism: number;
  readonly createdAtMs: number;
};

/** What was sealed into a container of a batch (`KDEBUG_REF`). */
export interface PartReference {
  readonly v: 1;
  readonly partOf: RunId;
  readonly kept?: BatchReference;
}

/** The text to seal for a container of a batch: whose part it is. */
export const writePartReference = (batchId: RunId): string =>
  JSON.stringify({ v: 1, partOf: batchId } satisfies PartReference);

/** The same for the containers of the first `KEEPERS` pods; about 2 KB. */
export const writeKeeperReference = (run: BatchRun): string =>
  JSON.stringify({ v: 1, partOf: run.id, kept: keptOf(run) } satisfies PartReference);

function keptOf({ origin, request, commandLine, job, planHash, decision, approval, batch }: BatchRun): BatchReference {
  return {
    origin: withoutSecret(origin),
    request,
    commandLine,
    variant: batch.variants[0] ?? [],
    parallelism: batch.parallelism,
    createdAtMs: batch.createdAtMs,
    ...defined({ job, planHash, decision, approval: approval && withoutWords(approval) }),
  };
}

/** Undefined: of a single run, or of a version that we do not know. */
export const readPartReference = (text: string): PartReference | undefined => readSealed(text, isPartReference);

const isPartReference = (value: unknown): value is PartReference =>
  typeof value === 'object' && value !== null && 'v' in value && value.v === 1 && 'partOf' in value;

/**
 * A batch whose record is lost, rebuilt from the pods that hold a container of it. It is closed: what is there is followed to its
 * end; the pods that had not had their turn are not known any more. When each was launched is an estimate.
 */
export function rebuildBatch(
  id: RunId,
  kept: BatchReference,
  pods: readonly Pod[],
  nowMs: number,
): BatchRun | undefined {
  const [template] = kept.variant;
  const [first] = pods;
  if (!template || !first) return undefined;
  const { variant, parallelism, createdAtMs, ...asked } = kept;
  const { name: podName, uid: podUid } = first.metadata;
  return {
    ...asked,
    schema: 1,
    id,
    state: 'running',
    plan: { ...template, podName, podUid, nodeName: first.spec.nodeName ?? '' },
    rebuilt: true,
    batch: {
      variants: [variant],
      approvedPods: pods.length,
      approvedParallelism: parallelism,
      parallelism,
      eligible: pods.length,
      queueEnd: pods.length,
      createdAtMs,
      idleMs: 0,
      closed: { because: 'record-lost', atMs: nowMs },
      pods: pods.map(({ metadata, spec }, index) => ({
        index,
        name: metadata.name,
        uid: metadata.uid,
        node: spec.nodeName ?? '',
        state: 'starting',
        variant: 0,
        launchedAtMs: nowMs,
      })),
    },
    delivery: {},
  };
}
