import type { ModalView } from '@slack/types';
import type { Log } from '../../../flow/ports/machine.ts';
import type { Directory, Inbox, Thread } from '../../../flow/ports/slack.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Handler } from '../handlers.ts';
import type { Identity } from '../identity.ts';
import type { SharedFile } from './shared-file.ts';

/** What every listener needs. */
export interface ListenerContext {
  readonly inbox: Inbox;
  readonly thread: Thread;
  readonly directory: Directory;
  readonly identity: Identity;
  readonly clock: Clock;
  readonly log: Log;
  /** Opens a modal with the trigger of an interaction. @throws KdebugError slack_unreachable, slack_refused, slack_token_rejected */
  readonly openView: (triggerId: string, view: ModalView) => Promise<void>;
  /** Reads a file that a person shared. @throws KdebugError slack_file_unreadable */
  readonly readFile: (file: SharedFile) => Promise<string>;
  /** Whether the app is being stopped: then nothing new is taken. */
  readonly isStopping: () => boolean;
  /** Work that outlives the acknowledgement and that a stop waits for; never rejects. */
  readonly inBackground: (work: Promise<void>) => void;
}

/** Something that Slack delivered, for the row of the table that listens to it. */
export interface Delivered {
  readonly context: ListenerContext;
  readonly handler: Handler;
  readonly body: unknown;
}
