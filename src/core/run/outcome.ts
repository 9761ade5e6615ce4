/** How a run ended (design, section 6). Slack text, logs, metrics and docs use these words. */
export type Outcome =
  | { readonly kind: 'succeeded' }
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

export type OutcomeKind = Outcome['kind'];

/** The part of the cluster that refused; `name-taken`: another container than the one sent has our name. */
export type RefusedBy = 'rbac' | 'pod-security' | 'webhook' | 'validation' | 'name-taken';
