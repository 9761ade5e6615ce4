import type {
  ActionsBlock,
  Button as ButtonElement,
  KnownBlock,
  PlainTextElement,
  RichTextSection,
} from '@slack/types';
import { linkName } from '../../../core/actions.ts';
import type { Button, Fact, LinkButton, Part, Span } from '../../../core/say/message/message.ts';
import {
  MAX_BUTTON_LABEL,
  MAX_BUTTON_URL,
  MAX_BUTTON_VALUE,
  MAX_BUTTONS,
  MAX_CONFIRM_BUTTON,
  MAX_CONFIRM_TEXT,
  MAX_CONFIRM_TITLE,
  MAX_HEADER,
  MAX_TEXT,
} from '../limits.ts';
import { chartBlock, type MessageBlock } from './chart.ts';
import { clean, cleanLine, type Room, shorten, shortenMiddle } from './plain.ts';
import { richText, smallPrint, wordsOf } from './spans.ts';
import { tableBlocks } from './table.ts';

/** One line of plain text of 1 to `length` characters; marks a cut. */
export const plain = (text: string, length: number): PlainTextElement => ({
  type: 'plain_text',
  text: shorten(cleanLine(text.slice(0, MAX_TEXT)), { weight: Number.POSITIVE_INFINITY, length }) || '…',
  emoji: false,
});

/** Empty if there is nothing to show. */
export function blocksOf(part: Part, room: Room): MessageBlock[] {
  switch (part.kind) {
    case 'heading':
      return cleanLine(part.text) === '' ? [] : [{ type: 'header', text: plain(part.text, MAX_HEADER) }];
    case 'paragraph':
      return section(part.spans, room);
    case 'list':
      return list(part.items, room);
    case 'facts':
      return facts(part.facts, room);
    case 'preformatted':
      return preformatted(part.text, room);
    case 'table':
      return tableBlocks(part, room);
    case 'chart':
      return [chartBlock(part)];
    case 'note':
      return note(part.spans, room);
    case 'actions':
      return actions(part.buttons);
    case 'links':
      return links(part.links);
  }
}

function section(spans: readonly Span[], room: Room): KnownBlock[] {
  const { elements } = richText(spans, room);
  return elements.length === 0 ? [] : [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }];
}

function list(items: readonly (readonly Span[])[], room: Room): KnownBlock[] {
  const sections: RichTextSection[] = [];
  let left = room;
  for (const [index, item] of items.entries()) {
    const { elements, left: after } = richText(item, left);
    const enough = after.weight < 300 || after.length < 300;
    if (elements.length > 0) sections.push({ type: 'rich_text_section', elements });
    left = { weight: after.weight - 60, length: after.length };
    if (!enough || index === items.length - 1) continue;
    sections.push({
      type: 'rich_text_section',
      elements: [{ type: 'text', text: `… ${items.length - index - 1} more` }],
    });
    break;
  }
  if (sections.length === 0) return [];
  return [{ type: 'rich_text', elements: [{ type: 'rich_text_list', style: 'bullet', elements: sections }] }];
}

function facts(all: readonly Fact[], room: Room): KnownBlock[] {
  const spans = all.flatMap((fact, index): Span[] => [
    { kind: 'strong', text: `${index === 0 ? '' : '\n'}${cleanLine(fact.label)}` },
    { kind: 'text', text: '  ' },
    ...fact.value,
  ]);
  return section(spans, room);
}

function preformatted(text: string, room: Room): KnownBlock[] {
  const shown = shortenMiddle(clean(text), room);
  if (shown.trim() === '') return [];
  return [
    { type: 'rich_text', elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text: shown }] }] },
  ];
}

function note(spans: readonly Span[], room: Room): KnownBlock[] {
  const elements = smallPrint(spans, room);
  return elements.length === 0 ? [] : [{ type: 'context', elements }];
}

/** `action_id` must be unique in its block, so a second button with the same action starts a new block. */
function actions(buttons: readonly Button[]): KnownBlock[] {
  const rows: ButtonElement[][] = [];
  for (const button of buttons.filter(isSendable).slice(0, MAX_BUTTONS)) {
    const row = rows.find((others) => others.every((other) => other.action_id !== button.action));
    if (row) row.push(buttonElement(button));
    else rows.push([buttonElement(button)]);
  }
  return rows.map((elements): ActionsBlock => ({ type: 'actions', elements }));
}

/** Slack refuses an empty value, and a truncated id would name another run. */
const isSendable = ({ value }: Button): boolean => value !== '' && value.length <= MAX_BUTTON_VALUE;

/** Only screen readers get it, so it is no markup. */
const spokenText = (spans: readonly Span[]): string => plain(spans.map(wordsOf).join(''), MAX_BUTTON_LABEL).text;

function links(all: readonly LinkButton[]): KnownBlock[] {
  const elements = all
    .filter(({ url }) => url.length <= MAX_BUTTON_URL)
    .slice(0, MAX_BUTTONS)
    .map(({ label, url }, index) => ({
      type: 'button' as const,
      action_id: linkName(index),
      text: plain(label, MAX_BUTTON_LABEL),
      url,
    }));
  return elements.length === 0 ? [] : [{ type: 'actions', elements }];
}

function buttonElement({ action, label, spoken = [], value, style, confirm }: Button): ButtonElement {
  return {
    type: 'button',
    action_id: action,
    text: plain(label, MAX_BUTTON_LABEL),
    value,
    ...(spoken.length > 0 ? { accessibility_label: spokenText(spoken) } : {}),
    ...(style ? { style } : {}),
    ...(confirm
      ? {
          confirm: {
            title: plain(confirm.title, MAX_CONFIRM_TITLE),
            text: plain(confirm.text, MAX_CONFIRM_TEXT),
            confirm: plain(confirm.yes, MAX_CONFIRM_BUTTON),
            deny: plain(confirm.no, MAX_CONFIRM_BUTTON),
          },
        }
      : {}),
  };
}
