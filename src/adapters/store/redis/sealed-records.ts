import { KdebugError } from '../../../core/errors.ts';
import { hmacSha256 } from '../../../core/hash.ts';
import type { Grant } from '../../../core/policy/grant.ts';
import { countedAs, dueAtMs, isSettled } from '../../../core/run/life-cycle.ts';
import type { Run } from '../../../core/run/run.ts';
import { defined } from '../../../lib/object.ts';

/** Seals texts so that only holders of the key can read or make them, and only for what they are `about`. */
export interface Sealer {
  seal(plain: string, about: string): string;
  /** Undefined: changed, sealed with another key, or about something else. */
  open(sealed: string, about: string): string | undefined;
}

/** The newest schema of records that this version reads. */
export const SCHEMA: Run['schema'] = 1;

/** What scripts know of a run: no words of people, no names. */
export interface IndexFields {
  readonly class: 'open' | 'pending' | 'final' | 'settled';
  readonly grant: 0 | 1;
  readonly parkedUntilMs: number;
}

export const indexFields = (run: Run): IndexFields => ({
  class: isSettled(run) ? 'settled' : (countedAs(run) ?? 'final'),
  grant: run.grant === undefined ? 0 : 1,
  parkedUntilMs: isSettled(run) ? 0 : dueAtMs(run),
});

export interface RecordKeys {
  readonly sealer: Sealer;
  /** Names in Redis (channels, people, dedupe keys) are HMACs under it, so that they can be compared but not read. */
  readonly indexKey: Uint8Array;
  /** Of the store: a record that is moved to another store's keys does not open. */
  readonly prefix: string;
}

/** Turns runs into what stands in Redis, and back. */
export class Records {
  /** Tells which key sealed a record, and nothing of the key. */
  readonly keyId: string;
  readonly #keys: RecordKeys;
  readonly #grants = new KnownGrants();

  constructor(keys: RecordKeys) {
    this.#keys = keys;
    this.keyId = this.name('key', 'id').slice(0, 8);
  }

  /** A name that tells nothing to who has not the key: 128 bits. */
  name(purpose: string, value: string): string {
    return hmacSha256(this.#keys.indexKey, `${purpose}\n${value}`).slice(0, 32);
  }

  seal(run: Run): string {
    return this.sealText(JSON.stringify(run), `run ${run.id}`);
  }

  /** The run with every field that was written, also those that this version does not know. @throws KdebugError store_record_unreadable */
  open(id: string, sealed: string): Run {
    const text = this.openText(sealed, `run ${id}`);
    const run: Run | undefined = text === undefined ? undefined : JSON.parse(text);
    if (run?.id !== id) throw new KdebugError('store_record_unreadable', { detail: `run ${id}: changed from outside` });
    return this.#grants.join(run);
  }

  /** The store took it: what its grant says now can no longer be undone here. */
  saved(run: Run): void {
    this.#grants.join(run);
  }

  sealText(plain: string, about: string): string {
    return this.#keys.sealer.seal(plain, `${this.#keys.prefix} ${about}`);
  }

  openText(sealed: string, about: string): string | undefined {
    return this.#keys.sealer.open(sealed, `${this.#keys.prefix} ${about}`);
  }
}

/** Far more grants than are open at a time; the oldest are forgotten first. */
const MAX_ENTRIES = 10_000;

/**
 * Grants as this process has seen them last. Uses only become more and an end stays, so an older record, put back by somebody who can
 * write Redis or by a failover to a copy that misses the last writes, is brought up to what was seen. What another process saw, or
 * this one before it was started, is not known here.
 */
class KnownGrants {
  readonly #known = new Map<string, Grant>();

  /** The run with every use of its grant, and its end, that was seen here. */
  join(run: Run): Run {
    if (!run.grant) return run;
    const known = this.#known.get(run.id);
    const grant = known ? joined(run.grant, known) : run.grant;
    this.#remember(run.id, grant);
    return grant === run.grant ? run : { ...run, grant };
  }

  #remember(id: string, grant: Grant): void {
    this.#known.delete(id);
    this.#known.set(id, grant);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_ENTRIES && oldest !== undefined) this.#known.delete(oldest);
  }
}

function joined(grant: Grant, known: Grant): Grant {
  const missing = known.uses.filter(({ runId }) => !grant.uses.some((use) => use.runId === runId));
  const endedBy = grant.endedBy ?? known.endedBy;
  if (missing.length === 0 && endedBy === grant.endedBy) return grant;
  return { ...grant, uses: [...grant.uses, ...missing], ...defined({ endedBy }) };
}
