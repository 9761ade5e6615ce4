import { armedWords, tripwireOf } from '../../request/tripwire.ts';
import type { Run } from '../../run/run.ts';
import { line } from '../message/line.ts';
import { type Span, time } from '../message/message.ts';
import { STATE_TEXT } from './outcome-text.ts';

/** The state of a run in its own words: a watch that is armed says for what. */
export function stateWords({ state, request }: Pick<Run, 'state' | 'request'>): string {
  const tripwire = state === 'running' ? tripwireOf(request) : undefined;
  return tripwire ? armedWords(tripwire) : STATE_TEXT[state].headline;
}

/** `, until 12:41`; empty for a run that is no armed watch. */
export function armedUntil({ state, request, startedAtMs }: Run): readonly Span[] {
  const tripwire = state === 'running' ? tripwireOf(request) : undefined;
  return tripwire && startedAtMs !== undefined ? line`, until ${time(startedAtMs + tripwire.forMs)}` : [];
}
