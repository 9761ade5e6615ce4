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
  'not-scheduled': 'not scheduled yet',
  windows: 'on Windows',
  'cap-reached': 'at their limit of debug containers',
  'share-reached': 'at their limit of your debug containers',
  'no-such-target': 'without that container',
  'target-ended': 'whose target has exited',
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

/** Of a batch that was rebuilt from the cluster (`rebuildBatch`). */
export const RECORD_LOST =
  'kdebug restarted during this batch and recovered these containers from the cluster. Pods that were still waiting are no longer known and were not started; times are estimates.';
