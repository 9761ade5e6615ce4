import { bytesWithFrames } from '../../core/files/admit-file.ts';
import { FrameParser } from '../../core/files/frame-parser.ts';
import type { FramePart } from '../../core/files/frame-parts.ts';
import { LineSelector } from '../../core/lookup/select-lines.ts';
import { identityFor } from '../../core/planning/identity.ts';
import { believedFiles, isDiagnostic } from '../../core/planning/resolve.ts';
import { createLogFilter } from '../../core/redact/log-filter.ts';
import { REPORT_BEGIN } from '../../core/report-marks.ts';
import type { LogFilter } from '../../core/request/command.ts';
import type { Origin } from '../../core/request/origin.ts';
import type { LaunchedRun } from '../../core/run/life-cycle.ts';
import { type LogReading, selectionOf } from '../../core/say/answers/log-answer.ts';
import type { Sight } from '../../core/say/answers/run-for-one.ts';
import { logDoubt } from '../../core/say/parts/result-parts.ts';
import { defined } from '../../lib/object.ts';
import type { FlowDeps } from '../context/deps.ts';
import { Pieces } from '../context/turns.ts';

/** A reading ends here, with what it has. */
const READING_MS = 20_000;

export interface LogRequestOfOne {
  /** Of the reader, not of the run. */
  readonly origin: Origin;
  readonly filter: LogFilter;
  readonly sight: Sight;
  /** Output of this run may be shown to its requester alone. */
  readonly isPrivate: boolean;
}

export interface Source extends LogRequestOfOne {
  readonly isRunning: boolean;
  readonly startedAtMs: number;
}

/** Reads from the start, because a secret of many lines is known by its first one; never more than the policy's limit. */
export async function readLines(run: LaunchedRun, source: Source, deps: FlowDeps): Promise<LogReading> {
  const { plan, containerName } = run;
  const { filter, origin, isRunning, startedAtMs } = source;
  const policy = deps.policies.current();
  const redaction = createLogFilter({ redact: policy.output.redact });
  const until = isDiagnostic(plan, policy) ? REPORT_BEGIN : undefined;
  // Without the files of an image, which only its run delivers.
  const kinds = believedFiles(plan, policy);
  const frames = kinds ? new FrameParser(plan.maxLogBytes) : undefined;
  const selector = new LineSelector({ ...selectionOf(filter), ...defined({ grep: filter.grep, until }) });
  const pieces = new Pieces(deps.turns.of(origin.requesterId), redaction);
  const select = (parts: readonly FramePart[]): void => {
    for (const part of parts) if (part.kind === 'text') selector.push(redaction.push(part.bytes));
  };
  const abort = new AbortController();
  const cancel = deps.clock.after(READING_MS, () => abort.abort());
  let isReached = filter.sinceMs === undefined;
  const sinceMs = filter.sinceMs === undefined ? undefined : deps.clock.now() - filter.sinceMs;
  try {
    const completeness = await deps.clusters.get(plan.cluster).collectLog(
      {
        pod: { namespace: plan.namespace, name: plan.podName, uid: plan.podUid },
        containerName,
        // One plain read of what is there now.
        terminated: true,
        ended: Promise.resolve(),
        startedAtMs,
        limitBytes: bytesWithFrames(plan.maxLogBytes, policy.limits, kinds),
        signal: abort.signal,
        ...defined({ sinceMs, actingAs: identityFor(policy.identity, origin) }),
      },
      {
        write: (chunk) => pieces.each(chunk, (bytes) => select(frames?.push(bytes) ?? [{ kind: 'text', bytes }])),
        reachedSince: () => {
          isReached = true;
          selector.startHere();
        },
      },
    );
    if (frames) select(frames.end());
    selector.push(redaction.end());
    if (!isReached) selector.startHere();
    // Reading plainly cannot prove that the beginning is there.
    const limitReached = completeness.limitReached || frames?.isTextCut === true;
    const doubt = logDoubt({ ...completeness, limitReached, beginningMayBeMissing: false, gaps: [] });
    return { selected: selector.end(), isRunning, doubts: doubt === undefined ? [] : [`The log is ${doubt}.`] };
  } finally {
    cancel();
  }
}
