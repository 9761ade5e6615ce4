import { visible } from '../../../lib/invisible.ts';
import { shorten } from '../../../lib/text.ts';
import type { Run } from '../../run/run.ts';
import { COMMAND } from '../../shown-names.ts';
import { person, type Span, text } from './message.ts';

/**
 * A Slack user id that stands alone in typed text: Slack delivers `<@U0BOB|bob>` as `U0BOB`. Ids begin with U0 or W0;
 * older ones have another second character, nine to eleven characters in all, and digits among them. Other words in
 * capitals stay words.
 */
const PERSON =
  /(?<![\p{L}\p{N}_@<-])(?:<@|@)?([UW](?:0[A-Z0-9]{2,19}|(?=[A-Z]*[0-9][A-Z]*[0-9])[A-Z0-9]{8,10}))>?(?![\p{L}\p{N}_-])/gu;

/**
 * Copies of a card reach channels where the requester may not post, so a reason must not mention a whole channel of
 * approvers.
 */
const MAX_PEOPLE = 5;

/** Typed words with every character visible and the first people as mentions; nothing else in them formats. */
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

const MAX_NAME_LENGTH = 40;

/**
 * A name among other words; undefined where it is not known, or would not show as it is. People choose their names: `·` and `/` become spaces,
 * because these part what kdebug says of the run from what others wrote.
 */
export function plainName(name = ''): string | undefined {
  const shown = shorten(name.replace(/[·/\s]+/g, ' ').trim(), MAX_NAME_LENGTH);
  return shown === '' || visible(shown) !== shown ? undefined : shown;
}

/** A command line may have 16,000 characters; the card or the record has all of it. */
const MAX_COMMAND_LENGTH = 300;

/** The first line of the command, cut after 300 characters, as a message line has room for it. */
export function typedCommand({ commandLine }: Pick<Run, 'commandLine'>): string {
  const line = commandLine.split('\n', 1)[0] ?? '';
  return `${COMMAND} ${shorten(line, MAX_COMMAND_LENGTH)}`;
}
