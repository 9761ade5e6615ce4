import type { BatchHead } from './batch.ts';
import type { BatchEvent } from './batch-event.ts';

/** The events that change no pod: what people decide. */
export type HeadEvent = Exclude<BatchEvent, { kind: 'launched' | 'started' | 'ended' | 'ttl-expired' | 'resized' }>;

/** When an event that changes the head alone may happen. */
const MAY: Readonly<Record<HeadEvent['kind'], (head: BatchHead) => boolean>> = {
  paused: (head) => isAtWork(head) && head.paused === undefined,
  resumed: (head) => isAtWork(head) && head.paused !== undefined,
  continued: (head) => isAtWork(head) && head.canary === 'waiting',
  cancelled: isAtWork,
};

/** The head after such an event; undefined: it cannot happen now. */
export function headAfter(head: BatchHead, event: HeadEvent, atMs: number): BatchHead | undefined {
  if (!MAY[event.kind](head)) return undefined;
  switch (event.kind) {
    case 'paused':
      return { ...head, paused: { byUserId: event.byUserId, atMs } };
    case 'resumed': {
      const { paused: _, ...resumed } = head;
      return resumed;
    }
    case 'continued':
      return { ...head, canary: 'continued' };
    case 'cancelled':
      return { ...head, closed: { because: 'cancelled', atMs, byUserId: event.byUserId } };
  }
}

/** It has not ended, and is not about to. */
export function isAtWork({ endedAtMs, closed }: BatchHead): boolean {
  return endedAtMs === undefined && !closed;
}
