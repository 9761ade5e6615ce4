import type { Message } from '../../src/core/report/message.ts';
import { RUN_MESSAGES } from './messages/run-messages.ts';

/** One message, and the situation in which people get it. */
export interface Example {
  readonly name: string;
  readonly message: Message;
}

/** Messages of one kind. `test/contract/messages.test.ts` compares them with `test/golden/FILE.txt` and holds them to the rules. */
export interface MessageKind {
  readonly file: string;
  /** Read in a channel, on a phone: its first two lines say everything, its mark says the state. */
  readonly isCard?: true;
  readonly examples: readonly Example[];
}

/** Every message that people get, by kind. A new message gets its row here. */
export const EVERY_MESSAGE: readonly MessageKind[] = [...RUN_MESSAGES];
