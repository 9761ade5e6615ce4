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

export interface CommandOrder extends Common {
  readonly channel: string;
  readonly text: string;
  /** Default `/kdebug`. */
  readonly command?: string;
}

export interface MentionOrder extends Common {
  readonly channel: string;
  /** Without the mention itself, which is put in front; a text that has it already stays as it is. */
  readonly text: string;
  readonly threadTs?: string;
}

export interface ActionOrder extends Common, Press {
  readonly channel: string;
  /** The message's `ts`, an ephemeral one's too. */
  readonly ts: string;
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
