import { ALERT_MESSAGES } from './messages/alert-messages.ts';
import { ANSWER_MESSAGES } from './messages/answer-messages.ts';
import { BATCH_MESSAGES } from './messages/batch-messages.ts';
import { BUTTON_MESSAGES } from './messages/button-messages.ts';
import { COMPARE_MESSAGES } from './messages/compare-messages.ts';
import type { MessageKind } from './messages/kinds.ts';
import { ONCE_MORE_MESSAGES } from './messages/once-more-messages.ts';
import { PRIVATE_MESSAGES } from './messages/private-messages.ts';
import { RUN_MESSAGES } from './messages/run-messages.ts';

/**
 * Every message that people get, by kind. New messages get a file in `messages/` and a row here; `npx vitest run
 * test/contract/messages.test.ts --update=all` writes their goldens. Read them as somebody with a phone at night.
 */
export const EVERY_MESSAGE: readonly MessageKind[] = [
  ...RUN_MESSAGES,
  ...ALERT_MESSAGES,
  ...ANSWER_MESSAGES,
  ...BUTTON_MESSAGES,
  ...BATCH_MESSAGES,
  ...COMPARE_MESSAGES,
  ...ONCE_MORE_MESSAGES,
  ...PRIVATE_MESSAGES,
];
