import type { Args } from '../api/args.ts';
import type { Json } from '../state/message.ts';
import type { Outcome } from './http.ts';

/** One request that reached this Slack. Tokens are left out. */
export interface LoggedCall {
  /** A method's name, or `upload`, `response_url`. */
  readonly method: string;
  readonly args: Json;
  readonly atMs: number;
  /** HTTP status; 0 when the connection was cut or left hanging. */
  readonly status: number;
  readonly ok: boolean;
  readonly error?: string;
}

/** `answer`: the body; of a request that got none, the word for what became of it (`hang`, `reset_after_commit` …). */
export type CallWatcher = (call: LoggedCall, answer: Json | string) => void;

const KEPT = 20_000;

/** The newest 20,000 requests; counts per method cover all. */
export class RequestLog {
  readonly calls: LoggedCall[] = [];
  readonly counts = new Map<string, number>();
  private readonly watchers = new Set<CallWatcher>();

  add(method: string, args: Args, atMs: number, outcome: Outcome): LoggedCall {
    const { token: _token, ...rest } = args;
    const body = typeof outcome.body === 'string' ? {} : outcome.body;
    const ok = outcome.status === 200 && body.ok !== false;
    const error = typeof body.error === 'string' ? { error: body.error } : {};
    const call = { method, args: rest, atMs, status: outcome.status, ok, ...error };
    this.calls.push(call);
    if (this.calls.length > KEPT) this.calls.splice(0, KEPT / 2);
    this.counts.set(method, (this.counts.get(method) ?? 0) + 1);
    for (const watcher of this.watchers) watcher(call, outcome.body);
    return call;
  }

  /** Tells of every further request, with its answer's body (kept nowhere here). The returned function ends it. */
  watch(watcher: CallWatcher): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  of(method: string): readonly LoggedCall[] {
    return this.calls.filter((call) => call.method === method);
  }
}
