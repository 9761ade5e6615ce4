import { isActive } from '../../planning/grant.ts';
import type { Run } from '../../run/run.ts';
import { type Message, type Part, person, type Span, strong, text, time } from '../message/message.ts';
import { shortName } from '../parts/headline.ts';
import { subjectOf } from '../parts/run-lines.ts';

/**
 * The reply to its requester once the deciding vote has come: an edit of the card notifies nobody. Like the card it names the pod, and
 * nothing of the output.
 */
export function approvedMessage(run: Run): Message {
  const { origin, batch, id } = run;
  const spans = [
    person(origin.requesterId),
    text(', your request for '),
    strong(shortName(subjectOf(run))),
    text(' was approved by '),
    ...approversOf(run),
    text(nowOf(run)),
  ];
  return {
    summary: `Approved: ${subjectOf(run)}`,
    notification: spans,
    tone: 'progress',
    parts: [
      { kind: 'paragraph', spans },
      ...grantPart(run),
      { kind: 'note', spans: [text(`Approval of ${batch ? 'batch' : 'run'} ${id}`)] },
    ],
  };
}

/** Slack may have taken no posts for a while, and a run of an older version hears it late. */
function nowOf({ state, batch }: Run): string {
  if (batch?.paused) return '. It is paused: press Resume to start it.';
  return state === 'running' ? '. It is running.' : ', starting now.';
}

/** `@bob and @alice`. */
function approversOf({ approval }: Run): readonly Span[] {
  const voters = (approval?.votes ?? []).filter(({ kind }) => kind === 'approve');
  return voters.flatMap(({ userId }, index) => [
    ...(index === 0 ? [] : [text(index === voters.length - 1 ? ' and ' : ', ')]),
    person(userId),
  ]);
}

function grantPart({ grant, approvedAtMs = 0 }: Run): readonly Part[] {
  if (!grant || !isActive(grant, approvedAtMs)) return [];
  const times = `You may repeat it without another approval, ${grant.maxRuns} times until `;
  return [{ kind: 'paragraph', spans: [text(times), time(grant.expiresAtMs), text('.')] }];
}
