import type { PodState, SkipReason } from '../../batch/batch.ts';
import type { ResultGroup } from '../../batch/group-results.ts';
import type { BatchStatus } from '../../batch/pod-state.ts';
import type { Tone } from '../message.ts';

/** What each status is called, and how it looks. */
export const STATUS_TEXT: Readonly<Record<BatchStatus, { readonly tone: Tone; readonly words: string }>> = {
  Waiting: { tone: 'progress', words: 'Waiting' },
  Running: { tone: 'progress', words: 'Running' },
  Paused: { tone: 'attention', words: 'Paused' },
  Succeeded: { tone: 'success', words: 'Succeeded' },
  Failed: { tone: 'failure', words: 'Failed' },
  PartiallySucceeded: { tone: 'attention', words: 'Partially succeeded' },
  Cancelled: { tone: 'neutral', words: 'Cancelled' },
};

const STATE_TEXT: Readonly<Record<PodState, string>> = {
  queued: 'queued',
  skipped: 'skipped',
  starting: 'starting',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  'start-failed': 'did not start',
  'timed-out': 'timed out',
  lost: 'lost',
  cancelled: 'cancelled',
};

export const SKIP_TEXT: Readonly<Record<SkipReason, string>> = {
  static: 'static',
  finished: 'finished',
  deleting: 'being deleted',
  'not-scheduled': 'on no node yet',
  windows: 'on Windows',
  'cap-reached': 'full of debug containers',
  'share-reached': 'full of your debug containers',
  'no-such-target': 'without that container',
  'target-ended': 'whose target has ended',
  'beyond-replicas': 'beyond --replicas',
};

/** A name for a message: the longest is 253 characters, of which the ends say most. */
const SHOWN = 63;
export const shownName = (name: string): string =>
  name.length <= SHOWN ? name : `${name.slice(0, 30)}…${name.slice(-32)}`;

/** `failed, exit code 1 (Error), dns_unreachable`. */
export function groupText({ state, exitCode, reason, findings }: ResultGroup): string {
  const code = exitCode === undefined || state === 'succeeded' ? '' : `, exit code ${exitCode}`;
  const why = reason === undefined || reason === 'Completed' ? '' : ` (${reason})`;
  const found = findings.length === 0 ? '' : `: ${findings.join(', ')}`;
  return `${STATE_TEXT[state]}${code}${why}${found}`;
}

/** Twenty cells; a batch that has begun shows one, and only a finished one shows them all. */
export function progressBar(done: number, all: number): string {
  const share = all === 0 ? 1 : done / all;
  const cells = share >= 1 ? CELLS : Math.min(CELLS - 1, Math.max(done > 0 ? 1 : 0, Math.floor(share * CELLS)));
  return `${'█'.repeat(cells)}${'░'.repeat(CELLS - cells)} ${Math.floor(share * 100)} %`;
}

const CELLS = 20;

/** Of a batch that was rebuilt from the cluster (`rebuildBatch`). */
export const RECORD_LOST =
  'kdebug had lost its record of this batch and found these containers again in the cluster. Pods that were still waiting are not known any more and were not started; when each was launched is an estimate.';
