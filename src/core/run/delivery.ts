import { isDeepStrictEqual as isEqual } from 'node:util';
import { defined } from '../../lib/object.ts';
import { PLANNED_STATES, type PostRef, type RunState } from './run-state.ts';

/**
 * What Slack has of a run, saved after each post; after a crash in between, the post is found by its metadata. Stored
 * records use these field names.
 */
export interface Delivery {
  readonly anchor?: PostRef;
  readonly result?: PostRef;
  readonly fileId?: string;
  /** Of a batch: ids of its shared files, by file name. */
  readonly files?: Readonly<Record<string, string>>;
  /** Why there will be no file (a code): Slack refuses files, or the log is gone. */
  readonly fileLost?: string;
  /** Somebody deleted the anchor, or Slack refuses one; it is not posted again. */
  readonly anchorGone?: boolean;
  /** The requester has the private refusal, or the outcome of the dry run. */
  readonly told?: boolean;
  /**
   * Why nobody can find the result in Slack (a code): Slack refused it everywhere, permanently. The requester may have
   * it privately. kdebug stops trying.
   */
  readonly lost?: string;
  /** The card shows that the grant has ended. */
  readonly grantClosed?: boolean;
  /** Slack has every post of the finished run. */
  readonly closed?: boolean;
}

export type SharedFiles = Pick<Delivery, 'fileId' | 'files'>;

/** Something that Slack accepted, or refused permanently. */
export type DeliveryEvent =
  | { readonly kind: 'anchor-posted'; readonly ref: PostRef }
  | { readonly kind: 'anchor-lost' }
  /** `files`: shared with the result, as one message; `fileLost`: the result says why there are none. */
  | { readonly kind: 'result-posted'; readonly ref: PostRef; readonly files?: SharedFiles; readonly fileLost?: string }
  | { readonly kind: 'result-lost'; readonly code: string }
  | { readonly kind: 'files-shared'; readonly files: SharedFiles }
  | { readonly kind: 'files-lost'; readonly code: string }
  /** Seen only by the requester; `lost`: Slack refused even that (a code). */
  | { readonly kind: 'private-answer-sent'; readonly lost?: string }
  | { readonly kind: 'completed'; readonly grantClosed: boolean };

const RESULT: readonly RunState[] = ['rejected', 'expired', 'cancelled', 'finished'];

/** The run states in which each event may happen; in any other it changes nothing. */
const ALLOWED: Readonly<Record<DeliveryEvent['kind'], readonly RunState[]>> = {
  'anchor-posted': PLANNED_STATES,
  'anchor-lost': PLANNED_STATES,
  'result-posted': RESULT,
  'result-lost': RESULT,
  'files-shared': ['finished'],
  'files-lost': ['finished'],
  // A dry run ends as cancelled.
  'private-answer-sent': ['denied', 'cancelled'],
  completed: RESULT,
};

/** Undefined: the event cannot happen in this state, or is already recorded. */
export function deliveryTransition(delivery: Delivery, event: DeliveryEvent, state: RunState): Delivery | undefined {
  if (!ALLOWED[event.kind].includes(state)) return undefined;
  const changes = changesOf(event);
  const isKnown = Object.entries(changes).every(([field, value]) => isEqual(Reflect.get(delivery, field), value));
  return isKnown ? undefined : { ...delivery, ...changes };
}

function changesOf(event: DeliveryEvent): Delivery {
  switch (event.kind) {
    case 'anchor-posted':
      return { anchor: event.ref };
    case 'anchor-lost':
      return { anchorGone: true };
    case 'result-posted':
      return { ...event.files, result: event.ref, ...defined({ fileLost: event.fileLost }) };
    case 'result-lost':
      return { lost: event.code };
    case 'files-shared':
      return event.files;
    case 'files-lost':
      return { fileLost: event.code };
    case 'private-answer-sent':
      return { told: true, ...defined({ lost: event.lost }) };
    case 'completed':
      return { closed: true, ...defined({ grantClosed: event.grantClosed || undefined }) };
  }
}

/** The delivery before a late end: the result needs an update, with another log. The anchor and the result stay. */
export function reopened(delivery: Delivery): Delivery {
  const { closed: _, fileId: _earlier, fileLost: _why, lost: _where, ...rest } = delivery;
  return rest;
}
