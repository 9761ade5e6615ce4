import { KdebugError } from '../../../core/errors.ts';
import { defined } from '../../../lib/defined.ts';
import { isSlackUrl } from '../client.ts';
import type { ShortcutPayload } from '../payloads.ts';
import { clean } from '../views/plain.ts';

/** As long as a job may be, in bytes. */
const MAX_BYTES = 65_536;
/** Slack's three seconds must hold a store's answer too. */
const PATIENCE_MS = 1_500;
const TEXT = /\.(?:ya?ml|json|txt)$/i;

/** A file of a message, as Slack's payload has it. */
export type SharedFile = NonNullable<ShortcutPayload['message']['files']>[number];

/** The message's first file that may hold a job: by its name, and no longer than one may be. */
export const jobFile = (files: readonly SharedFile[] = []): SharedFile | undefined =>
  files.find(({ name, size }) => TEXT.test(name) && size <= MAX_BYTES);

export interface FileReading {
  readonly botToken: string;
  readonly apiUrl: string;
  /** The way to Slack. Default: the direct one. */
  readonly send?: typeof fetch;
}

/**
 * A shared file as text, read with the bot's token, which only Slack's own hosts are given (scope `files:read`). Redirects are not
 * followed: where the token is not enough, Slack sends to a page to sign in. @throws KdebugError slack_file_unreadable
 */
export async function readSharedFile({ url_private: url }: SharedFile, reading: FileReading): Promise<string> {
  if (!isSlackUrl(url, reading.apiUrl)) throw unreadable('foreign_address');
  try {
    const { send = fetch } = reading;
    const { status, body } = await send(url, {
      headers: { authorization: `Bearer ${reading.botToken}` },
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE_MS),
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
