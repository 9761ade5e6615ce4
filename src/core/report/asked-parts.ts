import type { ApproversAsked } from '../run/approvers-asked.ts';
import type { Run } from '../run/run.ts';
import { formatCount } from './duration.ts';
import { channel, type Part, type Span, text } from './message.ts';

/** What the card says of those who are asked elsewhere: how many, where, and who could not be. Nothing until that is known. */
export function askedElsewhereParts({ state, asked }: Run): readonly Part[] {
  if (state !== 'pending-approval' || !asked || asked.waiting.some(({ kind }) => kind === 'copy')) return [];
  const sentences = [directSpans(asked), shownSpans(asked), notShownSpans(asked)].filter(({ length }) => length > 0);
  const spans = sentences.flatMap((sentence, index) => (index === 0 ? sentence : [text(' '), ...sentence]));
  return spans.length === 0 ? [] : [{ kind: 'note', spans }];
}

function directSpans({ copies, beyond = 0, unreached = 0 }: ApproversAsked): readonly Span[] {
  const direct = copies.filter(({ userId }) => userId !== undefined).length;
  const sentences = [
    ...(direct > 0 ? [`Also sent to ${formatCount(direct, 'approver')} in a direct message.`] : []),
    ...(beyond > 0 ? [`Not sent to ${formatCount(beyond, 'more approver')}: tell one of them yourself.`] : []),
    ...(unreached > 0 ? [`${formatCount(unreached, 'approver')} could not be reached.`] : []),
  ];
  return sentences.length === 0 ? [] : [text(sentences.join(' '))];
}

function shownSpans({ copies }: ApproversAsked): readonly Span[] {
  const shown = copies.filter(({ userId, isReminder }) => userId === undefined && !isReminder);
  return shown.flatMap(({ channelId }) => [text('Also shown in '), channel(channelId), text('.')]);
}

const notShownSpans = ({ closed = [] }: ApproversAsked): readonly Span[] =>
  closed.flatMap((channelId) => [
    text('Its approvers in '),
    channel(channelId),
    text(' do not see this: type /invite @kdebug there, unless it is shared with another company.'),
  ]);
