import { formatDuration } from '../../../lib/duration.ts';
import type { Run } from '../../run/run.ts';
import { line, message, note, paragraph } from '../message/line.ts';
import { type Message, strong } from '../message/message.ts';
import { headlineOf, oneLine, shortName } from '../parts/headline.ts';
import { subjectOf } from '../parts/run-lines.ts';

/** The reply in a card's thread when its alerts no longer fire. */
export function resolvedMessage(run: Run): Message {
  const { alert, verdict, id } = run;
  const subject = subjectOf(run);
  const lastedMs = (alert?.resolvedAtMs ?? 0) - (alert?.sinceMs ?? 0);
  const found = headlineOf(verdict);
  const words = line`${strong(alert?.name ?? '')}${subject !== alert?.name && `: ${shortName(subject)}`} resolved after ${formatDuration(Math.max(0, lastedMs))}.${found !== undefined && ` At the time: ${oneLine(found).replace(/(?<![.…])$/, '.')}`}`;
  return message({ tone: 'ended' }, [paragraph`${words}`, note`Alert of run ${id}`]);
}
