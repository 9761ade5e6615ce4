import type { Json } from '../state/message.ts';
import type { DeliveryOptions } from './courier.ts';
import type { Press } from './press.ts';

/** On every delivery: how it travels, and fields of the payload to set by force (another team's id, another app's). */
export interface Common extends DeliveryOptions {
  readonly user: string;
  readonly override?: Json;
}

export interface SayOrder {
  readonly user: string;
  readonly channel: string;
  readonly text: string;
  readonly threadTs?: string;
  /** Ids of files that are there. */
  readonly files?: readonly string[];
}

export interface TypeOrder extends Common {
  readonly channel: string;
  /** As it stands in the composer: `/kdebug …`, `@kdebug …`, `/invite @kdebug`, or words. */
  readonly text: string;
  readonly threadTs?: string;
  /** Whose habits: a Mac's and a phone's make `—` and curly quotes. Default `plain`. */
  readonly keyboard?: 'plain' | 'smart';
}

export interface CommandOrder extends Common {
  readonly channel: string;
  readonly text: string;
  /** Default: the first one of the manifest. */
  readonly command?: string;
}

export interface MentionOrder extends Common {
  readonly channel: string;
  /** Without the mention itself, which is put in front; a text that has it already stays as it is. */
  readonly text: string;
  readonly threadTs?: string;
}

/** A person changes the words of a message of theirs. */
export interface EditOrder extends Common {
  readonly channel: string;
  readonly ts: string;
  readonly text: string;
}

export interface ActionOrder extends Common, Press {
  readonly channel: string;
  /** The message's `ts`, an ephemeral one's too. */
  readonly ts: string;
}

/** A button of an attachment: the first one with this text. */
export interface AttachmentOrder extends Common {
  readonly channel: string;
  readonly ts: string;
  readonly label: string;
}

export interface ViewActionOrder extends Common, Press {
  readonly viewId: string;
  /** `state.values` as the browser has it. Default: as Slack knew it last. */
  readonly values?: Json;
}

/** What a person types into an external select of a view. */
export interface SuggestionOrder extends Common {
  readonly viewId: string;
  readonly blockId: string;
  readonly actionId: string;
  readonly typed: string;
}

export interface SubmissionOrder extends Common {
  readonly viewId: string;
  /** `state.values`: by block id, then action id. */
  readonly values: Json;
}

export interface ShortcutOrder extends Common {
  readonly callbackId: string;
  /** A message shortcut when both are given, else a global one. */
  readonly channel?: string;
  readonly ts?: string;
}
