import { defined, own } from '../../lib/object.ts';
import type { Again, AgainAction, RerunParts } from '../again/again.ts';
import { followUp } from '../again/follow-up.ts';
import { askForIt, clickRerun, clickRunAnyway } from '../again/rerun.ts';
import type { LookupLimiter } from '../context/accept.ts';
import { answerReason, answerWith, closeForm } from '../context/refusals.ts';
import type { Answer, Click, Submission, SubmitAnswer } from '../ports/slack.ts';
import type { BatchCommands } from './batch-commands.ts';

interface AgainParts extends RerunParts {
  readonly lookups: LookupLimiter;
  readonly batches: Pick<BatchCommands, 'rerunFailed'>;
}

/** The action of each button that repeats a run, and of the form that the button opened. */
const BY_ACTION: Readonly<Record<AgainAction, (again: Again, parts: AgainParts) => Promise<Answer>>> = {
  'look-again': (again, parts) => followUp('look-again', again, parts),
  'next-image': (again, parts) => followUp('next-image', again, parts),
  compare: (again, parts) => followUp('compare', again, parts),
  'rerun-failed': (again, { batches }) => batches.rerunFailed(again),
  rerun: clickRerun,
  'run-anyway': clickRunAnyway,
  'ask-for-it': askForIt,
};

/**
 * Limited in number, because it plans the request once more, which reads the cluster and writes records, even if a form
 * is all that follows.
 */
export const clickAgain =
  (action: Exclude<AgainAction, 'rerun-failed'>) =>
  async (parts: AgainParts, click: Click): Promise<Answer> => {
    const limited = parts.lookups.refusal(click.userId, 'plan-again');
    return limited ? answerWith(limited) : BY_ACTION[action]({ ...click, runId: click.value }, parts);
  };

/** The form stays open without a reason, unless it asks for a profile and the rule for that wants none. */
export async function submitAgain(parts: AgainParts, submission: Submission): Promise<SubmitAnswer> {
  const { value, teamId, userId, channelId, fields } = submission;
  const [action = '', runId = ''] = value.split(':');
  const send = own(BY_ACTION, action);
  if (!send) return closeForm(answerReason('button_stale'));
  const { profile } = fields;
  const reason = (fields.reason ?? '').replace(/\s+/g, ' ').trim() || undefined;
  if (reason === undefined && profile === undefined) return NO_REASON;
  // With a reason, the quotas of the request count it.
  const limited = reason === undefined ? parts.lookups.refusal(userId, 'plan-again') : undefined;
  if (limited) return closeForm(answerWith(limited));
  const answer = await send({ teamId, userId, channelId, runId, ...defined({ reason, profile }) }, parts);
  return answer.kind === 'form' ? NO_REASON : closeForm(answer);
}

const NO_REASON: SubmitAnswer = { kind: 'errors', errors: { reason: 'A reason is needed.' } };
