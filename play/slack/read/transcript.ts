import type { StoredFile, StoredMessage } from '../state/message.ts';
import type { SlackState } from '../state/state.ts';
import { personName, renderBlocks, renderTopText } from './render.ts';

export interface TranscriptOptions {
  /** Whose eyes: other people's private answers are left out. Default: everything is shown. */
  readonly as?: string;
  /** Only this thread. */
  readonly thread?: string;
  /** Times at the start of lines (UTC). Default true. */
  readonly times?: boolean;
}

/** The conversation as a person sees it: threads under their roots, messages in their newest state, files with sizes. */
export function transcript(slack: SlackState, channel: string, options: TranscriptOptions = {}): string {
  const ephemerals = slack.ephemerals.filter(
    (one) => one.channel === channel && (options.as ?? one.visibleTo) === one.visibleTo,
  );
  const all = [...slack.channelMessages(channel).values(), ...ephemerals].sort((a, b) => Number(a.ts) - Number(b.ts));
  const isRoot = (one: StoredMessage) => one.threadTs === undefined && (options.thread ?? one.ts) === one.ts;
  const out: string[] = [];
  for (const root of all.filter(isRoot)) {
    out.push(...describe(slack, root, options));
    const replies = all.filter((one) => one.threadTs === root.ts);
    out.push(
      ...replies.flatMap((reply) => describe(slack, reply, options)).map((line) => (line === '' ? '' : `    ${line}`)),
    );
  }
  return out.join('\n');
}

/** One message, ready to be printed: a line on who and when, then what it says, then an empty line. */
export function describe(slack: SlackState, message: StoredMessage, options: TranscriptOptions = {}): string[] {
  const { team } = slack;
  const time = options.times === false ? '' : `${new Date(Number(message.ts) * 1000).toISOString().slice(11, 19)}  `;
  const isApp = message.botId !== undefined ? ' APP' : '';
  const privately =
    message.visibleTo === undefined ? '' : `  (only visible to ${seer(slack, message.visibleTo, options.as)})`;
  const who = message.user === 'USLACKBOT' ? 'Slackbot' : personName(team, message.user);
  const body = message.blocks.length > 0 ? renderBlocks(team, message.blocks) : textLines(slack, message);
  const files = message.files.flatMap((id) => slack.files.get(id) ?? []).map(fileLine);
  const reactions =
    message.reactions.length === 0
      ? []
      : [message.reactions.map((one) => `:${one.name}: ${one.users.length}`).join('  ')];
  const edited = message.edited === undefined ? [] : ['(edited)'];
  return [
    `${time}${who}${isApp}${privately}`,
    ...[...body, ...edited, ...files, ...reactions].map((line) => `  ${line}`.trimEnd()),
    '',
  ];
}

function seer(slack: SlackState, visibleTo: string, as: string | undefined): string {
  return visibleTo === as ? 'you' : `@${personName(slack.team, visibleTo)}`;
}

function textLines(slack: SlackState, message: StoredMessage): string[] {
  return message.text === '' ? [] : renderTopText(slack.team, message).split('\n');
}

function fileLine(file: StoredFile): string {
  const title = file.title === file.name ? '' : ` “${file.title}”`;
  return `[file ${file.name}${title}, ${sizeOf(file.size)}]`;
}

function sizeOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const [unit, factor] = bytes < 1024 ** 2 ? ['KiB', 1024] : ['MiB', 1024 ** 2];
  return `${(bytes / Number(factor)).toFixed(1)} ${unit}`;
}
