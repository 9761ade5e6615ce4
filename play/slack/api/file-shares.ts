import type { StoredFile, StoredMessage } from '../state/message.ts';
import type { SlackState } from '../state/state.ts';
import { type Args, structured } from './args.ts';
import { invalidArguments, SlackError } from './slack-error.ts';

/** Since then `files.info` says where the file is. */
export function recordShares({ channel, ts, threadTs }: StoredMessage, files: readonly StoredFile[]): void {
  for (const file of files) file.shares.push({ channel, ts, ...(threadTs === undefined ? {} : { threadTs }) });
}

/**
 * `file_ids` of an update: the files that the message has from now on. Each was completed; whether in a channel or in none, the docs do not say.
 * @throws SlackError invalid_arguments, file_not_found
 */
export function filesNamed({ files }: SlackState, args: Args): readonly StoredFile[] | undefined {
  const given = structured(args, 'file_ids', 'invalid_arguments');
  if (given === undefined) return undefined;
  if (!Array.isArray(given)) throw invalidArguments('must be an array [json-pointer:/file_ids]');
  return given.map((id: unknown) => {
    const file = files.get(String(id));
    if (file?.state !== 'complete') throw new SlackError('file_not_found');
    return file;
  });
}

/**
 * Puts files on a posted message, at once. [guess] It stays the app's own: with its `bot_id`, and without the subtype of a file message. The
 * `shares` come as after any other share.
 */
export function showFiles(slack: SlackState, message: StoredMessage, files: readonly StoredFile[]): void {
  const added = files.filter(({ id }) => !message.files.includes(id));
  message.files = files.map(({ id }) => id);
  const { fileShares } = slack.habits;
  if (fileShares === 'soon' || fileShares === 'late') slack.background.run(() => recordShares(message, added));
}
