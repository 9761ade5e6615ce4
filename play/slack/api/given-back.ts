import { withEmojiNames } from '../read/emoji.ts';
import type { Json } from '../state/message.ts';
import { isJson } from './args.ts';

/** A control sequence of mrkdwn: `<@U…>`, `<#C…>`, `<!here>`, `<https://…|…>`. All other angle brackets are text. */
const CONTROL = /<(?:[@#!][^<>\n]+|(?:https?|mailto|tel|slack|[a-z][a-z0-9+.-]*):[^<>\n]+)>/gi;

/** `text` as Slack gives it back: `&`, `<` and `>` as entities where they are text, and Unicode emoji by name. */
export function textGivenBack(text: string): string {
  let out = '';
  let from = 0;
  for (const found of text.matchAll(CONTROL)) {
    out += `${escaped(text.slice(from, found.index))}${found[0]}`;
    from = found.index + found[0].length;
  }
  return withEmojiNames(out + escaped(text.slice(from)));
}

/** What is an entity already stays one. */
function escaped(text: string): string {
  return text
    .replace(/&(?!(?:amp|lt|gt);)/g, '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

/** Blocks as Slack gives them back: their text objects like `text`; `rich_text` as it was sent. */
export function blocksGivenBack(blocks: readonly Json[]): Json[] {
  return blocks.map(objectGivenBack);
}

function objectGivenBack(value: Json): Json {
  if (value.type === 'rich_text') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, name === 'value' ? one : givenBack(one)]),
  );
}

function givenBack(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(givenBack);
  if (!isJson(value)) return value;
  if (typeof value.text !== 'string') return objectGivenBack(value);
  if (value.type === 'plain_text') return { emoji: true, ...value, text: plainGivenBack(value) };
  if (value.type === 'mrkdwn') return { verbatim: false, ...value, text: textGivenBack(value.text) };
  return value;
}

function plainGivenBack({ text, emoji }: Json): string {
  const safe = escaped(String(text));
  return emoji === false ? safe : withEmojiNames(safe);
}
