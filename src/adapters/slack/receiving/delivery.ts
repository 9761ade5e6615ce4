import type { App, ReceiverEvent } from '@slack/bolt';
import { z } from 'zod';
import type { Log } from '../../../flow/ports/machine.ts';
import { ClickPayload, CommandPayload, MentionPayload, ShortcutPayload, SubmissionPayload } from '../payloads.ts';

/** One request of Slack, verified and parsed. */
export interface Delivery {
  readonly body: Record<string, unknown>;
  readonly retryNum?: number;
  readonly retryReason?: string;
  /** Acknowledges; called at most once. */
  readonly answer: (body?: unknown) => Promise<void>;
}

/**
 * - `taken`: acknowledged.
 * - `malformed`: nobody can take it, now or later, and it was not acknowledged.
 * - `failed`: it was not acknowledged, and Slack should deliver it again.
 */
export type Delivered = 'taken' | 'malformed' | 'failed';

/**
 * Hands a request to Bolt's listeners and acknowledges at the right time. Bolt acknowledges an event before its listeners run, which
 * would lose a mention in a crash in between: so for events its acknowledgement is held back until they are through. Whatever is
 * not taken has one line in the log. Never rejects.
 */
export async function deliver(app: App, delivery: Delivery, log: Log): Promise<Delivered> {
  let isAnswered = false;
  const answer = async (body?: unknown): Promise<void> => {
    if (isAnswered) return;
    isAnswered = true;
    await delivery.answer(body);
  };
  const known = knownPayload(delivery.body);
  try {
    if (known.kind === 'malformed') {
      log.warn('a request from Slack is malformed and is left out', { where: known.where });
      return 'malformed';
    }
    if (known.kind === 'not-listened-to') {
      log.info('nobody listens to an event from Slack', { type: known.type.slice(0, 80) });
      await answer();
      return 'taken';
    }
    const { body, isEvent } = known;
    await app.processEvent(receiverEvent(body, delivery, isEvent ? async () => undefined : answer));
    if (isEvent) await answer();
    if (isAnswered) return 'taken';
    log.warn('a request from Slack names nothing that is listened to');
    return 'malformed';
  } catch (thrown) {
    // Bolt's error handler has logged what a listener threw.
    if (!isAnswered) log.warn('a request from Slack was not acknowledged', { error: thrown });
    return isAnswered ? 'taken' : 'failed';
  }
}

const receiverEvent = (
  body: Record<string, unknown>,
  { retryNum, retryReason }: Delivery,
  ack: ReceiverEvent['ack'],
): ReceiverEvent => ({
  body,
  ack,
  ...(retryNum === undefined ? {} : { retryNum }),
  ...(retryReason === undefined ? {} : { retryReason }),
});

const callbackId = z.string().min(1).max(255);

/** What our listeners read, and the few words by which Bolt finds them. Whatever else a payload holds never reaches Bolt. */
const Command = CommandPayload.extend({ command: z.string().min(1) });
const Mention = MentionPayload.extend({ event: MentionPayload.shape.event.extend({ type: z.literal('app_mention') }) });
const OtherEvent = z.object({ event: z.object({ type: z.string().min(1) }) });
const BY_TYPE: ReadonlyMap<string, z.ZodType<Record<string, unknown>>> = new Map<
  string,
  z.ZodType<Record<string, unknown>>
>([
  ['block_actions', ClickPayload.extend({ type: z.literal('block_actions') })],
  ['message_action', ShortcutPayload.extend({ type: z.literal('message_action'), callback_id: callbackId })],
  [
    'view_submission',
    SubmissionPayload.extend({
      type: z.literal('view_submission'),
      view: SubmissionPayload.shape.view.extend({ callback_id: callbackId }),
    }),
  ],
]);

export type KnownPayload =
  /** For a listener. `body` holds nothing that was not checked. */
  | { readonly kind: 'for-listener'; readonly body: Record<string, unknown>; readonly isEvent: boolean }
  /** Well-formed, of a kind that nobody here listens to: to be acknowledged, or Slack sends it again. */
  | { readonly kind: 'not-listened-to'; readonly type: string }
  /** Of no kind that Slack sends us, or with a field missing or of another type. `where`: the field, for the log. */
  | { readonly kind: 'malformed'; readonly where: string };

/**
 * Tells the payloads that Slack sends us from everything else, before Bolt sees them: Bolt throws on a body whose fields are of other
 * types than it expects, takes `event` for the kind of any body that has it, and a token from the body. Never throws.
 */
export function knownPayload(body: Readonly<Record<string, unknown>>): KnownPayload {
  if (typeof body.command === 'string') return checked(Command, body, false);
  const { type } = body;
  if (type === 'event_callback') return eventPayload(body);
  if (type === 'app_rate_limited') return { kind: 'not-listened-to', type };
  const schema = typeof type === 'string' ? BY_TYPE.get(type) : undefined;
  return schema ? checked(schema, body, false) : { kind: 'malformed', where: 'type' };
}

function eventPayload(body: Readonly<Record<string, unknown>>): KnownPayload {
  const event = OtherEvent.safeParse(body);
  if (!event.success) return malformed(event.error);
  const { type } = event.data.event;
  return type === 'app_mention' ? checked(Mention, body, true) : { kind: 'not-listened-to', type };
}

function checked(schema: z.ZodType<Record<string, unknown>>, body: unknown, isEvent: boolean): KnownPayload {
  const parsed = schema.safeParse(body);
  return parsed.success ? { kind: 'for-listener', body: parsed.data, isEvent } : malformed(parsed.error);
}

/** The path only: a value may be secret, and a key of a record may be anything. */
const malformed = ({ issues: [issue] }: z.ZodError): KnownPayload => ({
  kind: 'malformed',
  where: (issue?.path ?? []).slice(0, 3).join('.').slice(0, 80),
});
