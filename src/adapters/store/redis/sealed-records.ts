import { KdebugError } from '../../../core/errors.ts';
import { hmacSha256 } from '../../../core/hash.ts';
import type { Grant } from '../../../core/planning/grant.ts';
import { countedAs, dueAtMs, isSettled } from '../../../core/run/life-cycle.ts';
import type { Run } from '../../../core/run/run.ts';
import { defined } from '../../../lib/object.ts';

/** Seals texts: only holders of the key can read or make them, and each opens only with its `about`. */
export interface Sealer {
  seal(plain: string, about: string): string;
  /** Undefined: changed, sealed with another key, or with another `about`. */
  open(sealed: string, about: string): string | undefined;
}

/** The newest record schema that this version reads. */
export const SCHEMA: Run['schema'] = 1;

/** The fields of a run that scripts see: no names and nothing that people wrote. */
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
  /** Keys the HMACs that hide channels, people and dedupe keys in Redis: comparable but not readable. */
  readonly indexKey: Uint8Array;
  /** The store's key prefix: a record moved to another store's keys does not open. */
  readonly prefix: string;
}

/** Converts runs to and from their form in Redis. */
export class Records {
  /** Identifies the sealing key without revealing it. */
  readonly keyId: string;
  readonly #keys: RecordKeys;
  readonly #grants = new KnownGrants();

  constructor(keys: RecordKeys) {
    this.#keys = keys;
    this.keyId = this.name('key', 'id').slice(0, 8);
  }

  /** A 128-bit HMAC, which reveals nothing without the key. */
  name(purpose: string, value: string): string {
    return hmacSha256(this.#keys.indexKey, `${purpose}\n${value}`).slice(0, 32);
  }

  seal(run: Run): string {
    return this.sealText(JSON.stringify(run), `run ${run.id}`);
  }

  /**
   * Returns every stored field, also those unknown to this version.
   * @throws KdebugError store_record_unreadable
   */
  open(id: string, sealed: string): Run {
    const text = this.openText(sealed, `run ${id}`);
    const run: Run | undefined = text === undefined ? undefined : JSON.parse(text);
    if (run?.id !== id) throw new KdebugError('store_record_unreadable', { detail: `run ${id}: changed from outside` });
    return this.#grants.join(run);
  }

  /** Call after a save: from now on an older record cannot undo the grant's state here. */
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

/** Far more than the grants open at a time; the oldest are forgotten first. */
const MAX_ENTRIES = 10_000;

/**
 * Grants as this process last saw them. Uses only grow and an end is final, so this corrects an older record: one put
 * back by somebody with write access, or by a failover to a copy without the last writes. It does not know what other
 * processes saw, or this one before its start.
 */
class KnownGrants {
  readonly #known = new Map<string, Grant>();

  /** Adds every use of its grant seen here, and its end. */
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
