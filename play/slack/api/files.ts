import type { Json, StoredFile, StoredMessage } from '../state/message.ts';
import type { SlackState } from '../state/state.ts';
import type { SlackChannel } from '../state/team.ts';
import { writableChannel } from './access.ts';
import { isJson, optional, required, structured, wholeNumber } from './args.ts';
import { botMessage, threadRoot } from './chat.ts';
import { readBlocks } from './content.ts';
import { recordShares } from './file-shares.ts';
import type { Call, Method } from './method.ts';
import { checkPosting } from './posting.ts';
import { shownFile, withBlockIds } from './shown.ts';
import { invalidArguments, SlackError } from './slack-error.ts';

/** "Snippets … are limited to 1MB": the smaller reading. */
const SNIPPET_LIMIT = 1_000_000;

/** "Add files up to 1 GB" (Slack's help). */
const FILE_LIMIT = 1024 ** 3;

/** Of Slack's list of file types those that are text. [guess] No others. */
const SNIPPET_TYPES: ReadonlySet<string> = new Set(
  (
    'text post auto c cpp csharp css csv diff dockerfile go groovy html java javascript json kotlin lua makefile markdown perl php powershell' +
    ' puppet python r ruby rust scala shell sql swift tsv typescript vb xml yaml'
  ).split(' '),
);

function uploadUrl({ slack, args, origin }: Call): Json {
  const name = required(args, 'filename');
  const size = wholeNumber(args, 'length');
  // "Typically only occurs when the `length` provided is 0."
  if (size === undefined || size <= 0) throw new SlackError('missing_argument');
  if (size > FILE_LIMIT) throw new SlackError('file_upload_size_restricted');
  const altText = optional(args, 'alt_txt');
  if ((altText?.length ?? 0) > 1000) throw new SlackError('alt_txt_too_large');
  const snippetType = optional(args, 'snippet_type');
  if (snippetType !== undefined && !SNIPPET_TYPES.has(snippetType)) throw new SlackError('unknown_snippet_type');
  if (snippetType !== undefined && size > SNIPPET_LIMIT) throw new SlackError('snippet_too_large');
  const id = slack.nextId('F');
  const createdAtMs = slack.now();
  const snippet = snippetType === undefined ? {} : { snippetType };
  const alt = altText === undefined ? {} : { altText };
  const file = { id, name, title: name, size, createdAtMs, ...snippet, ...alt };
  slack.files.set(id, { ...file, state: 'awaiting-bytes', shares: [] });
  return { upload_url: `${origin}/upload/v1/${id}`, file_id: id };
}

/** [guess] As many as a person may add to one message. */
const MAX_FILES = 10;

function uploadedFiles(call: Call): { file: StoredFile; title: string | undefined }[] {
  const given = structured(call.args, 'files', 'invalid_arguments');
  if (!Array.isArray(given) || given.length === 0) throw invalidArguments('missing required field: files');
  if (given.length > MAX_FILES) throw invalidArguments(`no more than ${MAX_FILES} items allowed [json-pointer:/files]`);
  return given.map((one: unknown, index) => {
    if (!isJson(one) || typeof one.id !== 'string')
      throw invalidArguments(`missing required field: id [json-pointer:/files/${index}]`);
    const file = call.slack.files.get(one.id);
    if (file?.state !== 'uploaded') throw new SlackError('file_not_found');
    return { file, title: typeof one.title === 'string' ? one.title : undefined };
  });
}

/** One id; `channels` takes several, and people. */
const CHANNEL_ID = /^[CGDZ][A-Z0-9]+$/;

function wantedChannels({ args }: Call): string[] {
  const one = optional(args, 'channel_id');
  if (one === undefined) return (optional(args, 'channels') ?? '').split(',').filter(Boolean);
  if (!CHANNEL_ID.test(one)) {
    throw invalidArguments('input must match regex pattern: ^[CGDZ][A-Z0-9]{8,}$ [json-pointer:/channel_id]');
  }
  return [one];
}

interface Target {
  readonly channel: SlackChannel;
  readonly root: string | undefined;
}

/** @throws SlackError posting_to_channel_denied, and those of a post's place */
function targetOf(call: Call, id: string): Target {
  const channel = writableChannel(call, id);
  const root = threadRoot(call.slack, channel.id, call.args);
  try {
    checkPosting(call.slack, channel, root);
  } catch {
    throw new SlackError('posting_to_channel_denied');
  }
  return { channel, root };
}

/** "If the initial_comment field is provided, the blocks field is ignored." @throws SlackError internal_error for a `markdown` block */
function wordsOf({ slack, args }: Call): Pick<StoredMessage, 'text' | 'blocks'> {
  const blocks = readBlocks(args, slack.habits) ?? [];
  // slackapi/python-slack-sdk#1756: taken by chat.postMessage, and not here.
  if (blocks.some((block) => block.type === 'markdown')) throw new SlackError('internal_error');
  const text = optional(args, 'initial_comment') ?? '';
  return { text, blocks: text === '' ? withBlockIds(slack, blocks) : [] };
}

function complete(call: Call): Json {
  const { slack } = call;
  const uploads = uploadedFiles(call);
  const targets = wantedChannels(call).map((id) => targetOf(call, id));
  const words = wordsOf(call);
  for (const { file, title } of uploads) {
    file.title = title ?? file.name;
    file.state = 'complete';
    slack.tell({ kind: 'file', file });
  }
  const files = uploads.map(({ file }) => file);
  for (const target of targets) shareSoon(slack, target, { ...words, files });
  return { files: files.map((file) => withoutShares(slack, file)) };
}

type Shared = Pick<StoredMessage, 'text' | 'blocks'> & { readonly files: readonly StoredFile[] };

/** All files in one message. A channel that was closed meanwhile shows none. */
function shareSoon(slack: SlackState, { channel, root }: Target, { files, ...words }: Shared): void {
  const { fileShares } = slack.habits;
  const message = (): StoredMessage => ({
    ...botMessage(slack, channel.id, root),
    ...words,
    subtype: 'file_share',
    files: files.map(({ id }) => id),
  });
  const early = fileShares === 'late' ? message() : undefined;
  slack.background.run(() => {
    if (fileShares === 'lost' || channel.is_archived || !channel.members.includes(slack.app.botUserId)) return;
    const shown = early ?? message();
    if (fileShares === 'soon') recordShares(shown, files);
    slack.post(shown);
    if (fileShares === 'late') slack.background.run(() => recordShares(shown, files));
  });
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
  { name: 'files.info', token: 'bot', scopes: ['files:read'], tier: 'tier4', takes: 'form', run: info },
];
