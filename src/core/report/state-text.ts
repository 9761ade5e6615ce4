import type { RunState } from '../run/run.ts';
import type { Tone } from './message.ts';

/** What each state of a run is called, and how it looks. */
export const STATE_TEXT: Readonly<Record<RunState, { readonly tone: Tone; readonly headline: string }>> = {
  received: { tone: 'progress', headline: 'Received' },
  denied: { tone: 'failure', headline: 'Denied' },
  'pending-approval': { tone: 'attention', headline: 'Waiting for approval' },
  rejected: { tone: 'failure', headline: 'Rejected' },
  expired: { tone: 'attention', headline: 'Expired' },
  cancelled: { tone: 'neutral', headline: 'Withdrawn' },
  approved: { tone: 'progress', headline: 'Launching' },
  launching: { tone: 'progress', headline: 'Launching' },
  starting: { tone: 'progress', headline: 'Starting' },
  running: { tone: 'progress', headline: 'Running' },
  collecting: { tone: 'progress', headline: 'Reading the log' },
  finished: { tone: 'neutral', headline: 'Finished' },
};

/** How the notification of a card begins that waits for a decision. */
export const APPROVAL_NEEDED = 'Approval needed';

/** Ends an anchor's last line, where the policy keeps output from the channel. */
export const OUTPUT_IS_PRIVATE = ' · output goes to the requester by DM';
