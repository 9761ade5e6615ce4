import { Readable } from 'node:stream';
import { request } from 'undici';
import { KdebugError, toKdebugError } from '../../../core/errors.ts';
import type { Clock } from '../../../flow/ports/machine.ts';
import type { FileToShare, Place } from '../../../flow/ports/slack.ts';
import { isSlackUrl } from '../client.ts';
import { findMessage, sharesFile } from './find.ts';
import type { Speaker } from './messages.ts';

export interface Uploader extends Speaker {
  readonly apiUrl: string;
  readonly clock: Clock;
  /** Between two pieces of a body, and for the answer after it. */
  readonly silenceMs: number;
}

/** The bytes are there; nobody sees them yet. */
interface Uploaded {
  readonly id: string;
  readonly title: string;
  readonly sure: FileToShare['sure'] | undefined;
}

const MAX_TRIES = 3;
const RETRY_MS = 1_000;

/**
 * Shares a file: a URL, the bytes as a stream, and the share. Until the share nothing can be seen, so the first two steps
 * go again freely. Slack's docs do not say what a repeated share of the same file does, so after an unclear answer
 * the thread is looked at first.
 * @throws KdebugError slack_refused (`empty_file`: Slack takes no zero bytes), slack_unanswered and the others of `Thread`
 */
export async function upload(uploader: Uploader, place: Place, file: FileToShare): Promise<string> {
  if (file.bytes === 0)
    throw new KdebugError('slack_refused', { detail: 'empty_file', facts: { error: 'empty_file' } });
  const startedAtMs = uploader.clock.now();
  const fileId = await tried(uploader.clock, () => send(uploader, file));
  await tried(uploader.clock, async (isFirst) => {
    const uploaded = { id: fileId, title: file.title, sure: file.sure };
    if (isFirst) return share(uploader, place, uploaded);
    if (await findMessage(uploader, { place, sinceMs: startedAtMs }, sharesFile(fileId))) return;
    await shareAgain(uploader, place, uploaded);
  });
  return fileId;
}

/** Up to three tries while the answer is unclear. */
async function tried<T>(clock: Clock, attempt: (isFirst: boolean) => Promise<T>): Promise<T> {
  for (let count = 1; ; count += 1) {
    try {
      return await attempt(count === 1);
    } catch (thrown) {
      const error = toKdebugError(thrown);
      if (error.code !== 'slack_unanswered' || count === MAX_TRIES) throw error;
    }
    await new Promise<void>((resolve) => clock.after(RETRY_MS * count, resolve));
  }
}

async function send({ client, poster, apiUrl, ...way }: Uploader, file: FileToShare): Promise<string> {
  const call = { method: 'files.getUploadURLExternal', lane: 'final', repeatable: false } as const;
  const { upload_url, file_id } = await poster.call(call, () =>
    client.files.getUploadURLExternal({ filename: file.filename, length: file.bytes }),
  );
  if (!upload_url || !file_id) throw new KdebugError('slack_unanswered', { facts: { kind: 'no_upload_url' } });
  if (!isSlackUrl(upload_url, apiUrl)) {
    throw new KdebugError('slack_refused', { detail: 'foreign_upload_url', facts: { error: 'foreign_upload_url' } });
  }
  await sendBytes(upload_url, file, way);
  return file_id;
}

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

async function share({ client, poster }: Speaker, place: Place, { id, title, sure }: Uploaded): Promise<void> {
  const { channelId, threadTs } = place;
  const files: [{ id: string; title: string }] = [{ id, title }];
  const call = { method: 'files.completeUploadExternal', lane: 'final', channelId, repeatable: false } as const;
  await poster.call(call, async () => {
    await sure?.();
    await client.files.completeUploadExternal({
      files,
      channel_id: channelId,
      ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
    });
  });
}

/** After an unclear answer: an upload that Slack knows no longer has been shared, only not yet shown. */
async function shareAgain(speaker: Speaker, place: Place, file: Uploaded): Promise<void> {
  try {
    await share(speaker, place, file);
  } catch (thrown) {
    if (!(thrown instanceof KdebugError) || thrown.facts.error !== 'file_not_found') throw thrown;
  }
}
