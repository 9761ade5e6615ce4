import { blocksTooLong, checkMessageBlocks } from '../blocks/check.ts';
import type { Habits } from '../state/habits.ts';
import type { Json } from '../state/message.ts';
import { type Args, isJson, optional, structured } from './args.ts';
import { readAttachments } from './attachments.ts';
import { SlackError } from './slack-error.ts';

/** What a message says: at least one of the three. */
interface Content {
  readonly text: string | undefined;
  readonly blocks: Json[] | undefined;
  readonly attachments: Json[] | undefined;
}

/** `chat.postMessage` says "truncated" above 40,000 characters; this Slack refuses, so that nobody relies on it. */
export const POST_TEXT_LIMIT = 40_000;
/** `chat.update`, error `msg_too_long`: "The text field cannot exceed 4,000 characters". */
export const UPDATE_TEXT_LIMIT = 4_000;

/** "Limit this field to 12,000 characters." */
const MARKDOWN_TEXT_LIMIT = 12_000;

/**
 * @throws SlackError no_text, msg_too_long, markdown_text_conflict, invalid_blocks_format, invalid_blocks, msg_blocks_too_long, and those of
 * the attachments
 */
export function readContent(args: Args, textLimit: number, habits: Pick<Habits, 'withoutBlocks'>): Content {
  const markdown = optional(args, 'markdown_text');
  if (markdown !== undefined && [args.text, args.blocks].some((other) => other !== undefined && other !== ''))
    throw new SlackError('markdown_text_conflict');
  if (markdown !== undefined && markdown.length > MARKDOWN_TEXT_LIMIT) throw new SlackError('msg_too_long');
  const text = markdown ?? optional(args, 'text');
  const blocks = readBlocks(args, habits);
  const attachments = readAttachments(args);
  const isEmpty = (list: readonly Json[] | undefined): boolean => list === undefined || list.length === 0;
  if ((text === undefined || text.trim() === '') && isEmpty(blocks) && isEmpty(attachments))
    throw new SlackError('no_text');
  if (markdown === undefined && text !== undefined && text.length > textLimit) throw new SlackError('msg_too_long');
  return { text, blocks, attachments };
}

/** @throws SlackError */
export function readBlocks(args: Args, { withoutBlocks }: Pick<Habits, 'withoutBlocks'>): Json[] | undefined {
  const value = structured(args, 'blocks', 'invalid_blocks_format');
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw new SlackError('invalid_blocks_format');
  const faults = checkMessageBlocks(value, withoutBlocks);
  if (faults.length > 0) throw invalidBlocks(faults);
  if (blocksTooLong(value)) throw new SlackError('msg_blocks_too_long');
  return value.filter(isJson);
}

/** Slack answers with the faults twice: in `errors`, and with a mark in `response_metadata`. */
function invalidBlocks(faults: readonly string[]): SlackError {
  const messages = faults.map((fault) => `[ERROR] ${fault}`);
  return new SlackError('invalid_blocks', { errors: [...faults], response_metadata: { messages } });
}

const EVENT_TYPE = /^[A-Za-z0-9_.-]{1,255}$/;
const METADATA_LIMIT = 16_000;

/**
 * Message metadata: `{event_type, event_payload}` with a payload of plain values, or of objects (and lists of them)
 * with plain values. `null` stands for `{}`: "remove what is there".
 * @throws SlackError invalid_metadata_format, metadata_too_large
 */
export function readMetadata(args: Args): Json | null | undefined {
  const value = structured(args, 'metadata', 'invalid_metadata_format');
  if (value === undefined) return undefined;
  if (!isJson(value)) throw new SlackError('invalid_metadata_format');
  if (Object.keys(value).length === 0) return null;
  const { event_type: type, event_payload: payload, ...unknown } = value;
  const typed = typeof type === 'string' && EVENT_TYPE.test(type);
  if (!typed || !isJson(payload) || Object.keys(unknown).length > 0) throw new SlackError('invalid_metadata_format');
  if (!Object.values(payload).every(isPayloadValue)) throw new SlackError('invalid_metadata_format');
  if (JSON.stringify(value).length > METADATA_LIMIT) throw new SlackError('metadata_too_large');
  return { event_type: type, event_payload: payload };
}

function isPlain(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function isPayloadValue(value: unknown): boolean {
  if (isPlain(value)) return true;
  if (Array.isArray(value)) return value.every((item) => isPlain(item) || isFlat(item));
  return isFlat(value);
}

function isFlat(value: unknown): boolean {
  return isJson(value) && Object.values(value).every(isPlain);
}
