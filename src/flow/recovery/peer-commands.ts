import { toKdebugError } from '../../core/errors.ts';
import { isActive } from '../../core/planning/grant.ts';
import { isBatchRun, isFinal } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import { canBeStopped, isStopping } from '../../core/run/stop.ts';
import { reasonMessage } from '../../core/say/answers/private-messages.ts';
import { defined } from '../../lib/object.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { RunChanger } from '../context/held-run.ts';
import type { BoundedRefusals } from '../context/refusals.ts';
import { type Change, changeBatch, type NotChanged } from '../inbox/batch-commands.ts';
import { STOP, stopRun } from '../inbox/stop-request.ts';
import { END_GRANT, endGrant } from '../planning/grants.ts';

interface PeerContext {
  readonly deps: FlowDeps;
  readonly runs: RunChanger;
  readonly refusals: BoundedRefusals;
}

/**
 * Applies the commands that other replicas left as notes for the batches, grants and runs of this one. Each is judged again,
 * and its author gets a refusal. One store query for each running batch, each open grant and each run that could be stopped. Never rejects.
 */
export async function applyPeerCommands(held: readonly Run[], peer: PeerContext): Promise<void> {
  const nowMs = peer.deps.clock.now();
  const isNoted = ({ batch, grant, state }: Run): boolean =>
    (grant !== undefined && isActive(grant, nowMs)) || (batch !== undefined && !isFinal(state));
  await Promise.all(
    held.filter((run) => isNoted(run) || (canBeStopped(run) && !isStopping(run))).map((run) => applyNotesOf(run, peer)),
  );
}

async function applyNotesOf(run: Run, peer: PeerContext): Promise<void> {
  try {
    for (const text of await peer.deps.store.notes.read(run.id)) await applySafely(run, text, peer);
  } catch (thrown) {
    logFailure(run, thrown, peer);
  }
}

/** Reading a note removes it from the store: a failed one is left again, and does not hold up the others. */
async function applySafely(run: Run, text: string, peer: PeerContext): Promise<void> {
  const { notes } = peer.deps.store;
  try {
    await applyCommand(run, text, peer);
  } catch (thrown) {
    logFailure(run, thrown, peer);
    // Not a kdebug note: leaving it again would loop forever.
    if (toKdebugError(thrown).code === 'internal_error') return;
    await notes.leave(run.id, text).catch((again: unknown) => logFailure(run, again, peer));
  }
}

function logFailure({ id }: Run, thrown: unknown, { deps: { log } }: PeerContext): void {
  log.warn('peer command failed', { runId: id, reason: toKdebugError(thrown).code });
}

async function applyCommand(run: Run, text: string, peer: PeerContext): Promise<void> {
  const note = readNote(text);
  const not = note && (await applyNote(run, note, peer));
  if (!note || !not) return;
  const { channelId, threadTs } = run.origin;
  const person = { channelId, userId: note.userId, ...defined({ threadTs }) };
  await peer.deps.thread
    .tell(person, reasonMessage(not.code, not.detail))
    .catch((thrown: unknown) => logFailure(run, thrown, peer));
}

async function applyNote(run: Run, { change, userId }: Note, peer: PeerContext): Promise<NotChanged> {
  if (change === STOP) return stopRun(run, { userId, ...peer });
  if (change !== END_GRANT) return isBatchRun(run) ? changeBatch(run, change, { userId, ...peer }) : undefined;
  const code = await endGrant(run, userId, peer);
  return code && { code };
}

interface Note {
  readonly change: Change | typeof END_GRANT | typeof STOP;
  readonly userId: string;
}

const KINDS: readonly Change['kind'][] = ['pause', 'resume', 'continue', 'cancel', 'scale'];

/** A note of `changeBatch`, `endGrant` or `stopRun`; undefined: of another version. */
function readNote(text: string): Note | undefined {
  const note: unknown = JSON.parse(text);
  if (typeof note !== 'object' || note === null || !('change' in note) || !('userId' in note)) return undefined;
  const { change, userId } = note;
  if (typeof userId !== 'string' || typeof change !== 'object' || change === null || !('kind' in change))
    return undefined;
  if (change.kind === STOP) return { change: STOP, userId };
  if (change.kind === END_GRANT) return { change: END_GRANT, userId };
  const kind = KINDS.find((known) => known === change.kind);
  if (kind === undefined) return undefined;
  if (kind !== 'scale') return { change: { kind }, userId };
  return { change: { kind, ...sizeOf(change, 'parallelism'), ...sizeOf(change, 'replicas') }, userId };
}

function sizeOf(change: object, name: 'parallelism' | 'replicas'): { readonly [size in typeof name]?: number } {
  const value: unknown = Reflect.get(change, name);
  return typeof value === 'number' ? { [name]: value } : {};
}
