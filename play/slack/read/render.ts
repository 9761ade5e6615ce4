import { isJson } from '../api/args.ts';
import type { Json, StoredMessage } from '../state/message.ts';
import type { Team } from '../state/team.ts';

/** Blocks as a person reads them, in plain lines. Buttons are `[Approve]`, mentions are names, code keeps its letters. */
export function renderBlocks(team: Team, blocks: readonly Json[]): string[] {
  return blocks.flatMap((block) => renderBlock(team, block));
}

/**
 * A message's `text` as shown. With `mrkdwn: false` its markup is not read ("Formatting text for app surfaces"), by the stricter reading also
 * no mention: an id stays an id.
 */
export const renderTopText = (team: Team, { text, mrkdwn }: Pick<StoredMessage, 'text' | 'mrkdwn'>): string =>
  mrkdwn === false ? decoded(text) : renderMrkdwn(team, text);

/** mrkdwn text as shown: mentions by name, links by label, entities decoded once. */
export function renderMrkdwn(team: Team, text: string): string {
  const shown = text.replace(/<([^<>|]+)(?:\|([^<>]*))?>/g, (_match, target: string, label: string | undefined) =>
    renderAngle(team, target, label),
  );
  return decoded(shown);
}

const decoded = (text: string): string => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

function renderAngle(team: Team, target: string, label: string | undefined): string {
  if (target.startsWith('@')) return `@${personName(team, target.slice(1))}`;
  if (target.startsWith('#')) return `#${team.channels[target.slice(1)]?.name ?? label ?? target.slice(1)}`;
  if (target.startsWith('!subteam^')) return groupName(team, target.slice('!subteam^'.length));
  if (target.startsWith('!date^')) return label ?? target;
  if (target.startsWith('!')) return `@${target.slice(1)}`;
  return label ?? target;
}

export function personName(team: Team, id: string): string {
  return team.users[id]?.name ?? id;
}

function groupName(team: Team, id: string): string {
  return `@${team.usergroups[id]?.handle ?? id}`;
}

function list(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isJson) : [];
}

function renderText(team: Team, value: unknown): string {
  if (!isJson(value)) return '';
  const text = String(value.text ?? '');
  return value.type === 'mrkdwn' ? renderMrkdwn(team, text) : text;
}

type Renderer = (team: Team, block: Json) => string[];

const RENDERERS: Readonly<Record<string, Renderer>> = {
  header: (team, block) => [renderText(team, block.text)],
  section: (team, block) => {
    const fields = list(block.fields).map((field) => renderText(team, field).replaceAll('\n', ' '));
    const accessory = isJson(block.accessory) ? [renderElement(team, block.accessory)] : [];
    return [...lines(renderText(team, block.text)), ...fields, ...accessory];
  },
  context: (team, block) =>
    lines(
      list(block.elements)
        .map((one) => renderElement(team, one))
        .join('  '),
    ),
  divider: () => ['────'],
  data_visualization: (_team, block) => {
    const { series } = isJson(block.chart) ? block.chart : {};
    const values = (one: Json): string =>
      list(one.data)
        .map(({ value }) => String(value))
        .join(' ');
    return [`(chart) ${String(block.title)}`, ...list(series).map((one) => `  ${String(one.name)}: ${values(one)}`)];
  },
  actions: (team, block) => [
    list(block.elements)
      .map((one) => renderElement(team, one))
      .join(' '),
  ],
  image: (_team, block) => [`(image: ${String(block.alt_text)})`],
  markdown: (_team, block) => lines(String(block.text)),
  rich_text: (team, block) => list(block.elements).flatMap((part) => renderPart(team, part)),
  input: (team, block) => [`${renderText(team, block.label)}: ____`],
  table: (team, block) =>
    (Array.isArray(block.rows) ? block.rows : []).map((row) =>
      list(row)
        .map((cell) => renderCell(team, cell))
        .join(' | '),
    ),
};

function renderBlock(team: Team, block: Json): string[] {
  const type = String(block.type);
  const renderer = Object.hasOwn(RENDERERS, type) ? RENDERERS[type] : undefined;
  return renderer?.(team, block) ?? [`(${type})`];
}

function renderElement(team: Team, element: Json): string {
  if (element.type === 'image') return `(image: ${String(element.alt_text)})`;
  if (element.type === 'button') return `[${renderText(team, element.text)}]`;
  if (element.type === 'mrkdwn' || element.type === 'plain_text') return renderText(team, element);
  return `[${renderText(team, element.placeholder) || String(element.type)} ▾]`;
}

function renderCell(team: Team, cell: Json): string {
  return cell.type === 'rich_text' ? renderBlock(team, cell).join(' ') : String(cell.text ?? '');
}

function renderPart(team: Team, part: Json): string[] {
  if (part.type === 'rich_text_list') {
    const mark = (index: number) => (part.style === 'ordered' ? `${index + 1}.` : '•');
    return list(part.elements).map((item, index) => `${mark(index)} ${renderInline(team, item)}`);
  }
  const body = lines(renderInline(team, part));
  if (part.type === 'rich_text_preformatted') return body.map((line) => `│ ${line}`);
  return part.type === 'rich_text_quote' ? body.map((line) => `> ${line}`) : body;
}

function renderInline(team: Team, part: Json): string {
  return list(part.elements)
    .map((one) => renderSpan(team, one))
    .join('');
}

/** Those that kdebug uses, as they look. */
const EMOJI: ReadonlyMap<string, string> = new Map([
  ['hourglass_flowing_sand', '⏳'],
  ['white_check_mark', '✅'],
  ['x', '❌'],
  ['warning', '⚠️'],
  ['arrow_forward', '▶️'],
  ['closed_lock_with_key', '🔐'],
  ['checkered_flag', '🏁'],
]);

const SPANS: Readonly<Record<string, (team: Team, span: Json) => string>> = {
  user: (team, span) => `@${personName(team, String(span.user_id))}`,
  usergroup: (team, span) => groupName(team, String(span.usergroup_id)),
  channel: (team, span) => `#${team.channels[String(span.channel_id)]?.name ?? String(span.channel_id)}`,
  broadcast: (_team, span) => `@${String(span.range)}`,
  emoji: (_team, span) => EMOJI.get(String(span.name)) ?? `:${String(span.name)}:`,
  date: (_team, span) => String(span.fallback ?? span.timestamp),
  link: (_team, span) => String(span.text ?? span.url),
};

function renderSpan(team: Team, span: Json): string {
  const type = String(span.type);
  const special = Object.hasOwn(SPANS, type) ? SPANS[type] : undefined;
  return special?.(team, span) ?? String(span.text ?? '');
}

/** Lines without the empty one at the end; no lines for no text. */
function lines(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}
