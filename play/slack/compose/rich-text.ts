import type { Json } from '../state/message.ts';

/** A person's `text` as the `rich_text` block that Slack sends beside it. */
export function richTextOf(text: string, blockId: string): Json {
  const elements = text
    .split(/(```[\s\S]*?```)/)
    .filter((part) => part !== '')
    .flatMap((part) => (part.startsWith('```') ? [preformatted(part)] : linesOf(part.replace(/^\n|\n$/g, ''))));
  return { type: 'rich_text', block_id: blockId, elements };
}

function preformatted(part: string): Json {
  const text = decoded(part.slice(3, -3)).replace(/^\n|\n$/g, '');
  return { type: 'rich_text_preformatted', elements: text === '' ? [] : [{ type: 'text', text }], border: 0 };
}

/** Lines in a row of one kind are one part: bullets of one depth, quotes, or plain text. */
function linesOf(part: string): Json[] {
  const parts: Json[] = [];
  let run: string[] = [];
  let kind = '';
  const end = (): void => {
    if (run.length > 0) parts.push(partOf(kind, run));
    run = [];
  };
  for (const line of part.split('\n')) {
    const next = kindOf(line);
    if (next !== kind) end();
    kind = next;
    run.push(line);
  }
  end();
  return parts;
}

function kindOf(line: string): string {
  const bullet = /^( *)[•◦▪]\u{FE0E}? /u.exec(line);
  if (bullet !== null) return `list ${(bullet[1] ?? '').length / 4}`;
  return line.startsWith('&gt;') ? 'quote' : 'text';
}

function partOf(kind: string, lines: readonly string[]): Json {
  if (kind.startsWith('list')) {
    const items = lines.map((line) => section(line.replace(/^ *[•◦▪]\u{FE0E}? /u, '')));
    return { type: 'rich_text_list', style: 'bullet', indent: Number(kind.slice(5)), elements: items, border: 0 };
  }
  if (kind === 'quote') {
    return { type: 'rich_text_quote', elements: spans(lines.map((line) => line.replace(/^&gt; ?/, '')).join('\n')) };
  }
  return section(lines.join('\n'));
}

function section(text: string): Json {
  return { type: 'rich_text_section', elements: spans(text) };
}

const SPAN = /<([^<>|]+)(?:\|([^<>]*))?>|`([^`\n]+)`|(?<![\w*])\*([^*\n]+)\*(?![\w*])|(?<!\w):([a-z0-9_+'-]+):(?!\w)/g;

function spans(text: string): Json[] {
  const found: Json[] = [];
  let from = 0;
  for (const match of text.matchAll(SPAN)) {
    if (match.index > from) found.push(plain(text.slice(from, match.index)));
    found.push(spanOf(match));
    from = match.index + match[0].length;
  }
  if (from < text.length) found.push(plain(text.slice(from)));
  return found;
}

function spanOf([, target, label, code, bold, emoji]: RegExpMatchArray): Json {
  if (code !== undefined) return { ...plain(code), style: { code: true } };
  if (bold !== undefined) return { ...plain(bold), style: { bold: true } };
  if (emoji !== undefined) return { type: 'emoji', name: emoji };
  const id = target?.slice(1);
  if (target?.startsWith('@')) return { type: 'user', user_id: id };
  if (target?.startsWith('#')) return { type: 'channel', channel_id: id };
  if (target?.startsWith('!subteam^')) return { type: 'usergroup', usergroup_id: target.slice('!subteam^'.length) };
  if (target?.startsWith('!')) return { type: 'broadcast', range: id };
  return { type: 'link', url: decoded(target ?? ''), ...(label === undefined ? {} : { text: decoded(label) }) };
}

const plain = (text: string): Json => ({ type: 'text', text: decoded(text) });

function decoded(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
