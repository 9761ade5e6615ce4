import { KdebugError } from '../core/errors.ts';
import type { RunId } from '../core/ids.ts';
import { identityFor } from '../core/policy/identity.ts';
import { createExcerpt } from '../core/report/log/excerpt.ts';
import { createLogFilter } from '../core/report/log/log-filter.ts';
import type { FlowDeps } from './deps.ts';
import { LogReader } from './log-reader.ts';
import type { RunSession } from './session.ts';
import { Turns } from './turns.ts';

/** What the status said when the reading begins. */
export interface ReadFrom {
  readonly terminated: boolean;
  readonly startedAtMs: number;
}

/** What fits a reply beside the facts (Slack: about 13,200 characters of blocks in all, 3,000 a section). */
const EXCERPT = { headLines: 15, tailLines: 25, maxBytes: 2_500 };

/** The log readers of the runs that this replica holds; at most one a run. */
export class LogReaders {
  readonly #deps: FlowDeps;
  readonly #turns = new Turns();
  readonly #readers = new Map<RunId, LogReader>();

  constructor(deps: FlowDeps) {
    this.#deps = deps;
  }

  of(runId: RunId): LogReader | undefined {
    return this.#readers.get(runId);
  }

  /** Begins to read unless it is being read; tells a reader whose container has ended so. */
  async start(session: RunSession, from: ReadFrom): Promise<LogReader> {
    const { run } = session;
    const running = this.#readers.get(run.id);
    if (running) {
      if (from.terminated) running.end();
      return running;
    }
    const { plan, containerName } = run;
    if (!plan || containerName === undefined)
      throw new KdebugError('internal_error', { detail: 'a run without a container has no log' });
    const { clusters, policies, spools } = this.#deps;
    const policy = policies.current();
    const actingAs = identityFor(policy.identity, run.origin);
    const spool = await spools.open({ runId: run.partOf ?? run.id, requesterId: run.origin.requesterId });
    const reader = new LogReader(
      {
        cluster: clusters.get(plan.cluster),
        pod: { namespace: plan.namespace, name: plan.podName, uid: plan.podUid },
        containerName,
        limitBytes: plan.maxLogBytes,
        ...from,
        ...(actingAs && { actingAs }),
      },
      {
        filter: createLogFilter({ redact: policy.output.redact }),
        excerpt: createExcerpt(EXCERPT),
        spool,
        turns: this.#turns,
      },
    );
    this.#readers.set(run.id, reader);
    return reader;
  }

  /** Reads what the node still has, for a run that another process read. Undefined when it was never seen to start. */
  async again(session: RunSession): Promise<LogReader | undefined> {
    const { termination, startedAtMs } = session.run;
    const sinceMs = termination ? Date.parse(termination.startedAt) : startedAtMs;
    return sinceMs === undefined ? undefined : this.start(session, { terminated: true, startedAtMs: sinceMs });
  }

  /** Lets go of a run's reader and its scratch file. */
  async forget(runId: RunId): Promise<void> {
    const reader = this.#readers.get(runId);
    if (!reader) return;
    this.#readers.delete(runId);
    reader.stop();
    const { spool } = await reader.result;
    await spool.remove();
  }
}
