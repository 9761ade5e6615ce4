import { sentence } from '../../../lib/text.ts';
import { REASONS, type ReasonCode } from '../../errors.ts';
import type { Run } from '../../run/run.ts';
import { message, paragraph } from '../message/line.ts';
import { type Message, strong } from '../message/message.ts';
import { endsByItself } from '../parts/stop-parts.ts';
import { reasonMessage } from './private-messages.ts';

/** The answer to a typed `stop`. A click needs no answer: its card shows the change. `run`: as it was before. */
export function stopMessage({ id, state }: Run): Message {
  const words =
    state === 'approved'
      ? `Run ${id} is withdrawn. Nothing was started.`
      : state === 'running' || state === 'finished'
        ? `Stopping run ${id}. Its card shows when it has stopped.`
        : `Run ${id} has not started yet. It is stopped as soon as it starts.`;
  return message({ tone: 'success' }, [paragraph`${strong(words)}`]);
}

/** For whoever asked, where the card must not say it: what the container that should stop the run wrote. */
export function stopFailedMessage({ id }: Run, why: string): Message {
  const words = `Run ${id} could not be stopped`;
  return message({ summary: words, tone: 'attention' }, [paragraph`${strong(`${words}: `)}${sentence(why)}`]);
}

/** Explains why a run cannot be stopped, and when it ends by itself. `detail`: the reason in full, with its subject. */
export function stopRefusedMessage(
  run: Run,
  { code, detail }: { readonly code: ReasonCode; readonly detail?: string },
  nowMs: number,
): Message {
  const { parts, summary: _, ...frame } = reasonMessage(code);
  const ends = !BY_ITSELF.has(code) && endsByItself(run, nowMs);
  return message(frame, [
    paragraph`${strong(sentence(detail ?? REASONS[code].title))}`,
    parts.slice(1),
    paragraph`${ends}`,
  ]);
}

/** Reasons that say it themselves, or after which the run does not go on. */
const BY_ITSELF: ReadonlySet<ReasonCode> = new Set([
  'run_ended',
  'stop_too_early',
  'stop_under_way',
  'stop_elsewhere',
  'not_your_run',
]);
