import { toKdebugError } from '../../core/errors.ts';
import { errorMessage } from '../../core/report/answers/private-messages.ts';
import type { Message } from '../../core/report/message.ts';
import type { FlowDeps } from '../deps.ts';
import type { Destination, PrivateDestination } from '../ports/slack.ts';

export interface TextFile {
  readonly filename: string;
  readonly title: string;
  readonly text: string;
  /** Shown with it. */
  readonly message: Message;
}

/** To a thread, or by direct message. If Slack refuses it, the person learns why. Never rejects. */
export async function sendFile(
  { filename, title, text, message }: TextFile,
  { reader, thread: destination }: { readonly reader: PrivateDestination; readonly thread?: Destination | undefined },
  { thread, log }: FlowDeps,
): Promise<void> {
  try {
    const bytes = Buffer.from(text);
    const open = async function* () {
      yield bytes;
    };
    const target = destination ?? (await thread.openDirect(reader.userId));
    await thread.share(target, message, [{ filename, title, bytes: bytes.length, open }]);
  } catch (thrown) {
    const error = toKdebugError(thrown);
    log.warn('file of an answer not sent', { filename, reason: error.code });
    await thread.tell(reader, errorMessage(error)).catch(() => undefined);
  }
}
