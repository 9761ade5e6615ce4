/**
 * What can go wrong on request. `hang` never answers and does nothing; `hang_after_commit` does it and never answers;
 * `reset_*` cuts the connection before or after the work is done; `slow` answers after `ms`; `truncated_json` does the
 * work and breaks the answer off. Any other word is answered as Slack's error string (`token_revoked`, `is_archived` …).
 */
const FAULT_KINDS = [
  'ratelimited',
  'http_409',
  'http_500',
  'http_503',
  'reset_before',
  'reset_after_commit',
  'hang',
  'hang_after_commit',
  'slow',
  'truncated_json',
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Fault {
  /** A method's name, `*` for any method, `upload` (the upload address), `response_url`, `socket` (the handshake). */
  readonly method: string;
  readonly kind: FaultKind | (string & {});
  /** How many calls it hits; `Infinity` until `clear()`. Default 1. */
  readonly times?: number;
  /** How many matching calls pass first. Default 0. */
  readonly skip?: number;
  /** For `ratelimited`. Default 1. */
  readonly retryAfterSeconds?: number;
  /** For `slow`. Default 1,000. */
  readonly ms?: number;
}

/** The queue of faults to come; the first that matches a call hits it. */
export class Faults {
  private waiting: { fault: Fault; skip: number; times: number }[] = [];
  /** How many calls were hit, for assertions that a fault really happened. */
  hits = 0;

  queue(fault: Fault): void {
    this.waiting.push({ fault, skip: fault.skip ?? 0, times: fault.times ?? 1 });
  }

  clear(): void {
    this.waiting = [];
  }

  /** @internal The fault that hits this call, if any. `*` means Web API methods only. */
  take(name: string, isMethod: boolean): Fault | undefined {
    for (const entry of this.waiting) {
      if (entry.fault.method !== name && !(entry.fault.method === '*' && isMethod)) continue;
      if (entry.skip > 0) {
        entry.skip -= 1;
        continue;
      }
      entry.times -= 1;
      if (entry.times <= 0) this.waiting = this.waiting.filter((one) => one !== entry);
      this.hits += 1;
      return entry.fault;
    }
    return undefined;
  }
}

export function isFaultKind(kind: string): kind is FaultKind {
  return FAULT_KINDS.some((known) => known === kind);
}
