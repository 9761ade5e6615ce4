import type { Log } from '../../../flow/ports/machine.ts';
import { MAX_ACK_BYTES } from '../limits.ts';

/**
 * Acknowledges a request, with or without content. False: the content is too large, so the acknowledgement went without it, and the content
 * must go another way.
 */
export type Acknowledge<Content> = (content?: Content) => Promise<boolean>;

export interface Acknowledged {
  readonly log: Log;
  /** For the log: what kind of request it is. */
  readonly type: string;
}

/** The one guard of what Slack takes with an acknowledgement, whatever the transport. Every listener with content gets its `ack` from here. */
export const acknowledger =
  <Content>(ack: (content?: Content) => Promise<void>, { log, type }: Acknowledged): Acknowledge<Content> =>
  async (content) => {
    const bytes = content === undefined ? 0 : Buffer.byteLength(JSON.stringify(content));
    const fits = bytes <= MAX_ACK_BYTES;
    if (!fits) log.error('acknowledgement too large for Slack, sent without its content', { type, bytes });
    await (fits ? ack(content) : ack());
    return fits;
  };
