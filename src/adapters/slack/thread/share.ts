import { Readable } from 'node:stream';
import { request } from 'undici';
import { KdebugError, type ReasonCode, toKdebugError } from '../../../core/errors.ts';
import type { ByFileName } from '../../../core/run/delivery.ts';
import type { Message } from '../../../core/say/message/message.ts';
import type { FileToShare, Shared } from '../../../flow/ports/files.ts';
import type { Destination, Sent } from '../../../flow/ports/slack.ts';
import { delayOf } from '../../../lib/backoff.ts';
import { type Clock, sleep } from '../../../lib/clock.ts';
import { defined } from '../../../lib/object.ts';
import { isSlackUrl } from '../client.ts';
import { withoutDrawings } from '../views/chart.ts';
import type { View } from '../views/view.ts';
import { findMessage, sharesFile } from './find.ts';
import { type Speaker, sayShaped } from './messages.ts';
import { whereShown } from './where-shown.ts';

interface ToShare {
  readonly messageOf: (refused: ByFileName) => Message;
  readonly files: readonly FileToShare[];
  readonly sure?: (() => Promise<void>) | undefined;
}

/** Uploaded, but nobody sees it yet. */
interface Uploaded {
  readonly id: string;
  readonly filename: string;
  readonly title: string;
}

interface Uploads {
  readonly uploaded: readonly Uploaded[];
  readonly refused: ByFileName;
}

/**
 * Uploads each file, then one call shows all of them with the message. Slack does not document what a repeated share does, so after an
 * unclear response this searches for the message first. The response does not locate the message; the file's record soon does. @throws as
 * `Thread`
 */
export async function share(
  uploader: Uploader,
  destination: Destination,
  { messageOf, files, sure }: ToShare,
): Promise<Shared> {
  const all = await uploadAll(uploader, files);
  const show = (some: Uploads) => showAll(uploader, destination, { ...some, messageOf, sure });
  return show(all).catch((thrown: unknown) => show(withoutForbidden(all, thrown)));
}

/**
 * Slack says only at the end, and not of which file, that the workspace forbids a type ("allowed_file_upload_types"). Then plain text goes
 * alone. @throws `thrown`, where it is another refusal or this helps nobody
 */
function withoutForbidden({ uploaded, refused }: Uploads, thrown: unknown): Uploads {
  const plain = uploaded.filter(({ filename }) => IS_SNIPPET.test(filename));
  const isForbidden = thrown instanceof KdebugError && thrown.facts.error === 'file_type_not_allowed';
  if (!isForbidden || plain.length === 0 || plain.length === uploaded.length) throw thrown;
  const others = uploaded.filter((file) => !plain.includes(file)).map(({ filename }) => [filename, thrown.code]);
  return { uploaded: plain, refused: { ...refused, ...Object.fromEntries(others) } };
}

async function showAll(
  uploader: Uploader,
  destination: Destination,
  { uploaded, refused, messageOf, sure }: Uploads & Omit<ToShare, 'files'>,
): Promise<Shared> {
  // By the wall clock: the search compares it with Slack's times.
  const sinceMs = uploader.clock.now();
  const firstId = uploaded[0]?.id ?? '';
  const isOurs = sharesFile(firstId);
  await tried(uploader.clock, async (isFirst) => {
    if (!isFirst && (await findMessage(uploader, { destination, sinceMs }, isOurs))) return;
    // Nobody has seen Slack show a table or a chart beside files, and it answers what it does not know there with an internal error.
    const show = sayShaped(withoutDrawings(messageOf(refused)), (shaped) =>
      complete(uploader, destination, { uploaded, shaped, sure }),
    );
    await (isFirst ? show : unlessShown(show));
  });
  const shown: Sent | undefined = await whereShown(uploader, destination, firstId);
  const sent = shown ?? (await findMessage(uploader, { destination, sinceMs }, isOurs));
  if (!sent) throw new KdebugError('slack_unanswered', { facts: { kind: 'not_shown' } });
  const { channelId, ts, ...landed } = sent;
  const ids = Object.fromEntries(uploaded.map(({ filename, id }) => [filename, id]));
  return { ref: { channelId, ts }, files: ids, refused, ...landed };
}

/** Slack may refuse one file and take the others. @throws KdebugError its refusal, if it takes none */
async function uploadAll(uploader: Uploader, files: readonly FileToShare[]): Promise<Uploads> {
  const uploaded: Uploaded[] = [];
  const refused: Record<string, string> = {};
  for (const [index, file] of files.entries()) {
    const { filename, title } = file;
    try {
      uploaded.push({ id: await upload(uploader, file), filename, title });
    } catch (thrown) {
      const { code } = toKdebugError(thrown);
      const isLastHope = uploaded.length === 0 && index === files.length - 1;
      if (code !== 'slack_refused' || isLastHope) throw thrown;
      refused[filename] = code;
    }
  }
  return { uploaded, refused };
}

async function complete(
  { client, poster }: Speaker,
  destination: Destination,
  { uploaded, shaped, sure }: Pick<Uploads, 'uploaded'> & Pick<ToShare, 'sure'> & { readonly shaped: View },
): Promise<void> {
  const { channelId, threadTs } = destination;
  const [first, ...others] = uploaded.map(({ id, title }) => ({ id, title }));
  if (!first) throw new KdebugError('internal_error', { detail: 'no files to share' });
  const call = { method: 'files.completeUploadExternal', lane: 'final', channelId, repeatable: false } as const;
  const show = poster.call(call, async () => {
    await sure?.();
    await client.files.completeUploadExternal({
      files: [first, ...others],
      channel_id: channelId,
      ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
      // Slack ignores the blocks beside a comment, and a phone shows only that. One block says no more.
      ...(shaped.blocks.length > 1 ? { blocks: shaped.blocks } : { initial_comment: shaped.text }),
    });
  });
  await show.catch((thrown: unknown) => {
    const code = thrown instanceof KdebugError ? codeOfSharing(thrown, threadTs !== undefined) : undefined;
    if (!(thrown instanceof KdebugError) || code === undefined) throw thrown;
    const { detail, facts } = thrown;
    throw new KdebugError(code, { ...defined({ detail }), facts, cause: thrown });
  });
}

/** The meaning of two words that differs for files; undefined: they mean the same as elsewhere. */
function codeOfSharing({ facts: { error } }: KdebugError, isReply: boolean): ReasonCode | undefined {
  // "User is not the owner of the file": the text may go where it belongs.
  if (error === 'access_denied') return 'slack_refused';
  // One word for a closed thread and a closed channel. In a thread, assume the thread: the caller then tries the channel.
  return error === 'posting_to_channel_denied' && isReply ? 'slack_thread_closed' : undefined;
}

/** After an unclear response: if Slack no longer knows the upload, it was shared but is not shown yet. */
async function unlessShown(show: Promise<void>): Promise<void> {
  try {
    await show;
  } catch (thrown) {
    if (!(thrown instanceof KdebugError) || thrown.facts.error !== 'file_not_found') throw thrown;
  }
}

export interface Uploader extends Speaker {
  readonly apiUrl: string;
  readonly clock: Clock;
  /** Longest silence between two pieces of a body, or before the response. */
  readonly silenceMs: number;
}

const MAX_TRIES = 3;
const BACK_OFF = { firstMs: 1_000, maxMs: 2_000 };
/** Slack shows a snippet in the message itself, on phones too; its docs: snippets "are limited to 1MB". */
const MAX_SNIPPET_BYTES = 1_000_000;
const IS_SNIPPET = /\.(?:log|txt)$/;

/**
 * Uploads a file and returns its id. Repeatable: nobody sees the file until it is shared.
 * @throws KdebugError slack_refused (`empty_file`: Slack rejects zero bytes), slack_unanswered and the others of `Thread`
 */
async function upload(uploader: Uploader, file: FileToShare): Promise<string> {
  if (file.bytes === 0)
    throw new KdebugError('slack_refused', { detail: 'empty_file', facts: { error: 'empty_file' } });
  return tried(uploader.clock, () => send(uploader, file));
}

/** Retries while the response is unclear. */
async function tried<T>(clock: Clock, attempt: (isFirst: boolean) => Promise<T>): Promise<T> {
  for (let count = 1; ; count += 1) {
    try {
      return await attempt(count === 1);
    } catch (thrown) {
      const error = toKdebugError(thrown);
      if (error.code !== 'slack_unanswered' || count === MAX_TRIES) throw error;
    }
    await sleep(clock, delayOf(BACK_OFF, count - 1));
  }
}

async function send({ client, poster, apiUrl, ...way }: Uploader, file: FileToShare): Promise<string> {
  const call = { method: 'files.getUploadURLExternal', lane: 'final', repeatable: false } as const;
  const { upload_url, file_id } = await poster.call(call, () =>
    client.files.getUploadURLExternal({
      filename: file.filename,
      length: file.bytes,
      ...snippetOf(file),
      ...altTextOf(file),
    }),
  );
  if (!upload_url || !file_id) throw new KdebugError('slack_unanswered', { facts: { kind: 'no_upload_url' } });
  if (!isSlackUrl(upload_url, apiUrl)) {
    throw new KdebugError('slack_refused', { detail: 'foreign_upload_url', facts: { error: 'foreign_upload_url' } });
  }
  await sendBytes(upload_url, file, way);
  return file_id;
}

const altTextOf = ({ altText }: FileToShare): { alt_txt?: string } => defined({ alt_txt: altText });

const snippetOf = ({ filename, bytes }: FileToShare): { snippet_type?: 'text' } =>
  bytes <= MAX_SNIPPET_BYTES && IS_SNIPPET.test(filename) ? { snippet_type: 'text' } : {};

async function sendBytes(
  url: string,
  file: FileToShare,
  { silenceMs, through }: Pick<Uploader, 'silenceMs' | 'through'>,
): Promise<void> {
  const body = Readable.from(file.open(), { objectMode: false });
  try {
    const answer = await request(url, {
      ...through,
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', 'content-length': String(file.bytes) },
      body,
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
    });
    await answer.body.dump();
    if (answer.statusCode !== 200)
      throw new KdebugError('slack_unanswered', { facts: { kind: `http_${answer.statusCode}` } });
  } catch (thrown) {
    if (thrown instanceof KdebugError) throw thrown;
    throw new KdebugError('slack_unanswered', { facts: { kind: 'network' }, cause: thrown });
  } finally {
    body.destroy();
  }
}
