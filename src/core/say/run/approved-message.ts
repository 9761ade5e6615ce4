import { isActive } from '../../planning/grant.ts';
import type { Run } from '../../run/run.ts';
import { joined, line, message, note, paragraph, type Shown } from '../message/line.ts';
import { type Message, person, type Span, strong, time } from '../message/message.ts';
import { shortName } from '../parts/headline.ts';
import { subjectOf } from '../parts/run-lines.ts';

/**
 * The reply to its requester once the deciding vote has come: an edit of the card notifies nobody. Like the card it names the pod, and
 * nothing of the output.
 */
export function approvedMessage(run: Run): Message {
  const subject = strong(shortName(subjectOf(run)));
  const requester = person(run.origin.requesterId);
  const words = line`${requester}, your request for ${subject} was approved by ${approversOf(run)}${nowOf(run)}`;
  return message({ summary: `Approved: ${subjectOf(run)}`, notification: words, tone: 'progress' }, [
    paragraph`${words}`,
    grantPart(run),
    note`Approval of ${run.batch ? 'batch' : 'run'} ${run.id}`,
  ]);
}

/** Slack may have taken no posts for a while, and a run of an older version hears it late. */
function nowOf({ state, batch }: Run): string {
  if (batch?.paused) return '. It is paused: press Resume to start it.';
  return state === 'running' ? '. It is running.' : ', starting now.';
}

/** `@bob and @alice`. */
function approversOf({ approval }: Run): readonly Span[] {
  const voters = (approval?.votes ?? []).filter(({ kind }) => kind === 'approve').map(({ userId }) => person(userId));
  return joined([joined(voters.slice(0, -1)), voters.at(-1)], ' and ');
}

const grantPart = ({ grant, approvedAtMs = 0 }: Run): Shown =>
  grant &&
  isActive(grant, approvedAtMs) &&
  paragraph`You may repeat it without another approval, ${grant.maxRuns} times until ${time(grant.expiresAtMs)}.`;
