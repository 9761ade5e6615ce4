import { Readable } from 'node:stream';
import { request } from 'undici';
import { KdebugError, toKdebugError } from '../../../core/errors.ts';
import type { Clock } from '../../../flow/ports/machine.ts';
import type { FileToShare } from '../../../flow/ports/slack.ts';
import { isSlackUrl } from '../client.ts';
import type { Speaker } from './messages.ts';

export interface Uploader extends Speaker {
  readonly apiUrl: string;
  readonly clock: Clock;
  /** Between two pieces of a body, and for the answer after it. */
  readonly silenceMs: number;
}

const MAX_TRIES = 3;
const RETRY_MS = 1_000;
/** Slack shows a snippet in the message itself, phones too; its docs: snippets "are limited to 1MB". */
const MOST_SNIPPET_BYTES = 1_000_000;
const IS_SNIPPET = /\.(?:log|txt)$/;

/**
 * Brings a file's bytes to Slack. Until they are shared nobody can see them, so this goes again freely. Answers with the file's id.
 * @throws KdebugError slack_refused (`empty_file`: Slack takes no zero bytes), slack_unanswered and the others of `Thread`
 */
export async function upload(uploader: Uploader, file: FileToShare): Promise<string> {
  if (file.bytes === 0)
    throw new KdebugError('slack_refused', { detail: 'empty_file', facts: { error: 'empty_file' } });
  return tried(uploader.clock, () => send(uploader, file));
}

/** Up to three tries while the answer is unclear. */
export async function tried<T>(clock: Clock, attempt: (isFirst: boolean) => Promise<T>): Promise<T> {
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
    client.files.getUploadURLExternal({ filename: file.filename, length: file.bytes, ...snippetOf(file) }),
  );
  if (!upload_url || !file_id) throw new KdebugError('slack_unanswered', { facts: { kind: 'no_upload_url' } });
  if (!isSlackUrl(upload_url, apiUrl)) {
    throw new KdebugError('slack_refused', { detail: 'foreign_upload_url', facts: { error: 'foreign_upload_url' } });
  }
  await sendBytes(upload_url, file, way);
  return file_id;
}

const snippetOf = ({ filename, bytes }: FileToShare): { snippet_type?: 'text' } =>
  bytes <= MOST_SNIPPET_BYTES && IS_SNIPPET.test(filename) ? { snippet_type: 'text' } : {};

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
