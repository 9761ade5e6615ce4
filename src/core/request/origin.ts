import type { ChannelId, RunId, UserId } from '../ids.ts';

export interface Origin {
  /** `webhook`: nobody asked; a source of alerts told of one, and acts under an id of its own (`userOfAlerts`). */
  readonly source: 'slash' | 'mention' | 'form' | 'shortcut' | 'button' | 'alert' | 'webhook';
  /** Equal for every delivery of the same request, whoever delivers it. */
  readonly dedupeKey: string;
  readonly teamId: string;
  readonly channelId: ChannelId;
  /** The thread of a mention or an alert, or the one that it begins; the run answers there. */
  readonly threadTs?: string;
  /** The `dedupeKey` of the run whose card's thread this one answers in; `threadTs` follows when that has a message. */
  readonly threadOf?: string;
  /** The thread is under the request itself. Slack shows a private answer there only once the thread has a reply. */
  readonly beginsThread?: true;
  readonly requesterId: UserId;
  /** The channel is a group direct message, as far as Slack says so: its id looks like a channel's. */
  readonly inGroupMessage?: true;
  /** The words of a message that was edited after it was sent. */
  readonly isEdit?: true;
  /** A bearer secret for private answers, five uses in 30 minutes; never logged, never shown. */
  readonly responseUrl?: string;
  /** The slash command that was typed, where its name is not the configured one: private answers say it. */
  readonly command?: string;
  readonly receivedAtMs: number;
}

export interface Refusal {
  readonly code: string;
  /** One sentence. */
  readonly message: string;
  readonly hint: string;
  readonly rule?: string;
  /** Of `same_again`: the equal run whose result is offered instead. */
  readonly equalRun?: RunId;
}
