import { defined } from '../../lib/object.ts';
import type { Variant } from '../batch/batch.ts';
import type { Pod } from '../container/pod.ts';
import type { RunId } from '../ids.ts';
import type { BatchRun } from './life-cycle.ts';
import { readSealed, withoutSecret, withoutWords } from './reference.ts';
import type { Run } from './run.ts';

/**
 * This many pods of a batch carry what is needed to finish it if its record is lost; the others name only their batch.
 */
export const FULL_REFERENCE_PODS = 10;

/** The request, as in `Run`, without bearer secrets and voters' reasons. */
export type BatchReference = Pick<
  Run,
  'origin' | 'request' | 'commandLine' | 'job' | 'planHash' | 'decision' | 'approval'
> & {
  readonly variant: Variant;
  readonly parallelism: number;
  readonly createdAtMs: number;
};

/** The reference that is sealed into a container of a batch (`KDEBUG_REF`). The field names are stored in clusters. */
export interface PartReference {
  readonly v: 1;
  readonly partOf: RunId;
  readonly kept?: BatchReference;
}

/** The text to seal into a container of a batch: only the id of its batch. */
export const writeShortReference = (batchId: RunId): string =>
  JSON.stringify({ v: 1, partOf: batchId } satisfies PartReference);

/** The text for the containers of the first `FULL_REFERENCE_PODS` pods; about 2 KB. */
export const writeFullReference = (run: BatchRun): string =>
  JSON.stringify({ v: 1, partOf: run.id, kept: batchReferenceOf(run) } satisfies PartReference);

function batchReferenceOf({
  origin,
  request,
  commandLine,
  job,
  planHash,
  decision,
  approval,
  batch,
}: BatchRun): BatchReference {
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

/** Undefined for a single run, or for an unknown version. */
export const readPartReference = (text: string): PartReference | undefined => readSealed(text, isPartReference);

const isPartReference = (value: unknown): value is PartReference =>
  typeof value === 'object' && value !== null && 'v' in value && value.v === 1 && 'partOf' in value;

/**
 * Rebuilds a batch whose record is lost from the pods that hold a container of it. The batch is closed: it follows
 * these containers to their end; pods that were still queued are no longer known. The launch times are estimates.
 */
export function rebuildBatch(
  id: RunId,
  reference: BatchReference,
  pods: readonly Pod[],
  nowMs: number,
): BatchRun | undefined {
  const [template] = reference.variant;
  const [first] = pods;
  if (!template || !first) return undefined;
  const { variant, parallelism, createdAtMs, ...request } = reference;
  const { name: podName, uid: podUid } = first.metadata;
  return {
    ...request,
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
