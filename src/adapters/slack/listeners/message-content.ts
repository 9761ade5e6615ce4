import { KdebugError } from '../../../core/errors.ts';
import { defined, isObject } from '../../../lib/object.ts';
import { isSlackUrl } from '../client.ts';
import { MAX_MESSAGE_TEXT } from '../limits.ts';
import type { ShortcutPayload } from '../payloads.ts';
import { clean, firstOf } from '../views/plain.ts';

/** The parts of a message that hold its words. Each may have any shape. */
export interface WordedMessage {
  readonly text?: string | undefined;
  readonly blocks?: unknown;
  readonly attachments?: unknown;
}

/** Slack's advice is 20, its limit 100 ("Legacy: secondary message attachments"). */
const MAX_ATTACHMENTS = 100;

/**
 * A message's words as plain text, at most 4,000 characters: its blocks, its text if different, its attachments (alerts often have nothing
 * else). Links become their label; text markup stays. Accepts any shape.
 */
export function messageText({ text, blocks, attachments }: WordedMessage): string {
  const attached = list(attachments).slice(0, MAX_ATTACHMENTS);
  const pieces = [wordsOf(blocks, 0), unmarked(text ?? ''), ...attached.map((one) => wordsOf(one, 0))];
  let joinedText = '';
  for (const raw of pieces) {
    const piece = clean(raw).trim();
    if (piece === '' || joinedText.includes(piece)) continue;
    joinedText = joinedText === '' ? piece : `${joinedText}\n${piece}`;
    if (joinedText.length >= MAX_MESSAGE_TEXT) break;
  }
  return firstOf(joinedText, { weight: Number.POSITIVE_INFINITY, length: MAX_MESSAGE_TEXT });
}

/** Rich text whose elements follow each other on one line. */
const INLINE = new Set(['rich_text_section', 'rich_text_preformatted', 'rich_text_quote']);
const WORDLESS = new Set(['button', 'image', 'overflow', 'static_select', 'emoji', 'user', 'usergroup', 'channel']);
/** In the order in which Slack shows them. */
const WORDED = ['pretext', 'author_name', 'title', 'text', 'fields', 'elements', 'value', 'rows', 'blocks', 'message'];

function wordsOf(node: unknown, depth: number): string {
  if (depth > MAX_DEPTH) return '';
  if (typeof node === 'string') return unmarked(node);
  if (Array.isArray(node)) return joined(node, '\n', depth);
  return isObject(node) ? wordsOfObject(node, String(node.type), depth) : '';
}

function wordsOfObject(node: Record<string, unknown>, type: string, depth: number): string {
  if (WORDLESS.has(type)) return '';
  // Rich text is never escaped.
  if (type === 'text' || type === 'link') return String(node.text ?? node.url ?? '');
  if (INLINE.has(type)) return joined(list(node.elements), '', depth);
  // A forwarded message stands in an attachment, whose text may be empty.
  const forwarded = node.text ? [] : [node.message_blocks];
  const words = joined([...WORDED.map((key) => node[key]), ...forwarded], '\n', depth);
  return words === '' && typeof node.fallback === 'string' ? unmarked(node.fallback) : words;
}

const joined = (nodes: readonly unknown[], by: string, depth: number): string =>
  nodes
    .map((node) => wordsOf(node, depth + 1))
    .filter((words) => words !== '')
    .join(by);

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Slack's `<…>` and its three entities (docs: "Formatting text"). */
export const unmarked = (text: string): string =>
  text
    .replace(/<(?:[^<>|]{0,3000}\|)?([^<>|]{0,3000})>/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

/** One more than a job may have, so that a longer job is refused and never cut. */
const MAX_ENTRIES = 65_537;
const MAX_DEPTH = 12;

/**
 * A message's first code block as typed, or that of a message that it forwards; undefined if there is none. Slack sends what people write as
 * rich text, with code blocks as elements. Messages of apps may have three backticks in their text instead.
 */
export function codeBlock({ text, blocks, attachments }: WordedMessage): string | undefined {
  const code = preformattedIn(blocks, 0) ?? fencedIn(text ?? '') ?? forwardedIn(attachments);
  const typed = code === undefined ? '' : clean(code).slice(0, MAX_ENTRIES);
  return typed.trim() === '' ? undefined : typed;
}

function forwardedIn(attachments: unknown): string | undefined {
  for (const { message_blocks: parts, text } of list(attachments).slice(0, MAX_ATTACHMENTS).filter(isObject)) {
    const blocks = list(parts).map((part) => isObject(part) && isObject(part.message) && part.message.blocks);
    const code = preformattedIn(blocks, 0) ?? fencedIn(typeof text === 'string' ? text : '');
    if (code !== undefined) return code;
  }
  return undefined;
}

function preformattedIn(node: unknown, depth: number): string | undefined {
  if (depth > MAX_DEPTH || typeof node !== 'object' || node === null) return undefined;
  if ('type' in node && node.type === 'rich_text_preformatted') return codeWordsOf(node);
  const below = Array.isArray(node) ? node : 'elements' in node ? [node.elements] : [];
  for (const child of below) {
    const found = preformattedIn(child, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Elements are texts and links, never escaped. A link's label is what the person typed. */
function codeWordsOf(node: object): string {
  const elements: readonly unknown[] = 'elements' in node && Array.isArray(node.elements) ? node.elements : [];
  return elements
    .map((element) => {
      if (typeof element !== 'object' || element === null) return '';
      if ('text' in element && typeof element.text === 'string') return element.text;
      return 'url' in element && typeof element.url === 'string' ? element.url : '';
    })
    .join('');
}

const FENCE = '```';
/** The language behind an opening fence, if we know it, and the rest of the line if blank. */
const LANGUAGE = /(?:ya?ml|json(?=[ \t]*\n))?[ \t]*\n?/y;

/** The text between the first two fences. Linear. */
function fencedIn(text: string): string | undefined {
  const open = text.indexOf(FENCE);
  if (open < 0) return undefined;
  LANGUAGE.lastIndex = open + FENCE.length;
  const start = open + FENCE.length + (LANGUAGE.exec(text)?.[0].length ?? 0);
  const close = text.indexOf(FENCE, start);
  return close < 0 ? undefined : unmarked(text.slice(start, close));
}

/** The maximum size of a job in bytes. */
const MAX_BYTES = 65_536;
/** Leaves time within Slack's three seconds for the store's answer. */
const READ_FILE_MS = 1_500;
const TEXT = /\.(?:ya?ml|json|txt)$/i;

export type SharedFile = NonNullable<ShortcutPayload['message']['files']>[number];

/** The message's first file that may hold a job, by name and size. */
export const jobFile = (files: readonly SharedFile[] = []): SharedFile | undefined =>
  files.find(({ name, size }) => TEXT.test(name) && size <= MAX_BYTES);

export interface FileReading {
  readonly botToken: string;
  readonly apiUrl: string;
  /** Default: no proxy. */
  readonly send?: typeof fetch;
}

/**
 * Reads a shared file as text with the bot's token (scope `files:read`). Sends the token only to Slack's own hosts. Follows no redirects:
 * if the token does not suffice, Slack redirects to a sign-in page. @throws KdebugError slack_file_unreadable
 */
export async function readSharedFile({ url_private: url }: SharedFile, reading: FileReading): Promise<string> {
  if (!isSlackUrl(url, reading.apiUrl)) throw unreadable('foreign_address');
  try {
    const { send = fetch } = reading;
    const { status, body } = await send(url, {
      headers: { authorization: `Bearer ${reading.botToken}` },
      redirect: 'manual',
      signal: AbortSignal.timeout(READ_FILE_MS),
    });
    if (status === 200 && body) return clean(await bounded(body));
    await body?.cancel();
    throw unreadable(`status ${status}`);
  } catch (thrown) {
    throw thrown instanceof KdebugError ? thrown : unreadable('no answer in time, or no text', thrown);
  }
}

async function bounded(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw unreadable('longer than it was said to be');
    chunks.push(chunk);
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
}

const unreadable = (detail: string, cause?: unknown): KdebugError =>
  new KdebugError('slack_file_unreadable', { detail, ...defined({ cause }) });
