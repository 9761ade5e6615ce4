import { sentence } from '../../../lib/text.ts';
import { isGivenUp } from '../../run/life-cycle.ts';
import type { Run } from '../../run/run.ts';
import { canBeStopped, isStopping } from '../../run/stop.ts';
import { line, paragraph, type Shown } from '../message/line.ts';
import { person, type Span, time } from '../message/message.ts';

/** The end of a run that nobody can stop. */
export function endsByItself(run: Run, nowMs: number): readonly Span[] {
  if (!canBeStopped(run)) return [];
  const untilMs = run.startedAtMs !== undefined && run.plan ? run.startedAtMs + run.plan.timeoutMs : 0;
  const until = untilMs > nowMs && !isGivenUp(run) && line` kdebug follows it until ${time(untilMs)}.`;
  const target = run.plan?.targetContainerName;
  const ends = target === undefined ? 'or its pod ends' : `or container ${target} or its pod ends`;
  return line`It runs until its command exits, ${ends}.${until}`;
}

/** On the card: who is stopping the run, or why nobody could; `isPrivate`: without what a container wrote. */
export function stopParts(run: Run, nowMs: number, isPrivate: boolean): Shown {
  const { stop } = run;
  if (!stop) return [];
  const who = person(stop.byUserId);
  if (isStopping(run)) {
    const when = run.startedAtMs === undefined ? 'wants to stop it as soon as it starts' : 'is stopping it';
    return paragraph`${who} ${when}.`;
  }
  if (!stop.failed || run.outcome?.kind === 'stopped') return [];
  const { why, isOutput = false } = stop.failed;
  const because = isPrivate && isOutput ? '; kdebug told the requester why.' : `: ${sentence(why)}`;
  return paragraph`${who} could not stop it${because} ${endsByItself(run, nowMs)}`;
}
