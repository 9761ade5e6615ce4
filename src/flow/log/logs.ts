import type { PodRef } from '../../core/container/pod.ts';
import { withoutReport } from '../../core/diagnosis/marked-report.ts';
import { toKdebugError } from '../../core/errors.ts';
import { bytesWithFrames } from '../../core/files/admit-file.ts';
import { FrameParser } from '../../core/files/frame-parser.ts';
import type { FramePart } from '../../core/files/frame-parts.ts';
import type { RunId } from '../../core/ids.ts';
import { identityFor } from '../../core/planning/identity.ts';
import { believedFiles } from '../../core/planning/resolve.ts';
import { createExcerpt, type Excerpt } from '../../core/redact/excerpt.ts';
import { createLogFilter, type LogFilter } from '../../core/redact/log-filter.ts';
import { isLaunched, type LaunchedRun } from '../../core/run/life-cycle.ts';
import type { LogCompleteness, Run, RunLog } from '../../core/run/run.ts';
import { defined } from '../../lib/object.ts';
import type { OwnTurns } from '../../lib/turns.ts';
import type { FlowDeps } from '../context/deps.ts';
import { Pieces } from '../context/turns.ts';
import type { ActingAs, Cluster } from '../ports/cluster.ts';
import type { Spool } from '../ports/machine.ts';
import { type FileOfLog, RunFiles } from './run-files.ts';

export interface LogSource {
  readonly cluster: Cluster;
  readonly pod: PodRef;
  readonly containerName: string;
  readonly terminated: boolean;
  readonly startedAtMs: number;
  readonly limitBytes: number;
  readonly actingAs?: ActingAs;
}

export interface LogSinks {
  readonly filter: LogFilter;
  readonly excerpt: Excerpt;
  readonly spool: Spool;
  /** Of the requester. */
  readonly turns: OwnTurns;
  /** Only for an image whose files count (`isDiagnostic`); elsewhere a frame is text. */
  readonly frames?: { readonly parser: FrameParser; readonly files: RunFiles };
}

/** The summary of a log for the run's record, and the spool with the whole log. */
export interface ReadLog {
  readonly log: RunLog;
  /** The last 16 KiB, which may hold an image's report. */
  readonly end: string;
  readonly spool: Spool;
  /** The whole ones of `log.files`, in the same order, as they may be delivered. Removed with the reader. */
  readonly files: readonly FileOfLog[];
}

const interrupted = (code: string): LogCompleteness => ({
  complete: false,
  limitReached: false,
  beginningMayBeMissing: false,
  gaps: [],
  interruptedBy: code,
});

/**
 * Reads one container's log at full speed: takes the image's files out, cleans, redacts and spools it (design, section 4.7). Starts in the
 * constructor, and never waits for Slack. `result` never rejects: after a failure it holds what was read, marked as
 * interrupted. If the spool fails, it holds the beginning, and the excerpt still has the true end.
 */
export class LogReader {
  readonly result: Promise<ReadLog>;
  readonly #abort = new AbortController();
  readonly #sinks: LogSinks;
  #end: () => void = () => {};
  #isOver = false;

  constructor(source: LogSource, sinks: LogSinks) {
    this.#sinks = sinks;
    const ended = new Promise<void>((resolve) => {
      this.#end = resolve;
    });
    if (source.terminated) this.#end();
    this.result = this.#read(source, ended);
  }

  /** The newest lines for the anchor of a running container, without a machine-readable report. */
  tail(lines: number, hidesReport: boolean): string {
    const tail = this.#sinks.excerpt.tail(lines, hidesReport);
    return hidesReport ? withoutReport({ head: '', tail }).tail : tail;
  }

  end(): void {
    this.#end();
  }

  /** Stops reading; `result` resolves with what was read. */
  stop(): void {
    // Every abort creates an error with its stack: expensive for thousands of finished readers.
    if (!this.#isOver) this.#abort.abort();
  }

  async #read(source: LogSource, ended: Promise<void>): Promise<ReadLog> {
    const { filter, excerpt, spool, turns, frames } = this.#sinks;
    let failure: string | undefined;
    const fail = (thrown: unknown): void => {
      failure ??= toKdebugError(thrown).code;
    };
    const store = (chunk: Buffer): Promise<void> | void => {
      if (chunk.length === 0) return;
      excerpt.push(chunk);
      // Keep reading without the disk: the end of a log matters most.
      if (failure === undefined) return spool.write(chunk)?.catch(fail);
    };
    const acceptParts = async (parts: readonly FramePart[]): Promise<void> => {
      for (const part of parts) {
        if (part.kind === 'text') await store(filter.push(part.bytes));
        else await frames?.files.accept(part);
      }
    };
    const pieces = new Pieces(turns, filter);
    const write = (chunk: Buffer): Promise<void> =>
      pieces.each(chunk, (piece) => (frames ? acceptParts(frames.parser.push(piece)) : store(filter.push(piece))));
    const collected = await this.#collect(source, ended, write);
    if (frames) await acceptParts(frames.parser.end());
    await store(filter.end());
    const sha256 = await spool.finish().catch((thrown: unknown) => {
      fail(thrown);
      return '';
    });
    this.#isOver = true;
    const read = frames?.parser.isTextCut ? { ...collected, complete: false, limitReached: true } : collected;
    const completeness = failure === undefined ? read : { ...read, complete: false, interruptedBy: failure };
    const { head, tail, omittedLines, lines, bytes } = excerpt.finish();
    const { listed = [], whole = [], redactions = 0 } = frames?.files.read ?? {};
    return {
      log: {
        ...{ bytes, lines, sha256, redactions: filter.redactions + redactions },
        ...{ completeness, head, tail, omittedLines },
        ...defined({ files: listed.length > 0 ? listed : undefined }),
      },
      end: excerpt.end(),
      spool,
      files: whole,
    };
  }

  async #collect(
    source: LogSource,
    ended: Promise<void>,
    write: (chunk: Buffer) => Promise<void> | void,
  ): Promise<LogCompleteness> {
    const { cluster, ...request } = source;
    try {
      return await cluster.collectLog({ ...request, ended, signal: this.#abort.signal }, { write });
    } catch (thrown) {
      return interrupted(toKdebugError(thrown).code);
    }
  }
}

/** The container's status when reading begins. */
export interface ReadFrom {
  readonly terminated: boolean;
  readonly startedAtMs: number;
}

/** Fits into a reply beside the facts (Slack: about 13,200 characters of blocks in all, 3,000 a section). */
const EXCERPT = { headLines: 15, tailLines: 25, maxBytes: 2_500 };

/** The log readers of the runs that this replica holds; at most one per run. */
export class LogReaders {
  readonly #deps: FlowDeps;
  readonly #readers = new Map<RunId, LogReader>();

  constructor(deps: FlowDeps) {
    this.#deps = deps;
  }

  of(runId: RunId): LogReader | undefined {
    return this.#readers.get(runId);
  }

  /** Starts a reader unless one exists; passes on to that one whether the container has ended. */
  async start(run: LaunchedRun, from: ReadFrom): Promise<LogReader> {
    const running = this.#readers.get(run.id);
    if (running) {
      if (from.terminated) running.end();
      return running;
    }
    const { plan, containerName } = run;
    const { clusters, policies, spools, turns: allTurns } = this.#deps;
    const policy = policies.current();
    const { limits, output } = policy;
    const actingAs = identityFor(policy.identity, run.origin);
    const openSpool = (): Promise<Spool> =>
      spools.open({ runId: run.partOf ?? run.id, requesterId: run.origin.requesterId });
    const kinds = believedFiles(plan, policy);
    const turns = allTurns.of(run.origin.requesterId);
    const frames = kinds && {
      parser: new FrameParser(plan.maxLogBytes),
      files: new RunFiles({ kinds, limits, redact: output.redact, openSpool, turns }),
    };
    const reader = new LogReader(
      {
        cluster: clusters.get(plan.cluster),
        pod: { namespace: plan.namespace, name: plan.podName, uid: plan.podUid },
        containerName,
        limitBytes: bytesWithFrames(plan.maxLogBytes, limits, kinds),
        ...from,
        ...defined({ actingAs }),
      },
      {
        filter: createLogFilter({ redact: output.redact }),
        excerpt: createExcerpt(EXCERPT),
        spool: await openSpool(),
        turns,
        ...defined({ frames }),
      },
    );
    this.#readers.set(run.id, reader);
    return reader;
  }

  /**
   * Reads again what the node still has, for a run whose log another process was reading. Undefined if the container
   * was never seen to start.
   */
  async again(run: Run): Promise<LogReader | undefined> {
    if (!isLaunched(run)) return undefined;
    const { termination, startedAtMs } = run;
    const sinceMs = termination ? Date.parse(termination.startedAt) : startedAtMs;
    return sinceMs === undefined ? undefined : this.start(run, { terminated: true, startedAtMs: sinceMs });
  }

  /** Stops a run's reader and removes its scratch files. Never rejects: nobody can fix a file that the disk keeps. */
  async forget(runId: RunId): Promise<void> {
    const reader = this.#readers.get(runId);
    if (!reader) return;
    this.#readers.delete(runId);
    reader.stop();
    const { spool, files } = await reader.result;
    await Promise.allSettled([spool, ...files.map((each) => each.spool)].map((each) => each.remove()));
  }
}
