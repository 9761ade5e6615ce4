/** The possible ends of a run (design, section 6). Slack text, logs, metrics and docs use these words. */
export type Outcome =
  | { readonly kind: 'succeeded' }
  /** A diagnosis that added no container: the API, the last words and the log were all there was to read. */
  | {
      readonly kind: 'answered';
      /**
       * The reason (a code of `problemOfPod`) why the pod could hold no container. Absent: it could, and its target did
       * not run.
       */
      readonly because?: string;
    }
  | { readonly kind: 'failed'; readonly exitCode: number; readonly reason: string; readonly signal?: number }
  | { readonly kind: 'oom-killed'; readonly exitCode: number }
  | { readonly kind: 'start-failed'; readonly reason: string; readonly message: string }
  | { readonly kind: 'no-status' }
  | { readonly kind: 'timed-out' }
  /** Somebody asked kdebug to end its processes, and they ended. */
  | { readonly kind: 'stopped'; readonly by: string }
  | { readonly kind: 'target-ended'; readonly exitCode: number }
  | { readonly kind: 'pod-gone' }
  | { readonly kind: 'pod-replaced' }
  | { readonly kind: 'node-lost' }
  | { readonly kind: 'refused'; readonly by: RefusedBy; readonly message: string }
  | { readonly kind: 'denied'; readonly code: string; readonly rule?: string }
  | { readonly kind: 'rejected'; readonly by: string }
  | { readonly kind: 'expired' }
  | { readonly kind: 'cancelled'; readonly by: string }
  | { readonly kind: 'internal'; readonly code: string };

/** The reason of a second run that did not start because the tracer that was to start it is not in the pod. */
export const TRACER_MISSING = 'TracerMissing';

export type OutcomeKind = Outcome['kind'];

/** The group of each outcome, for people who search for runs. */
export const OUTCOME_GROUP = {
  succeeded: 'succeeded',
  answered: 'succeeded',
  failed: 'failed',
  'oom-killed': 'failed',
  'start-failed': 'failed',
  'no-status': 'failed',
  'timed-out': 'failed',
  stopped: 'stopped',
  'target-ended': 'failed',
  'pod-gone': 'failed',
  'pod-replaced': 'failed',
  'node-lost': 'failed',
  refused: 'refused',
  denied: 'refused',
  rejected: 'refused',
  expired: 'refused',
  cancelled: 'cancelled',
  internal: 'failed',
} as const satisfies Readonly<Record<OutcomeKind, string>>;

/**
 * By which people look for runs: `running` and `waiting` (for an approval) now; `problems`: a run that failed, or found
 * something wrong; the groups; and every outcome by its own name.
 */
export type OutcomeWord = OutcomeKind | (typeof OUTCOME_GROUP)[OutcomeKind] | 'running' | 'waiting' | 'problems';

export const OUTCOME_WORDS: readonly OutcomeWord[] = [
  ...new Set<OutcomeWord>([
    ...(['problems', 'running', 'waiting', 'succeeded', 'failed', 'refused'] as const),
    ...(Object.keys(OUTCOME_GROUP) as OutcomeKind[]),
  ]),
];

/** The part of the cluster that refused; `name-taken`: another container than the one sent has our name. */
export type RefusedBy = 'rbac' | 'pod-security' | 'webhook' | 'validation' | 'name-taken';
