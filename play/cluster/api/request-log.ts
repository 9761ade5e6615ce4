/** One request that was answered, or is being answered (`status` 0). */
export interface RequestRecord {
  readonly verb: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly method: string;
  /** With the query. */
  readonly url: string;
  readonly userAgent: string;
  /** As whom; the sender's own name when they may not act as that. */
  user: string;
  groups: readonly string[];
  /** `Impersonate-Extra-*` as it arrived, keys in lower case. */
  extra: Readonly<Record<string, readonly string[]>>;
  /** Who sent it, when it was sent in somebody else's name. */
  impersonatedBy: string;
  status: number;
  /** The local cluster does not know such a request: a gap here or a mistake of the caller. */
  unknown: boolean;
}

/** A request with both bodies, as far as they have come: at most `BODY_KEPT` bytes each; streams (watches, logs) have none. */
export interface Exchange {
  readonly record: RequestRecord;
  request: string;
  response: string;
  /** The answer has ended, or the connection has. */
  isOver: boolean;
}

export type ExchangeWatcher = (exchange: Exchange) => void;

/** The most that is stored of a body, in bytes. */
export const BODY_KEPT = 64 * 1024;

export type RequestFilter = Partial<
  Pick<RequestRecord, 'verb' | 'resource' | 'subresource' | 'namespace' | 'name' | 'user' | 'status'>
>;

/** The newest requests, bounded; the counts go on for ever. */
export class RequestLog {
  readonly #limit: number;
  #records: RequestRecord[] = [];
  #total = 0;
  readonly #watchers = new Set<ExchangeWatcher>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(record: RequestRecord): void {
    this.#total += 1;
    this.#records.push(record);
    if (this.#records.length > this.#limit * 2) this.#records = this.#records.slice(-this.#limit);
  }

  /** All requests since the start, also those that are no longer kept. */
  get total(): number {
    return this.#total;
  }

  find(filter: RequestFilter = {}): readonly RequestRecord[] {
    const wanted = Object.entries(filter);
    return this.#records.filter((record) => wanted.every(([key, value]) => Reflect.get(record, key) === value));
  }

  unknown(): readonly RequestRecord[] {
    return this.#records.filter((record) => record.unknown);
  }

  clear(): void {
    this.#records = [];
  }

  /**
   * Tells of every further request, twice or more: when it arrives, when a stream begins, when it has ended. Bodies are
   * kept only while somebody watches, and only as long as the watcher keeps them. The returned function ends it.
   */
  watch(watcher: ExchangeWatcher): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** @internal One for each request; nothing while nobody watches. */
  exchange(record: RequestRecord): Exchange | undefined {
    return this.#watchers.size === 0 ? undefined : { record, request: '', response: '', isOver: false };
  }

  /** @internal */
  tell(exchange: Exchange | undefined): void {
    if (exchange) for (const watcher of this.#watchers) watcher(exchange);
  }
}
