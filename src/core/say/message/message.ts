import type { ActionName, FormName } from '../../actions.ts';
import type { Chart } from '../../diagnosis/facts/verdict.ts';
import { alertSourceOf } from '../../ids.ts';

/**
 * A message without any knowledge of Slack. Every text is plain text: a renderer must show it literally, so that no
 * text from a cluster, a log or a person can format, mention, link or unfurl anything.
 */
export interface Message {
  /** One line for transcripts, and for notifications and screen readers where `notification` is absent. */
  readonly summary: string;
  /** One line for notifications and screen readers; it may name people, and only people. */
  readonly notification?: readonly Span[];
  /** What people decide on, in words behind that line: screen readers read no parts. A part that is preformatted comes last, and its end may be cut. */
  readonly decidedOn?: readonly Part[];
  readonly tone: Tone;
  readonly parts: readonly Part[];
  /** The reason of a refusal. It is not shown; a note names it where operators need it. */
  readonly code?: string;
}

/** `decision`: somebody must approve or reject. `ended`: it is over, and neither good nor bad. `neutral` has no mark. */
export type Tone = 'progress' | 'success' | 'failure' | 'attention' | 'decision' | 'ended' | 'neutral';

/** `whole`: people decide on it. If it cannot be shown uncut, the message gets no buttons. */
export type Part =
  | { readonly kind: 'heading'; readonly text: string }
  | { readonly kind: 'paragraph'; readonly spans: readonly Span[]; readonly whole?: true }
  | { readonly kind: 'list'; readonly items: readonly (readonly Span[])[] }
  | { readonly kind: 'facts'; readonly facts: readonly Fact[]; readonly whole?: true }
  /** Monospaced and verbatim: log excerpts, commands with a caret. */
  | { readonly kind: 'preformatted'; readonly text: string; readonly whole?: true }
  | TablePart
  | ChartPart
  /** Small print under a message. */
  | { readonly kind: 'note'; readonly spans: readonly Span[] }
  | { readonly kind: 'actions'; readonly buttons: readonly Button[] }
  /** Buttons that open a page in the browser, and start nothing. */
  | { readonly kind: 'links'; readonly links: readonly LinkButton[] };

/**
 * Rows of the same columns. At most four columns fit a phone. Slack shows one table in a message; a second one becomes a list. A cell may
 * be empty, and a row may be short. Show a table only after the first two lines: where Slack refuses it, it becomes a list too.
 */
export interface TablePart {
  readonly kind: 'table';
  readonly columns: readonly { readonly label: string; readonly align?: 'left' | 'right' }[];
  readonly rows: readonly (readonly (readonly Span[])[])[];
}

/** Slack draws two in a message, but none in a modal, beside files, or where it does not know charts: there they are words. */
export interface ChartPart {
  readonly kind: 'chart';
  readonly chart: Chart;
}

export type Span =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'strong'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  /**
   * A person, by Slack user id; only for ids from Slack's own payloads. `name`, which `withNames` fills in, stands where Slack shows no mention,
   * and for a quiet one, whom a mention would notify.
   */
  | { readonly kind: 'person'; readonly userId: string; readonly name?: string; readonly isQuiet?: true }
  /**
   * A Slack user group; only for ids from the policy, whose name for it stands where Slack shows no mention. Its members are notified when the
   * message is posted, not when it is updated.
   */
  | { readonly kind: 'usergroup'; readonly usergroupId: string; readonly name?: string | undefined }
  /**
   * A channel, by Slack channel id; only for ids from the policy or from Slack. Readers without access to it see
   * "private channel". `name` as of a group.
   */
  | { readonly kind: 'channel'; readonly channelId: string; readonly name?: string | undefined }
  /**
   * A link to a message or file in Slack; only for addresses that Slack itself gave. Any other address is shown as its
   * text.
   */
  | { readonly kind: 'link'; readonly url: string; readonly text: string }
  /** A link to anywhere, whose text names the host it leads to; only for `https:` and `http:` without a user. */
  | { readonly kind: 'web'; readonly url: string; readonly text: string }
  /** A time; shown in the reader's own time zone, to the minute. `isToday`: without the day. */
  | { readonly kind: 'time'; readonly atMs: number; readonly isToday?: true }
  /** One of kdebug's own marks, never a name from a text; the words beside it say the same. `text` is the character. */
  | { readonly kind: 'emoji'; readonly name: EmojiName; readonly text: string };

/** Slack's names. */
export const EMOJI = {
  hourglass_flowing_sand: '⏳',
  white_check_mark: '✅',
  x: '❌',
  warning: '⚠️',
  closed_lock_with_key: '🔐',
  checkered_flag: '🏁',
  arrow_forward: '▶️',
} as const;
export type EmojiName = keyof typeof EMOJI;

/** The emoji that begins a message of this tone. */
export const EMOJI_OF: Readonly<Record<Tone, EmojiName | undefined>> = {
  progress: 'hourglass_flowing_sand',
  success: 'white_check_mark',
  failure: 'x',
  attention: 'warning',
  decision: 'closed_lock_with_key',
  ended: 'checkered_flag',
  neutral: undefined,
};

export interface Fact {
  readonly label: string;
  readonly value: readonly Span[];
}

/** A button. Its value is always a run or batch id. */
export interface Button {
  readonly action: ActionName;
  readonly label: string;
  /** Screen readers read this in place of the label, which many buttons share. */
  readonly spoken?: readonly Span[];
  readonly value: string;
  readonly style?: 'primary' | 'danger';
  readonly confirm?: { readonly title: string; readonly text: string; readonly yes: string; readonly no: string };
}

/** `url` is `https:`, and its host is the policy's own. */
export interface LinkButton {
  readonly label: string;
  readonly url: string;
}

export const text = (value: string): Span => ({ kind: 'text', text: value });
export const strong = (value: string): Span => ({ kind: 'strong', text: value });
export const code = (value: string): Span => ({ kind: 'code', text: value });
/** A source of alerts is no account of Slack, so it has words instead of a mention. */
export function person(userId: string): Span {
  const source = alertSourceOf(userId);
  return source === undefined ? { kind: 'person', userId } : text(`alert source ${source}`);
}
/** By name where kdebug knows it: they did this themselves, or the line notifies others. */
export function quietPerson(userId: string): Span {
  const span = person(userId);
  return span.kind === 'person' ? { ...span, isQuiet: true } : span;
}
export const usergroup = (usergroupId: string, name?: string): Span => ({ kind: 'usergroup', usergroupId, name });
export const channel = (channelId: string, name?: string): Span => ({ kind: 'channel', channelId, name });
export const link = (url: string, label: string): Span => ({ kind: 'link', url, text: label });
/** Undefined: it is no address that may become a link. */
export function webLink(url: string | undefined, label: string): Span | undefined {
  if (url === undefined || url.length > MAX_URL || !URL.canParse(url)) return undefined;
  const { protocol, host, username, password } = new URL(url);
  if (!/^https?:$/.test(protocol) || username + password !== '') return undefined;
  return { kind: 'web', url, text: `${label} (${host})` };
}

/** Slack refuses longer ones. */
const MAX_URL = 2_000;

export const time = (atMs: number): Span => ({ kind: 'time', atMs });

/** Within half a day, everybody knows which day is meant. */
const SOON_MS = 12 * 3_600_000;

/** Without its day if it is soon. */
export const shortTime = (atMs: number, nowMs: number): Span =>
  Math.abs(atMs - nowMs) < SOON_MS ? { kind: 'time', atMs, isToday: true } : time(atMs);

/** A time in a sentence: `at 12:41 AM`, or with its day if it is not soon. */
export const soon = (atMs: number, nowMs: number): readonly Span[] =>
  Math.abs(atMs - nowMs) < SOON_MS ? [text('at '), shortTime(atMs, nowMs)] : [time(atMs)];
export const emoji = (name: EmojiName): Span => ({ kind: 'emoji', name, text: EMOJI[name] });

/** A form to fill in, without any knowledge of Slack. All texts are plain. */
export interface Form {
  /** The form's name, which comes back with the submission. */
  readonly name: FormName;
  /** Its subject (a run id, a destination), at most 2,000 characters. It comes back unchanged, but never trust it. */
  readonly value: string;
  readonly title: string;
  /** The button that submits; absent while the form still loads. */
  readonly submit?: string;
  /** Shown above the fields. */
  readonly intro?: string;
  readonly fields: readonly Field[];
}

export interface Field {
  readonly id: string;
  readonly label: string;
  /** `search`: its options are searched as people type, by `Inbox.search`. */
  readonly kind: 'line' | 'lines' | 'choice' | 'search';
  readonly optional: boolean;
  readonly hint?: string;
  readonly placeholder?: string;
  readonly initial?: string;
  /** The options of a choice, at most 100. */
  readonly options?: readonly Option[];
  readonly maxLength?: number;
  /**
   * The text that its value depends on: a form that comes again with another text shows the field empty, or with
   * `initial`.
   */
  readonly dependsOn?: string;
  /** A choice that changes others, or the form's intro: kdebug hears of it at once, by `Inbox.change`. */
  readonly dispatches?: true;
}

/** `value` comes back: at most 150 characters. `description` is a line under the label, at most 75 characters. */
export interface Option {
  readonly value: string;
  readonly label: string;
  readonly description?: string;
}
