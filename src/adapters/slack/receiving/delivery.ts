import type { App, ReceiverEvent } from '@slack/bolt';
import { z } from 'zod';
import type { Log } from '../../../flow/ports/machine.ts';
import { ChannelIdPayload, GroupPayload } from '../listeners/notices.ts';
import {
  AlertPayload,
  ChangePayload,
  ClickPayload,
  CommandPayload,
  DirectPayload,
  GlobalShortcutPayload,
  HomePayload,
  JoinedPayload,
  MentionPayload,
  SearchPayload,
  ShortcutPayload,
  SubmissionPayload,
} from '../payloads.ts';

export interface Delivery {
  readonly body: Record<string, unknown>;
  readonly retryNum?: number;
  readonly retryReason?: string;
  /** Acknowledges what is malformed, too: a repeat would not help. */
  readonly ackMalformed?: boolean;
  /** Acknowledges; called at most once. */
  readonly answer: (body?: unknown) => Promise<void>;
}

/**
 * - `acknowledged`
 * - `malformed`: not acknowledged unless the delivery asks for it, and a repeat would not help.
 * - `failed`: not acknowledged, so Slack should deliver it again.
 */
export type DeliveryResult = 'acknowledged' | 'malformed' | 'failed';

/**
 * Passes a request to Bolt's listeners and acknowledges at the right time. Bolt acknowledges an event before its listeners run, so a crash
 * in between would lose a mention; here they run first. Logs one line per request that is not acknowledged. Never rejects.
 */
export async function deliver(app: App, delivery: Delivery, log: Log): Promise<DeliveryResult> {
  let isAnswered = false;
  const answer = async (body?: unknown): Promise<void> => {
    if (isAnswered) return;
    isAnswered = true;
    await delivery.answer(body);
  };
  const known = knownPayload(delivery.body);
  try {
    if (known.kind !== 'for-listener') {
      const result = unheard(known, log);
      if (result === 'acknowledged' || delivery.ackMalformed) await answer();
      return result;
    }
    const { body, isEvent } = known;
    await app.processEvent(receiverEvent(body, delivery, isEvent ? async () => undefined : answer));
    if (isEvent) await answer();
    if (isAnswered) return 'acknowledged';
    log.warn('Slack request without listener ignored');
    return 'malformed';
  } catch (thrown) {
    // Bolt has already logged what a listener threw.
    if (!isAnswered) log.warn('Slack request not acknowledged', { error: thrown });
    return isAnswered ? 'acknowledged' : 'failed';
  }
}

function unheard(known: Exclude<KnownPayload, { kind: 'for-listener' }>, log: Log): 'acknowledged' | 'malformed' {
  if (known.kind === 'malformed') {
    log.warn('malformed Slack request ignored', { where: known.where });
    return 'malformed';
  }
  if (known.kind === 'rate-limited')
    log.warn('Slack holds back events: more than 30,000 in an hour', { minute: known.minute });
  else log.info('Slack event without listener ignored', { type: known.type.slice(0, 80) });
  return 'acknowledged';
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

/** Only what our listeners read, and what Bolt needs to find a listener. */
const Command = CommandPayload.extend({ command: z.string().min(1) });
/** In a view; the same type in a message is a click on a button. */
const Change = ChangePayload.extend({ type: z.literal('block_actions') });
const typedEvent = <Shape extends z.ZodRawShape>(type: string, { shape }: z.ZodObject<{ event: z.ZodObject<Shape> }>) =>
  z.object({ ...shape, event: shape.event.extend({ type: z.literal(type) }) });
/** The events that have a listener. */
const EVENTS: ReadonlyMap<string, z.ZodType<Record<string, unknown>>> = new Map<
  string,
  z.ZodType<Record<string, unknown>>
>([
  ['app_mention', typedEvent('app_mention', MentionPayload)],
  ['app_home_opened', typedEvent('app_home_opened', HomePayload)],
  ['message', typedEvent('message', DirectPayload)],
  ['member_joined_channel', typedEvent('member_joined_channel', JoinedPayload)],
  ['channel_id_changed', typedEvent('channel_id_changed', ChannelIdPayload)],
  ['subteam_members_changed', typedEvent('subteam_members_changed', GroupPayload)],
]);
const AnyEvent = z.object({ event: z.object({ type: z.string().min(1) }) });
const BY_TYPE: ReadonlyMap<string, z.ZodType<Record<string, unknown>>> = new Map<
  string,
  z.ZodType<Record<string, unknown>>
>([
  ['block_actions', ClickPayload.extend({ type: z.literal('block_actions') })],
  ['interactive_message', AlertPayload.extend({ type: z.literal('interactive_message'), callback_id: callbackId })],
  ['block_suggestion', SearchPayload.extend({ type: z.literal('block_suggestion') })],
  ['message_action', ShortcutPayload.extend({ type: z.literal('message_action'), callback_id: callbackId })],
  ['shortcut', GlobalShortcutPayload.extend({ type: z.literal('shortcut'), callback_id: callbackId })],
  [
    'view_submission',
    SubmissionPayload.extend({
      type: z.literal('view_submission'),
      view: SubmissionPayload.shape.view.extend({ callback_id: callbackId }),
    }),
  ],
]);

export type KnownPayload =
  | { readonly kind: 'for-listener'; readonly body: Record<string, unknown>; readonly isEvent: boolean }
  /** Well-formed, but without a listener. Acknowledge it, or Slack sends it again. */
  | { readonly kind: 'not-listened-to'; readonly type: string }
  /** Slack keeps events of this minute (RFC 3339) from us: docs.slack.dev, "Events API", rate limiting. */
  | { readonly kind: 'rate-limited'; readonly minute: string }
  /** A kind that Slack never sends us, or a wrong or missing field: `where`, for the log. */
  | { readonly kind: 'malformed'; readonly where: string };

/**
 * Passes only payloads that Slack sends us. Bolt throws on unexpected field types, treats any body with `event` as an event, and would use
 * a token from the body. Never throws.
 */
export function knownPayload(body: Readonly<Record<string, unknown>>): KnownPayload {
  if (typeof body.command === 'string') return checked(Command, body, false);
  const { type } = body;
  if (type === 'event_callback') return eventPayload(body);
  if (type === 'app_rate_limited') return { kind: 'rate-limited', minute: minuteOf(body.minute_rate_limited) };
  if (type === 'block_actions' && body.view !== undefined) return checked(Change, body, false);
  const schema = typeof type === 'string' ? BY_TYPE.get(type) : undefined;
  return schema ? checked(schema, body, false) : { kind: 'malformed', where: 'type' };
}

/** Slack sends seconds since 1970. */
function minuteOf(seconds: unknown): string {
  const time = new Date(typeof seconds === 'number' ? seconds * 1_000 : Number.NaN);
  return Number.isNaN(time.getTime()) ? 'unknown' : time.toISOString();
}

function eventPayload(body: Readonly<Record<string, unknown>>): KnownPayload {
  const event = AnyEvent.safeParse(body);
  if (!event.success) return malformed(event.error);
  const { type } = event.data.event;
  const schema = EVENTS.get(type);
  return schema ? checked(schema, body, true) : { kind: 'not-listened-to', type };
}

function checked(schema: z.ZodType<Record<string, unknown>>, body: unknown, isEvent: boolean): KnownPayload {
  const parsed = schema.safeParse(body);
  return parsed.success ? { kind: 'for-listener', body: parsed.data, isEvent } : malformed(parsed.error);
}

/** Only the path, since a value may be secret. Truncated, since a record's key may be anything. */
const malformed = ({ issues: [issue] }: z.ZodError): KnownPayload => ({
  kind: 'malformed',
  where: (issue?.path ?? []).slice(0, 3).join('.').slice(0, 80),
});
