import { sentence } from '../../../lib/text.ts';
import { isGivenUp } from '../../run/life-cycle.ts';
import type { Run } from '../../run/run.ts';
import { canBeStopped, isStopping } from '../../run/stop.ts';
import { type Part, person, type Span, text, time } from '../message/message.ts';

/** When a run that nobody can stop ends. */
export function endsByItself(run: Run, nowMs: number): readonly Span[] {
  if (!canBeStopped(run)) return [];
  const untilMs = run.startedAtMs !== undefined && run.plan ? run.startedAtMs + run.plan.timeoutMs : 0;
  const until: readonly Span[] =
    untilMs > nowMs && !isGivenUp(run) ? [text(' kdebug follows it until '), time(untilMs), text('.')] : [];
  const target = run.plan?.targetContainerName;
  const ends = target === undefined ? 'or its pod ends' : `or container ${target} or its pod ends`;
  return [text(`It runs until its command exits, ${ends}.`), ...until];
}

/** On the card: who is stopping the run, or why nobody could; `isPrivate`: without what a container wrote. */
export function stopParts(run: Run, nowMs: number, isPrivate: boolean): readonly Part[] {
  const { stop } = run;
  if (!stop) return [];
  if (isStopping(run)) {
    const when = run.startedAtMs === undefined ? ' wants to stop it as soon as it starts.' : ' is stopping it.';
    return [{ kind: 'paragraph', spans: [person(stop.byUserId), text(when)] }];
  }
  if (!stop.failed || run.outcome?.kind === 'stopped') return [];
  const { why, isOutput = false } = stop.failed;
  const words =
    isPrivate && isOutput
      ? ' could not stop it; kdebug told the requester why. '
      : ` could not stop it: ${sentence(why)} `;
  return [{ kind: 'paragraph', spans: [person(stop.byUserId), text(words), ...endsByItself(run, nowMs)] }];
}
