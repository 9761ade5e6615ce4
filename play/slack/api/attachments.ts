import { checkMessageBlocks } from '../blocks/check.ts';
import { isAddress } from '../blocks/composition.ts';
import type { Json } from '../state/message.ts';
import { type Args, isJson, structured } from './args.ts';
import { SlackError } from './slack-error.ts';

/** docs.slack.dev, "Legacy: secondary message attachments": a message may have 100. */
const MAX_ATTACHMENTS = 100;
/** "A maximum of 5 actions per attachment" (docs.slack.dev, "Legacy: Interactive message field guide"). */
const MAX_ACTIONS = 5;
/** [guess] The limit is documented nowhere; 200 kB were refused. In characters of JSON. */
const MAX_PAYLOAD = 100_000;

/**
 * The attachments of a message, each with the `id` that Slack gives it, and so with its actions.
 * @throws SlackError invalid_attachments, too_many_attachments, attachment_payload_limit_exceeded
 */
export function readAttachments(args: Args): Json[] | undefined {
  const value = structured(args, 'attachments', 'invalid_attachments');
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || !value.every(isJson)) throw new SlackError('invalid_attachments');
  if (value.length > MAX_ATTACHMENTS) throw new SlackError('too_many_attachments');
  if (JSON.stringify(value).length > MAX_PAYLOAD) throw new SlackError('attachment_payload_limit_exceeded');
  if (!value.every(hasBlocks) || !value.every(hasActions)) throw new SlackError('invalid_attachments');
  return value.map((one, index) => ({ ...one, id: index + 1, ...numbered(one.actions) }));
}

const hasBlocks = ({ blocks }: Json): boolean =>
  blocks === undefined || (Array.isArray(blocks) && checkMessageBlocks(blocks).length === 0);

/**
 * What the field guide requires. [guess] Slack refuses the message; others say that it drops the action, or shows a button that is dead. A link
 * needs an address in place of a name, and no `callback_id` ("Attaching link buttons").
 */
function hasActions({ actions, callback_id: callbackId }: Json): boolean {
  if (actions === undefined) return true;
  if (!Array.isArray(actions) || actions.length > MAX_ACTIONS || !actions.every(isJson)) return false;
  const isLink = ({ url }: Json): boolean => url !== undefined;
  const isWhole = (action: Json): boolean =>
    isFilled(action.text) && (isLink(action) ? isAddress(String(action.url)) : isFilled(action.name));
  return actions.every(isWhole) && (actions.every(isLink) || isFilled(callbackId));
}

const isFilled = (value: unknown): boolean => typeof value === 'string' && value !== '';

const numbered = (actions: unknown): Json =>
  Array.isArray(actions)
    ? { actions: actions.filter(isJson).map((action, index) => ({ ...action, id: String(index + 1) })) }
    : {};
