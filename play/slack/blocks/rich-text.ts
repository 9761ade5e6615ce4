import { address } from './composition.ts';
import { boolean, byType, type Check, integer, list, object, oneOf, pattern, string, typed } from './shape.ts';

/** `rich_text` as documented: sections, lists, quotes and preformatted parts of typed elements; nothing empty. */
const style = object({
  optional: {
    bold: boolean,
    italic: boolean,
    strike: boolean,
    code: boolean,
    underline: boolean,
    highlight: boolean,
    client_highlight: boolean,
    unlink: boolean,
  },
});

const MAX_LENGTH = 12_000;

const text = typed('text', { required: { text: string(MAX_LENGTH) }, optional: { style } });
const link = typed('link', {
  required: { url: address },
  optional: { text: string(MAX_LENGTH), unsafe: boolean, style },
});

const inline: Check = byType({
  text,
  link,
  user: typed('user', { required: { user_id: pattern(/^[UW][A-Z0-9]+$/) }, optional: { style } }),
  usergroup: typed('usergroup', { required: { usergroup_id: pattern(/^S[A-Z0-9]+$/) }, optional: { style } }),
  channel: typed('channel', { required: { channel_id: pattern(/^[CDG][A-Z0-9]+$/) }, optional: { style } }),
  team: typed('team', { required: { team_id: pattern(/^[TE][A-Z0-9]+$/) }, optional: { style } }),
  emoji: typed('emoji', {
    required: { name: string(100) },
    optional: { unicode: string(100), skin_tone: integer(2, 6), style, url: string(3000) },
  }),
  broadcast: typed('broadcast', { required: { range: oneOf('here', 'channel', 'everyone') }, optional: { style } }),
  color: typed('color', { required: { value: pattern(/^#[0-9A-Fa-f]{6}$/) } }),
  date: typed('date', {
    required: { timestamp: integer(0, 99_999_999_999), format: string(255) },
    optional: { url: address, fallback: string(1000), style },
  }),
});

const MANY = 1_000;
const inlines = list(inline, MANY, 0);
const border = integer(0, 1);

const section = typed('rich_text_section', { required: { elements: inlines } });

const part: Check = byType({
  rich_text_section: section,
  rich_text_list: typed('rich_text_list', {
    required: { style: oneOf('bullet', 'ordered'), elements: list(section, MANY) },
    optional: { indent: integer(0, 8), offset: integer(0, 1_000_000), border },
  }),
  rich_text_quote: typed('rich_text_quote', { required: { elements: inlines }, optional: { border } }),
  rich_text_preformatted: typed('rich_text_preformatted', {
    required: { elements: list(byType({ text, link }), MANY, 0) },
    optional: { border, language: string(100) },
  }),
});

export const richText: Check = typed('rich_text', {
  required: { elements: list(part, MANY) },
  optional: { block_id: string(255) },
});
