import type { Message } from '../../../src/core/say/message/message.ts';

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
  /** Read in the thread, below its card: the first line says the cause whole. */
  readonly isResult?: true;
  readonly examples: readonly Example[];
}
