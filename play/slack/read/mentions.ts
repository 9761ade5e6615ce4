import { isJson } from '../api/args.ts';
import type { Json, StoredMessage } from '../state/message.ts';
import { type Found, type Kind, type Reading, readMrkdwn } from './mrkdwn.ts';

/** Something in a message that Slack would render as more than its letters. */
export interface Mention extends Found {
  /** `text`, or a pointer into the blocks: `/blocks/0/text`. */
  readonly where: string;
}

const ELEMENT_KINDS: Readonly<Record<string, Kind>> = {
  user: 'user',
  usergroup: 'usergroup',
  channel: 'channel',
  broadcast: 'broadcast',
  link: 'link',
  date: 'date',
  emoji: 'emoji',
  rich_text_preformatted: 'preformatted',
  rich_text_quote: 'quote',
  rich_text_list: 'list',
};

const STYLES: Readonly<Record<string, Kind>> = { bold: 'bold', italic: 'italic', strike: 'strike', code: 'code' };

/**
 * Every mention, link, broadcast and formatting of a stored message: of its blocks, and of `text` (notifications and
 * blockless messages show it). What was asked for by structure (a `user` element, a bold style) is reported too:
 * compare with what the sender meant.
 */
export function mentionsIn(message: StoredMessage): readonly Mention[] {
  const found: Mention[] = readMrkdwn(message.text, topLevelReading(message)).map((one) => ({ ...one, where: 'text' }));
  message.blocks.forEach((block, index) => {
    walk(block, `/blocks/${index}`, found);
  });
  return found;
}

/** Whether Slack would fetch and show previews: links of an app's message only when asked for, media unless forbidden. */
export function wouldUnfurl(message: StoredMessage): { readonly links: boolean; readonly media: boolean } {
  return { links: message.unfurlLinks ?? false, media: message.unfurlMedia ?? true };
}

function topLevelReading(message: StoredMessage): Reading {
  const marks = message.mrkdwn !== false && message.parse !== 'full';
  const names = message.linkNames === true || message.parse === 'full';
  return { angles: true, autoLinks: message.parse !== 'none', names, marks, emoji: true };
}

function walk(value: unknown, where: string, found: Mention[]): void {
  if (Array.isArray(value)) {
    value.forEach((one, index) => {
      walk(one, `${where}/${index}`, found);
    });
  } else if (isJson(value)) {
    found.push(...ofObject(value).map((one) => ({ ...one, where })));
    for (const [name, one] of Object.entries(value)) walk(one, `${where}/${name}`, found);
  }
}

function ofObject(value: Json): Found[] {
  const text = typeof value.text === 'string' ? value.text : '';
  const type = String(value.type);
  if (type === 'mrkdwn') {
    const open = value.verbatim !== true;
    return readMrkdwn(text, { angles: true, autoLinks: open, names: open, marks: true, emoji: true });
  }
  if (type === 'plain_text') {
    return readMrkdwn(text, {
      angles: false,
      autoLinks: false,
      names: false,
      marks: false,
      emoji: value.emoji !== false,
    });
  }
  if (type === 'markdown') return ofMarkdown(text);
  return ofRichText(type, value);
}

/** A `markdown` block is parsed in full; every sign of it counts. */
function ofMarkdown(text: string): Found[] {
  const links = [...text.matchAll(/!?\[[^\]]*\]\([^)]*\)/g)].map(([match]): Found => ({ kind: 'link', text: match }));
  const bold = [...text.matchAll(/\*\*[^*\n]+\*\*|__[^_\n]+__/g)].map(
    ([match]): Found => ({ kind: 'bold', text: match }),
  );
  return [
    ...links,
    ...bold,
    ...readMrkdwn(text, { angles: true, autoLinks: true, names: true, marks: true, emoji: true }),
  ];
}

function ofRichText(type: string, value: Json): Found[] {
  const found: Found[] = [];
  const kind = Object.hasOwn(ELEMENT_KINDS, type) ? ELEMENT_KINDS[type] : undefined;
  if (kind !== undefined) found.push({ kind, text: label(value) });
  const style = isJson(value.style) ? value.style : {};
  for (const [name, styleKind] of Object.entries(STYLES)) {
    if (style[name] === true) found.push({ kind: styleKind, text: label(value) });
  }
  return found;
}

function label(value: Json): string {
  const shown =
    value.text ?? value.url ?? value.user_id ?? value.usergroup_id ?? value.channel_id ?? value.range ?? value.name;
  return String(shown ?? value.type);
}
