import type { RunRequest } from '../../core/command/command.ts';
import type { Form } from '../../core/report/message.ts';
import type { Run } from '../../core/run/run.ts';
import type { Actor, Answer, Submission, SubmitAnswer } from '../ports/slack.ts';

/** The form that asks who clicks a button that asks again for a reason of their own; its `value` is the button and the run's id. */
export const AGAIN_REASON = 'again-reason';

/** Somebody who wants what another one asked for once more: by a button, or by the form that it opened. */
export interface Again extends Actor {
  readonly runId: string;
  /** Absent: it comes from the form, which is bound to the channel. */
  readonly messageTs?: string;
  readonly reason?: string;
}

/** The request with the reason of who asks now; what the first person gave as theirs is nobody else's. */
export function withReason({ reason: _, ...request }: RunRequest, reason: string | undefined): RunRequest {
  return reason === undefined ? request : { ...request, reason };
}

/** Empty to begin with: the words are to be the clicker's own. */
export const reasonForm = (action: string, { id, commandLine }: Run): Answer & { readonly form: Form } => ({
  kind: 'form',
  form: {
    name: AGAIN_REASON,
    value: `${action}:${id}`,
    title: 'Ask again',
    submit: 'Ask',
    intro: `Like run ${id}: /kdebug ${commandLine.split('\n', 1)[0]}`,
    fields: [
      {
        id: 'reason',
        label: 'Your reason',
        kind: 'lines',
        optional: false,
        maxLength: 500,
        hint: 'It is shown on the card and kept.',
      },
    ],
  },
});

/** What came back with the form; undefined: another form, or of another button. */
export function againOf(
  { name, value, teamId, userId, channelId, fields }: Submission,
  action: string,
): Again | undefined {
  if (name !== AGAIN_REASON || !value.startsWith(`${action}:`)) return undefined;
  const reason = (fields.reason ?? '').replace(/\s+/g, ' ').trim();
  return { teamId, userId, channelId, runId: value.slice(action.length + 1), reason };
}

/** Takes up what came back; without words it stays open. */
export async function submitAgain(again: Again, act: (again: Again) => Promise<Answer>): Promise<SubmitAnswer> {
  if (!again.reason) return { kind: 'errors', errors: { reason: 'A reason is needed.' } };
  const answer = await act(again);
  return { kind: 'taken', ...(answer.kind === 'message' && { message: answer.message }) };
}
