import type { Run } from '../run/run.ts';
import { describeOutcome } from './outcome-text.ts';
import { toneOf } from './verdict-parts.ts';

/** Who waits no longer than this still looks at the channel. */
const LONG_MS = 10_000;

/**
 * Whether the result of a finished run mentions its requester, so that Slack notifies them: an approval was needed, it took long
 * from the request to its end, or something is wrong. A quick run that went well disturbs nobody.
 */
export const namesRequester = (run: Run): boolean => run.approval !== undefined || tookLong(run) || isWrong(run);

const tookLong = ({ origin, finishedAtMs, endedAtMs }: Run): boolean => {
  const endMs = finishedAtMs ?? endedAtMs;
  return endMs !== undefined && endMs - origin.receivedAtMs > LONG_MS;
};

function isWrong({ outcome, verdict }: Run): boolean {
  if (outcome?.kind !== 'succeeded') return true;
  return toneOf(verdict, describeOutcome(outcome).tone) !== 'success';
}
