import { isDeepStrictEqual as isEqual } from 'node:util';
import { defined } from '../../lib/object.ts';
import { PLANNED_STATES, type PostRef, type RunState } from './run-state.ts';

/**
 * The posts of a run in Slack, saved after each one; after a crash in between, the metadata finds the post. Stored
 * records use these field names.
 */
export interface Delivery {
  readonly anchor?: PostRef;
  readonly result?: PostRef;
  /** Ids of the shared files, by their names in Slack. */
  readonly files?: ByFileName;
  /** Codes: why there will be none of these files. Slack refuses it, or the log is gone. */
  readonly filesLost?: ByFileName;
  /** Threads that Slack no longer has, by their `ts`: a reply to one stands in the channel alone. */
  readonly threadsGone?: readonly string[];
  /** Somebody deleted the anchor, or Slack refuses one; it is not posted again. */
  readonly anchorGone?: boolean;
  /** The requester was told that people have approved it, or Slack refuses to. */
  readonly approvalPosted?: boolean;
  /** The requester has the private refusal, or the outcome of the dry run. */
  readonly told?: boolean;
  /**
   * The reason (a code) why nobody can find the result in Slack: Slack refused it everywhere, permanently. The
   * requester may have it privately. kdebug stops trying.
   */
  readonly lost?: string;
  /** The card shows that the grant has ended. */
  readonly grantClosed?: boolean;
  /** The thread says that the alert was resolved. */
  readonly resolvedPosted?: boolean;
  /** The version of the alert that the card shows. */
  readonly alertVersion?: number;
  /** The card is no longer open for its alerts. */
  readonly alertClosed?: boolean;
  /** Slack has every post of the finished run. */
  readonly closed?: boolean;
}

/** By the name that a file has in Slack. */
export type ByFileName = Readonly<Record<string, string>>;

/** The settled files: the ids of those that Slack has, and codes for those that it will never have. */
export type SettledFiles = Pick<Delivery, 'files' | 'filesLost'>;

/** The thread that a post was meant for, by its `ts`, if it turned out that Slack no longer has it. */
export interface Landed {
  readonly threadGone?: string;
}

/** Something that Slack accepted, or refused permanently. */
export type DeliveryEvent =
  | ({ readonly kind: 'anchor-posted'; readonly ref: PostRef } & Landed)
  | { readonly kind: 'anchor-lost' }
  | ({ readonly kind: 'approval-posted' } & Landed)
  /** `settled`: the files shared with the result, as one message, and those that it says are lost. */
  | ({ readonly kind: 'result-posted'; readonly ref: PostRef; readonly settled?: SettledFiles } & Landed)
  | { readonly kind: 'result-lost'; readonly code: string }
  | ({ readonly kind: 'files-settled'; readonly settled: SettledFiles } & Landed)
  /** Seen only by the requester; `lost`: Slack refused even that (a code). */
  | { readonly kind: 'private-answer-sent'; readonly lost?: string }
  | ({ readonly kind: 'resolved-posted' } & Landed)
  | ({ readonly kind: 'completed'; readonly grantClosed: boolean } & Pick<Delivery, 'alertVersion' | 'alertClosed'>);

const RESULT: readonly RunState[] = ['rejected', 'expired', 'cancelled', 'finished'];

/** The run states in which each event may happen; in any other it changes nothing. */
const ALLOWED: Readonly<Record<DeliveryEvent['kind'], readonly RunState[]>> = {
  'anchor-posted': PLANNED_STATES,
  'anchor-lost': PLANNED_STATES,
  'approval-posted': PLANNED_STATES,
  'result-posted': RESULT,
  'result-lost': RESULT,
  'files-settled': ['finished'],
  // A dry run ends as cancelled.
  'private-answer-sent': ['denied', 'cancelled'],
  'resolved-posted': ['denied', ...RESULT],
  // A run that an alert starts has no requester, so its refusal stands on the card.
  completed: ['denied', ...RESULT],
};

/** Undefined: the event cannot happen in this state, or is already recorded. */
export function deliveryTransition(delivery: Delivery, event: DeliveryEvent, state: RunState): Delivery | undefined {
  if (!ALLOWED[event.kind].includes(state)) return undefined;
  const changes = { ...changesOf(event, delivery), ...withoutThread(event, delivery) };
  const isKnown = Object.entries(changes).every(([field, value]) => isEqual(Reflect.get(delivery, field), value));
  return isKnown ? undefined : { ...delivery, ...changes };
}

function changesOf(event: DeliveryEvent, delivery: Delivery): Delivery {
  switch (event.kind) {
    case 'anchor-posted':
      return { anchor: event.ref };
    case 'anchor-lost':
      return { anchorGone: true };
    case 'approval-posted':
      return { approvalPosted: true };
    case 'result-posted':
      return { ...withSettled(delivery, event.settled), result: event.ref };
    case 'result-lost':
      return { lost: event.code };
    case 'files-settled':
      return withSettled(delivery, event.settled);
    case 'private-answer-sent':
      return { told: true, ...defined({ lost: event.lost }) };
    case 'resolved-posted':
      return { resolvedPosted: true };
    case 'completed':
      return {
        closed: true,
        ...defined({
          grantClosed: event.grantClosed || undefined,
          alertVersion: event.alertVersion,
          alertClosed: event.alertClosed,
        }),
      };
  }
}

/** In the same record as the post: after a crash in between, a search begins where the post was meant to go. */
function withoutThread(event: DeliveryEvent, { threadsGone = [] }: Delivery): Pick<Delivery, 'threadsGone'> {
  const threadGone = 'threadGone' in event ? event.threadGone : undefined;
  if (threadGone === undefined || threadsGone.includes(threadGone)) return {};
  return { threadsGone: [...threadsGone, threadGone] };
}

/** Adds to what is settled already. */
export const withSettled = ({ files, filesLost }: Delivery, settled: SettledFiles = {}): SettledFiles =>
  defined({
    files: settled.files && { ...files, ...settled.files },
    filesLost: settled.filesLost && { ...filesLost, ...settled.filesLost },
  });

/**
 * The delivery before a late end: the result needs an update, with another log. The anchor and the result stay; so do
 * the files, because those of a late end have other names.
 */
export function reopened(delivery: Delivery): Delivery {
  const { closed: _, lost: _where, ...rest } = delivery;
  return rest;
}
