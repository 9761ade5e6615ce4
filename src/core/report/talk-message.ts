import { helpMessage } from '../command/help.ts';
import type { Talk } from '../command/talk.ts';
import { code, type Message, type Part, type Span, text } from './message.ts';
import { shorten } from './shorten.ts';

const LONGEST_WORD = 60;

/** The answer to words that are no command: what was not understood, the verb that was probably meant, and the help. */
export function talkMessage({ first, request, guess }: Talk, namespace: string | undefined): Message {
  const word = shorten(first, LONGEST_WORD);
  const where: readonly Span[] = namespace === undefined ? [] : [text(' in '), code(namespace)];
  const unknown: readonly Span[] = request
    ? [text("I don't know a pod named "), code(word), ...where, text('.')]
    : [text("I don't understand "), code(word), text('.')];
  return {
    summary: request ? `I don't know a pod named ${word}.` : `I don't understand “${word}”`,
    tone: 'neutral',
    parts: [paragraph([...unknown, ...guessSpans(guess?.name)]), ...helpMessage().parts],
  };
}

/** ` Did you mean list?`, for the end of a sentence. */
export const guessSpans = (verb: string | undefined): readonly Span[] =>
  verb === undefined ? [] : [text(' Did you mean '), code(verb), text('?')];

const paragraph = (spans: readonly Span[]): Part => ({ kind: 'paragraph', spans });
