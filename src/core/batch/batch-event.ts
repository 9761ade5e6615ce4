import type { PodResult } from './batch.ts';

/**
 * Everything that can happen to a batch once it may run; what comes before is the run's own. `index` is a pod's place in the
 * snapshot; `container` one of its variant, 0 when absent.
 */
export type BatchEvent =
  /** Its PATCH is sent next: from here the pod counts as in flight. */
  | { readonly kind: 'launched'; readonly index: number }
  /** A container was seen running. */
  | { readonly kind: 'started'; readonly index: number }
  /**
   * A container has ended, or will never start (`start-failed`, `refused` …), or was given up; the outcome says which. The same
   * again tells more of it (what its log came to).
   */
  | {
      readonly kind: 'ended';
      readonly index: number;
      readonly container?: number;
      readonly result: PodResult;
    }
  | { readonly kind: 'paused'; readonly byUserId: string }
  | { readonly kind: 'resumed' }
  /** Nothing more is launched. What runs cannot be killed: it is followed to its end. */
  | { readonly kind: 'cancelled'; readonly byUserId: string }
  /** Allowed only as far as `decideResize` says; only these two numbers may change while it runs (proposal). */
  | { readonly kind: 'resized'; readonly parallelism?: number; readonly replicas?: number }
  /** Somebody looked at the canary's result and clicked on Continue. */
  | { readonly kind: 'continued' }
  /** The time to live is over: what is queued is cancelled, what is in flight is no longer waited for. */
  | { readonly kind: 'ttl-expired' };
