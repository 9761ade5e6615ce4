import { isBatchRun } from '../../core/batch/batch-run.ts';
import { toKdebugError } from '../../core/errors.ts';
import { reasonMessage } from '../../core/report/private-messages.ts';
import { isFinal } from '../../core/run/progress.ts';
import type { Run } from '../../core/run/run.ts';
import type { FlowDeps } from '../deps.ts';
import type { RunChanger } from '../session.ts';
import { type Change, changeBatch } from './change-batch.ts';

interface Heeding {
  readonly deps: FlowDeps;
  readonly runs: RunChanger;
}

/**
 * Does what other replicas were asked to do with the batches that this one holds, as if it had been asked itself: who may is judged
 * again, and who is refused is told. One look at the store for each batch at work. Never rejects.
 */
export async function heedNotes(held: readonly Run[], heeding: Heeding): Promise<void> {
  const batches = held.filter((run) => run.batch !== undefined && !isFinal(run.state));
  await Promise.all(batches.map((run) => heedNotesOf(run, heeding)));
}

async function heedNotesOf(run: Run, heeding: Heeding): Promise<void> {
  const { store, log } = heeding.deps;
  try {
    for (const text of await store.notes.take(run.id)) await heed(run, text, heeding);
  } catch (thrown) {
    log.warn('notes of other replicas were not heeded', { runId: run.id, reason: toKdebugError(thrown).code });
  }
}

async function heed(run: Run, text: string, { deps, runs }: Heeding): Promise<void> {
  const note = readNote(text);
  if (!note || !isBatchRun(run)) return;
  const { change, userId } = note;
  const not = await changeBatch(run, change, { userId, deps, runs });
  if (!not) return;
  const { channelId, threadTs } = run.origin;
  const person = { channelId, userId, ...(threadTs !== undefined && { threadTs }) };
  await deps.thread.tell(person, reasonMessage(not.code, not.detail));
}

const KINDS: readonly Change['kind'][] = ['pause', 'resume', 'continue', 'cancel', 'scale'];

/** A note of `changeBatch`; undefined: of another version. */
function readNote(text: string): { readonly change: Change; readonly userId: string } | undefined {
  const note: unknown = JSON.parse(text);
  if (typeof note !== 'object' || note === null || !('change' in note) || !('userId' in note)) return undefined;
  const { change, userId } = note;
  if (typeof userId !== 'string' || typeof change !== 'object' || change === null || !('kind' in change))
    return undefined;
  const kind = KINDS.find((known) => known === change.kind);
  if (kind === undefined) return undefined;
  if (kind !== 'scale') return { change: { kind }, userId };
  return { change: { kind, ...sizeOf(change, 'parallelism'), ...sizeOf(change, 'replicas') }, userId };
}

function sizeOf(change: object, name: 'parallelism' | 'replicas'): { readonly [size in typeof name]?: number } {
  const value: unknown = Reflect.get(change, name);
  return typeof value === 'number' ? { [name]: value } : {};
}
