import { toKdebugError } from '../core/errors.ts';
import type { Refusal, Run } from '../core/run/run.ts';
import { lapsedVoters } from './approvers.ts';
import type { FlowDeps } from './deps.ts';
import { refusal, refusalOfError } from './refusals.ts';
import { channelProblem } from './slack-connect.ts';

type Asked = Pick<FlowDeps, 'policies' | 'directory' | 'clock' | 'log'>;

/** How long kdebug may have been away, beyond the time for a start: nobody expects any more what they asked for before that. */
const AWAY_MS = 15 * 60_000;

/** What stands against beginning what people wanted once: it was too long ago, outsiders read its channel now, or who approved it may not any more. */
export async function unwanted(run: Run, asked: Asked): Promise<Refusal | undefined> {
  return tooOld(run, asked) ?? (await channelProblem(run.origin, asked)) ?? problemOfVotes(run, asked);
}

/** That the request, or the approval as the later word, was too long ago. A batch that is paused waits for people however long. */
export function tooOld(run: Run, { policies, clock }: Asked): Refusal | undefined {
  const { approval, approvedAtMs, origin, batch } = run;
  if (batch?.paused) return undefined;
  const wantedAtMs = (approval && approvedAtMs) ?? origin.receivedAtMs;
  const mostMs = policies.current().limits.startDeadlineMs + AWAY_MS;
  return clock.now() - wantedAtMs > mostMs ? refusal('request_too_old') : undefined;
}

/** That who approved it has left the groups, or that nobody can say who is in them. */
async function problemOfVotes({ approval }: Run, asked: Asked): Promise<Refusal | undefined> {
  try {
    const lapsed = approval ? await lapsedVoters(approval, asked) : [];
    return lapsed.length > 0 ? refusal('approver_left', undefined, approval?.rule) : undefined;
  } catch (thrown) {
    return refusalOfError(toKdebugError(thrown));
  }
}
