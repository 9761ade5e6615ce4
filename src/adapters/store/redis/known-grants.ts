import type { Grant } from '../../../core/policy/grant.ts';
import type { Run } from '../../../core/run/run.ts';

/** Far more grants than are open at a time; the oldest are forgotten first. */
const MOST = 10_000;

/**
 * Grants as this process has seen them last. Uses only become more and an end stays, so an older record, put back by somebody who can
 * write Redis or by a failover to a copy that misses the last writes, is brought up to what was seen. What another process saw, or
 * this one before it was started, is not known here.
 */
export class KnownGrants {
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
    if (this.#known.size > MOST && oldest !== undefined) this.#known.delete(oldest);
  }
}

function joined(grant: Grant, known: Grant): Grant {
  const missing = known.uses.filter(({ runId }) => !grant.uses.some((use) => use.runId === runId));
  const endedBy = grant.endedBy ?? known.endedBy;
  if (missing.length === 0 && endedBy === grant.endedBy) return grant;
  return { ...grant, uses: [...grant.uses, ...missing], ...(endedBy !== undefined && { endedBy }) };
}
