import { type Clock, withDeadline } from './clock.ts';

export interface CacheOptions<Value> {
  readonly clock: Clock;
  /** A value stays fresh this long, counted from the start of its load. */
  readonly freshMs: (value: Value) => number;
  readonly maxEntries: number;
  /** The limit for awaiting one load, and the error after it. Absent: no limit. */
  readonly deadline?: { readonly ms: number; readonly onLate: () => never };
  /**
   * A load counts as under way this long, so that the next caller waits for it instead of loading again. Default: the
   * deadline.
   */
  readonly loadMs?: number;
}

interface Entry<Value> {
  readonly value: Promise<Value>;
  readonly startedAtMs: number;
  /** Undefined during the load. */
  freshMs: number | undefined;
}

/**
 * Values loaded on demand and cached for a while. Concurrent callers of one key share one load; errors reach all of
 * them and are not cached. Bounded: the least recently used entry goes first.
 */
export class Cached<Value> {
  readonly #options: CacheOptions<Value>;
  readonly #loadMs: number;
  readonly #entries = new Map<string, Entry<Value>>();

  constructor(options: CacheOptions<Value>) {
    this.#options = options;
    this.#loadMs = options.loadMs ?? options.deadline?.ms ?? Number.POSITIVE_INFINITY;
  }

  /**
   * With `sinceMs`, a load that started before that moment (of `clock.elapsed`) does not count.
   * @throws what `load` and `deadline.onLate` throw
   */
  get(key: string, load: () => Promise<Value>, sinceMs = 0): Promise<Value> {
    const { clock, maxEntries, deadline } = this.#options;
    const found = this.#entries.get(key);
    const isUsable = found !== undefined && found.startedAtMs >= sinceMs && this.#isFresh(found);
    const entry = isUsable ? found : this.#load(key, load);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    const [leastUsed] = this.#entries.keys();
    if (this.#entries.size > maxEntries && leastUsed !== undefined) this.#entries.delete(leastUsed);
    return deadline ? withDeadline(clock, deadline.ms, entry.value, deadline.onLate) : entry.value;
  }

  /** The next caller loads again. */
  forget(key: string): void {
    this.#entries.delete(key);
  }

  #load(key: string, load: () => Promise<Value>): Entry<Value> {
    const entry: Entry<Value> = { value: load(), startedAtMs: this.#options.clock.elapsed(), freshMs: undefined };
    entry.value.then(
      (value) => {
        entry.freshMs = this.#options.freshMs(value);
      },
      () => {
        if (this.#entries.get(key) === entry) this.#entries.delete(key);
      },
    );
    return entry;
  }

  #isFresh({ startedAtMs, freshMs }: Entry<Value>): boolean {
    const ageMs = this.#options.clock.elapsed() - startedAtMs;
    return ageMs < (freshMs ?? this.#loadMs);
  }
}
