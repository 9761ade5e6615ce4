import { formatDuration } from '../../../lib/duration.ts';
import { own } from '../../../lib/object.ts';
import { REASONS, type ReasonCode } from '../../errors.ts';
import { foreignLine } from '../../redact/clean-text.ts';
import { armedWords } from '../../request/tripwire.ts';
import type { Run } from '../../run/run.ts';
import { armedOf } from './outcome-text.ts';

const MAX_REASON_LENGTH = 40;

/**
 * The reasons why nothing was started: the pod can hold none (`problemOfPod`), or nobody could be asked to approve it.
 */
const NOWHERE_TO_LOOK: Readonly<Partial<Record<ReasonCode, string>>> = {
  pod_is_static: 'Kubernetes allows none in a static pod',
  pod_finished: 'the pod has finished',
  pod_deleting: 'the pod is being deleted',
  pod_unscheduled: 'the pod is on no node yet',
  pod_is_windows: 'the pod runs on Windows',
  pod_has_too_many_containers: 'the pod has no room for another one',
  pod_has_too_many_of_yours: 'the pod has no room for another one of yours',
  rehearsal_refused: 'the cluster would refuse it',
};

/** Of one pod of several, it is no reason. */
const DOES_NOT_RUN: ReadonlySet<string> = new Set(['pod_finished', 'pod_deleting', 'pod_unscheduled']);

/**
 * The state of the container beside a first answer, in a few words: `Looking inside with autodiagnose · 3 s`; once it
 * is answered, the reason why no container was added.
 */
export function lookWords(run: Run, nowMs: number): string | undefined {
  const { state, plan, waiting, approvedAtMs, launchedAtMs, startedAtMs } = run;
  if (state === 'finished') return `No container was added${whyNone(run)}`;
  if (!plan || state === 'received') return undefined;
  if (state === 'collecting') return `Reading what ${plan.imageAlias} found`;
  const sinceMs = startedAtMs ?? launchedAtMs ?? approvedAtMs;
  const age = sinceMs === undefined ? '' : ` · ${formatDuration(Math.max(0, nowMs - sinceMs))}`;
  const held =
    state === 'starting' && waiting ? `, which waits to start (${foreignLine(waiting.reason, MAX_REASON_LENGTH)})` : '';
  const armed = armedOf(run);
  return `${armed ? armedWords(armed) : `Looking inside with ${plan.imageAlias}${held}`}${age}`;
}

function whyNone({ plan, outcome, verdict }: Run): string {
  const because = outcome?.kind === 'answered' ? outcome.because : undefined;
  if (verdict?.groups !== undefined && (because === undefined || DOES_NOT_RUN.has(because)))
    return ': none of its pods runs';
  if (because !== undefined)
    return `: ${own(NOWHERE_TO_LOOK, because) ?? own(REASONS, because)?.title ?? 'the pod can hold none'}`;
  if (verdict?.findings.some(({ code }) => code === 'node_not_ready')) return ': its node does not answer';
  const target = plan?.targetContainerName;
  return target === undefined ? ': nothing runs in the pod' : `: ${target} is not running`;
}
