import { z } from 'zod';
import { KdebugError, type ReasonCode } from '../../../core/errors.ts';
import type { Answer } from '../../../flow/ports/slack.ts';
import { MAX_EDIT_AGE_MS, MAX_EVENT_AGE_MS } from '../limits.ts';
import type { ListenerContext } from './gate.ts';

/** A person's message, as an event brings it. */
export interface Written {
  /** Equal for every delivery and every edit of the message. */
  readonly key: string;
  /** Seconds since 1970. */
  readonly eventTime: number | undefined;
  readonly ts: string;
  /** The editor and the time of the edit, as Slack sends them. */
  readonly edited: unknown;
}

/** Slack puts `event_time` into every event; one without it counts as new. */
export const isLate = (eventTime: number | undefined, nowMs: number): boolean =>
  eventTime !== undefined && nowMs - eventTime * 1_000 > MAX_EVENT_AGE_MS;

const isEdited = ({ edited }: Written): boolean => edited !== undefined && edited !== null;

function latenessOf(written: Written, nowMs: number): ReasonCode | undefined {
  const writtenAt = Number(written.ts);
  const { eventTime = writtenAt } = written;
  // Slack may stamp a replay anew; the `ts` of an edit is that of its message.
  if (isLate(isEdited(written) ? eventTime : Math.min(eventTime, writtenAt), nowMs)) return 'slack_event_late';
  return isEdited(written) && nowMs - writtenAt * 1_000 > MAX_EDIT_AGE_MS ? 'slack_edit_late' : undefined;
}

/** Enough for the events that Slack repeats or replays at once. */
const MAX_HEARD = 1_000;

interface Heard {
  readonly keys: Set<string>;
  /** By message: when its newest edit was made. */
  readonly edits: Map<string, number>;
}

const heardBy = new WeakMap<ListenerContext, Heard>();

function heardOf(context: ListenerContext): Heard {
  const heard = heardBy.get(context) ?? { keys: new Set(), edits: new Map() };
  heardBy.set(context, heard);
  return heard;
}

/** The key is new to this process. */
function isFirst({ keys }: Heard, key: string): boolean {
  if (keys.has(key)) return false;
  keys.add(key);
  forgetOldest(keys);
  return true;
}

/** This process has heard a newer edit of the message, so its writer no longer sees these words. */
function isOutdated({ edits }: Heard, written: Written): boolean {
  const newest = edits.get(written.key);
  const editedAt = isEdited(written) ? (EditedAt.safeParse(written.edited).data?.ts ?? 0) : undefined;
  if (editedAt === undefined) return newest !== undefined;
  if (newest !== undefined && editedAt < newest) return true;
  edits.set(written.key, editedAt);
  forgetOldest(edits);
  return false;
}

const EditedAt = z.object({ ts: z.coerce.number() });

function forgetOldest(all: Set<string> | Map<string, number>): void {
  const [oldest] = all.keys();
  if (all.size > MAX_HEARD && oldest !== undefined) all.delete(oldest);
}

/**
 * Calls the inbox with a message that comes in time. One that comes too late, or was edited too late, is refused once: not again for each
 * further edit of it, and not if this process has heard the message before. The inbox hears `isEdit` once for each edit: Slack may repeat it.
 * It hears no words that were edited since, when Slack repeats them after the edit.
 * @throws KdebugError slack_event_late, slack_edit_late
 */
export async function ifInTime(
  context: ListenerContext,
  written: Written,
  call: (words: { readonly isEdit?: true }) => Promise<Answer>,
): Promise<Answer> {
  // By the wall clock, as Slack's own times.
  const code = latenessOf(written, context.clock.now());
  const heard = heardOf(context);
  if (isOutdated(heard, written)) return { kind: 'nothing' };
  const isNew = isFirst(heard, code && isEdited(written) ? `edited ${written.key}` : written.key);
  const isEdit = isEdited(written) && isFirst(heard, `edit ${JSON.stringify(written.edited)} of ${written.key}`);
  if (code === undefined) return call(isEdit ? { isEdit } : {});
  if (isNew) throw new KdebugError(code);
  return { kind: 'nothing' };
}
