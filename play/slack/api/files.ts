import type { Json, StoredFile } from '../state/message.ts';
import type { SlackState } from '../state/state.ts';
import { writableChannel } from './access.ts';
import { isJson, optional, required, structured, wholeNumber } from './args.ts';
import { botMessage, threadRoot } from './chat.ts';
import { readBlocks } from './content.ts';
import type { Call, Method } from './method.ts';
import { shownFile, withBlockIds } from './shown.ts';
import { invalidArguments, SlackError } from './slack-error.ts';

const SNIPPET_LIMIT = 1024 * 1024;

function uploadUrl({ slack, args, origin }: Call): Json {
  const name = required(args, 'filename');
  const size = wholeNumber(args, 'length');
  // "Typically only occurs when the `length` provided is 0."
  if (size === undefined || size <= 0) throw new SlackError('missing_argument');
  if ((optional(args, 'alt_txt')?.length ?? 0) > 1000) throw new SlackError('alt_txt_too_large');
  const snippetType = optional(args, 'snippet_type');
  if (snippetType !== undefined && size > SNIPPET_LIMIT) throw new SlackError('snippet_too_large');
  const id = slack.nextId('F');
  const createdAtMs = slack.now();
  const snippet = snippetType === undefined ? {} : { snippetType };
  slack.files.set(id, { id, name, title: name, size, createdAtMs, state: 'awaiting-bytes', shares: [], ...snippet });
  return { upload_url: `${origin}/upload/v1/${id}`, file_id: id };
}

function uploadedFiles(call: Call): { file: StoredFile; title: string | undefined }[] {
  const given = structured(call.args, 'files', 'invalid_arguments');
  if (!Array.isArray(given) || given.length === 0) throw invalidArguments('missing required field: files');
  return given.map((one: unknown, index) => {
    if (!isJson(one) || typeof one.id !== 'string')
      throw invalidArguments(`missing required field: id [json-pointer:/files/${index}]`);
    const file = call.slack.files.get(one.id);
    if (file?.state !== 'uploaded') throw new SlackError('file_not_found');
    return { file, title: typeof one.title === 'string' ? one.title : undefined };
  });
}

function complete(call: Call): Json {
  const { slack, args } = call;
  const uploads = uploadedFiles(call);
  const wanted = [optional(args, 'channel_id') ?? optional(args, 'channels') ?? '']
    .join(',')
    .split(',')
    .filter(Boolean);
  const channels = wanted.map((id) => writableChannel(call, id));
  const roots = channels.map((channel) => threadRoot(slack, channel.id, args));
  const blocks = readBlocks(args);
  for (const { file, title } of uploads) {
    file.title = title ?? file.name;
    file.state = 'complete';
    slack.tell({ kind: 'file', file });
  }
  channels.forEach((channel, index) => {
    const message = botMessage(slack, channel.id, roots[index]);
    message.text = optional(args, 'initial_comment') ?? '';
    // "If the initial_comment field is provided, the blocks field is ignored."
    message.blocks = message.text === '' ? withBlockIds(slack, blocks ?? []) : [];
    message.files = uploads.map(({ file }) => file.id);
    for (const { file } of uploads) file.shares.push(shareOf(message));
    slack.post(message);
  });
  return { files: uploads.map(({ file }) => withoutShares(slack, file)) };
}

function shareOf({
  channel,
  ts,
  threadTs,
}: {
  channel: string;
  ts: string;
  threadTs?: string;
}): StoredFile['shares'][number] {
  return { channel, ts, ...(threadTs === undefined ? {} : { threadTs }) };
}

/** Slack shares in the background: the answer never says where the file went, `files.info` does. */
function withoutShares(slack: SlackState, file: StoredFile): Json {
  return { ...shownFile(slack, file), shares: {}, channels: [] };
}

function info({ slack, args }: Call): Json {
  const file = slack.files.get(required(args, 'file'));
  if (file === undefined || file.state === 'awaiting-bytes') throw new SlackError('file_not_found');
  return { file: shownFile(slack, file), comments: [], response_metadata: { next_cursor: '' } };
}

const write = ['files:write'];

/** docs.slack.dev: files.* (upload in three steps; the upload itself is served in serve/upload.ts) */
export const FILE_METHODS: readonly Method[] = [
  { name: 'files.getUploadURLExternal', token: 'bot', scopes: write, tier: 'tier4', run: uploadUrl },
  { name: 'files.completeUploadExternal', token: 'bot', scopes: write, tier: 'tier4', run: complete },
  { name: 'files.info', token: 'bot', scopes: ['files:read'], tier: 'tier4', run: info },
];
