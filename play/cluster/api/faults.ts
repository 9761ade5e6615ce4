import type { Route } from './route.ts';

/** What goes wrong. The first block concerns any request, the second only watches, the last only logs. */
export type FaultKind =
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterSeconds?: number; readonly message?: string }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'hang' }
  | { readonly kind: 'reset-before' }
  | { readonly kind: 'reset-after-commit' }
  /** RBAC of an API server that has just started: no binding is known yet, or (`missingRole`) not the role that it names. */
  | { readonly kind: 'rbac-starts'; readonly missingRole?: string }
  | { readonly kind: 'close-watch'; readonly how: 'clean' | 'reset' | 'silence'; readonly afterEvents: number }
  | { readonly kind: 'gone-410' }
  | { readonly kind: 'garbage-watch-line' }
  /** Says this first, before any event. */
  | { readonly kind: 'watch-line'; readonly line: string }
  | { readonly kind: 'cut-log'; readonly afterBytes: number };

export interface FaultMatch {
  readonly verb?: string;
  /** `pods`, or `pods/log` with a subresource. */
  readonly resource?: string;
  /** A part of the path. */
  readonly path?: string;
}

export type Fault = FaultKind & { readonly match?: FaultMatch; readonly times?: number };

interface Queued {
  readonly fault: Fault;
  left: number;
}

/** Faults wait here in order; a request takes the first that matches it. */
export class Faults {
  #queued: Queued[] = [];

  /** `times` defaults to once. */
  queue(fault: Fault): void {
    this.#queued.push({ fault, left: fault.times ?? 1 });
  }

  /** Takes one back that still waits. */
  remove(fault: Fault): void {
    this.#queued = this.#queued.filter((each) => each.fault !== fault);
  }

  clear(): void {
    this.#queued = [];
  }

  /** How many are still waiting. */
  get waiting(): number {
    return this.#queued.reduce((sum, each) => sum + each.left, 0);
  }

  take(route: Route): FaultKind | undefined {
    const found = this.#queued.find((each) => isFor(each.fault.match ?? {}, each.fault.kind, route));
    if (!found) return undefined;
    found.left -= 1;
    if (found.left <= 0) this.#queued = this.#queued.filter((each) => each !== found);
    return found.fault;
  }
}

const WATCH_FAULTS = new Set<FaultKind['kind']>(['close-watch', 'gone-410', 'garbage-watch-line', 'watch-line']);

function isFor(match: FaultMatch, kind: FaultKind['kind'], route: Route): boolean {
  if (WATCH_FAULTS.has(kind) && route.verb !== 'watch') return false;
  if (kind === 'cut-log' && route.subresource !== 'log') return false;
  const resource = route.subresource === '' ? route.resource : `${route.resource}/${route.subresource}`;
  return (
    (match.verb === undefined || match.verb === route.verb) &&
    (match.resource === undefined || match.resource === resource) &&
    (match.path === undefined || route.path.includes(match.path))
  );
}
