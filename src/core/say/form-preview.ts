import { formatCount, formatDuration } from '../../lib/duration.ts';
import { sentence } from '../../lib/text.ts';
import type { Plan } from '../container/plan.ts';
import { REASONS } from '../errors.ts';
import type { Decision } from '../policy/policy.ts';
import type { CommandError } from '../request/command.ts';
import type { Refusal } from '../request/origin.ts';
import { EMOJI } from './message/message.ts';

/** The form's words while it is filled in: the answer first, with the mark of its state. */

const YES = EMOJI.white_check_mark;
const ASK = EMOJI.warning;
const NO = EMOJI.x;

export const PICK_A_POD = 'Pick a pod. Then kdebug says here whether this would run.';
export const NOT_KNOWN = 'The cluster did not answer in time. kdebug checks everything when you press Debug.';

/** `pods`: how many a batch has. */
export function decisionPreview(plan: Plan, decision: Decision, pods = 1): string {
  const what = `${plan.imageAlias} on ${pods > 1 ? formatCount(pods, 'pod') : `${plan.namespace}/${plan.podName}`}`;
  switch (decision.kind) {
    case 'allow':
      return `${YES} Runs at once: ${what}.`;
    case 'needs-approval': {
      const { count, from, expiresMs } = decision.approval;
      const who = `${count === 1 ? 'one' : count} of ${from.join(', ')}`;
      return `${ASK} Needs the approval of ${who}, within ${formatDuration(expiresMs)}: ${what}.`;
    }
    case 'deny': {
      const { title, hint } = REASONS[decision.code];
      if (decision.code === 'reason_required')
        return `${ASK} Write a reason: this needs an approval, and approvers read why.`;
      return `${NO} Would be refused. ${sentence(`${title}: ${decision.subject}`)} ${hint}`;
    }
  }
}

export const refusalPreview = ({ message, hint }: Pick<Refusal, 'message' | 'hint'>): string =>
  `${NO} Would be refused. ${sentence(message)} ${hint}`;

export const commandErrorPreview = ({ message, hint = '' }: CommandError): string => `${NO} ${message} ${hint}`.trim();
