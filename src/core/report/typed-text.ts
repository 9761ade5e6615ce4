import { visible } from '../../lib/invisible.ts';
import { shorten } from '../../lib/text.ts';
import type { Run } from '../run/run.ts';
import { person, type Span, text } from './message.ts';

/**
 * Where Slack's id of a person stands alone in what somebody typed: `<@U0BOB|bob>` reaches us as `U0BOB`. Ids begin with U0 or W0;
 * older ones have another second character and nine to eleven in all, with digits among them. Other words in capitals stay words.
 */
const PERSON =
  /(?<![\p{L}\p{N}_@<-])(?:<@|@)?([UW](?:0[A-Z0-9]{2,19}|(?=[A-Z]*[0-9][A-Z]*[0-9])[A-Z0-9]{8,10}))>?(?![\p{L}\p{N}_-])/gu;

/** Copies of a card go where who typed it may not speak: nobody calls a whole channel of approvers by a reason. */
const MAX_PEOPLE = 5;

/** Words that a person typed, each character visible, with the first people in them as mentions; nothing else of it formats. */
export function typedText(words: string): readonly Span[] {
  const shown = visible(words);
  const spans: Span[] = [];
  const people = new Set<string>();
  let from = 0;
  for (const { 0: found, 1: userId = '', index } of shown.matchAll(PERSON)) {
    if (people.size === MAX_PEOPLE && !people.has(userId)) continue;
    people.add(userId);
    if (index > from) spans.push(text(shown.slice(from, index)));
    spans.push(person(userId));
    from = index + found.length;
  }
  if (from < shown.length || spans.length === 0) spans.push(text(shown.slice(from)));
  return spans;
}

/** A line of 16,000 characters may have been typed; the card or the record has the whole. */
const MAX_COMMAND_LENGTH = 300;

/** What was typed, as far as a line of a message has room: the first line, cut after 300 characters. */
export function typedCommand({ commandLine }: Pick<Run, 'commandLine'>): string {
  const line = commandLine.split('\n', 1)[0] ?? '';
  return `/kdebug ${shorten(line, MAX_COMMAND_LENGTH)}`;
}
