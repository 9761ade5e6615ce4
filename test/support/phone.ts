import { renderBlocks, renderMrkdwn } from '../../play/slack/read/render.ts';
import { defaultTeam } from '../../play/slack/state/team.ts';
import { view } from '../../src/adapters/slack/views/view.ts';
import type { Message } from '../../src/core/say/message/message.ts';
import { DEFAULT_NAMES, withNames } from '../../src/core/shown-names.ts';

/** Characters in a row of Slack's app, on a small phone. */
const WIDTH = 44;

const TEAM = defaultTeam('U0KDEBUG');

type Block = ReturnType<typeof view>['blocks'][number];

/** kdebug has looked up everybody. */
const NAMES = { ...DEFAULT_NAMES, nameOf: (userId: string) => TEAM.users[userId]?.real_name };

export const shownView = (message: Message) => view(withNames(message, NAMES));

/** One block of a message as people read it, in lines that are not yet wrapped. */
export interface Shown {
  readonly type: Block['type'];
  readonly lines: readonly string[];
}

/** A message's blocks as Slack's app shows them, with times in UTC. */
export const shownBlocks = (message: Message): readonly Shown[] =>
  shownView(message).blocks.map((block) => ({ type: block.type, lines: renderBlocks(TEAM, [withTimes(block)]) }));

/** What a phone shows and a screen reader reads; a lock screen has the first line. */
export const notificationOf = (message: Message): string => renderMrkdwn(TEAM, shownView(message).text);

/** A message on a phone: first the notification, then each block, small print behind `~`. */
export function onPhone(message: Message): string {
  const blocks = shownBlocks(message).flatMap(({ type, lines }) =>
    lines.flatMap((line) => wrapped(line, type === 'context' ? '~ ' : '')),
  );
  const said = notificationOf(message).split('\n');
  return [...said.flatMap((line) => wrapped(line, '» ')), ...blocks].join('\n');
}

export function wrapped(line: string, prefix = ''): readonly string[] {
  const rows: string[] = [];
  let row = '';
  for (const word of line.split(/(?<= )/)) {
    if (row !== '' && (row + word).trimEnd().length > WIDTH - prefix.length) {
      rows.push(row);
      row = '';
    }
    row += word;
  }
  return [...rows, row].map((one) => `${prefix}${one}`.trimEnd());
}

/** Slack's two forms of a time, as the reader's app writes them. */
function withTimes(block: Block): Record<string, unknown> {
  return JSON.parse(
    JSON.stringify(block, (_key, value: unknown) => {
      if (typeof value === 'string')
        return value.replace(/<!date\^(\d+)\^([^|]+)\|[^>]*>/g, (_, at, format) => clock(Number(at), format));
      if (!isDate(value)) return value;
      return { type: 'text', text: clock(value.timestamp, value.format) };
    }),
  );
}

const isDate = (value: unknown): value is { readonly timestamp: number; readonly format: string } =>
  typeof value === 'object' && value !== null && 'type' in value && value.type === 'date';

function clock(seconds: number, format: string): string {
  const at = new Date(seconds * 1_000);
  const hours = at.getUTCHours();
  const time = `${hours % 12 || 12}:${String(at.getUTCMinutes()).padStart(2, '0')} ${hours < 12 ? 'AM' : 'PM'}`;
  return format.replace('{date_short_pretty}', 'Today').replace('{time}', time);
}
