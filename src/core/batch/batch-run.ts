import type { Plan } from '../container/plan.ts';
import type { Run } from '../run/run.ts';
import type { Batch } from './batch.ts';

/** A run of several pods that has been planned. Its `plan` is that of one of its pods: the one of the highest class. */
export type BatchRun = Run & { readonly batch: Batch; readonly plan: Plan };

export const isBatchRun = (run: Run): run is BatchRun => run.batch !== undefined && run.plan !== undefined;
