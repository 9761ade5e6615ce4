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
  /** The local cluster does not know such a request: a gap of ours or a mistake of the caller. */
  unknown: boolean;
}

export type RequestFilter = Partial<
  Pick<RequestRecord, 'verb' | 'resource' | 'subresource' | 'namespace' | 'name' | 'user' | 'status'>
>;

/** The newest requests, bounded; the counts go on for ever. */
export class RequestLog {
  readonly #limit: number;
  #records: RequestRecord[] = [];
  #total = 0;

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
}
