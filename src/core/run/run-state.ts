/**
 * The states of a run (design, section 4), each with its way in and its way out. `denied`, `rejected`, `expired`,
 * `cancelled` and `finished` are final.
 */
export type RunState =
  /** Saved before the command was acknowledged; planning and deciding end it. */
  | 'received'
  /** Policy or a check refused; final. */
  | 'denied'
  /** Policy requires an approval; a vote, a cancel or the expiry ends it. */
  | 'pending-approval'
  | 'rejected'
  | 'expired'
  | 'cancelled'
  /** May be launched; the launch ends it. */
  | 'approved'
  /** The PATCH may or may not have happened; the cluster's answer ends it. */
  | 'launching'
  /** The API server holds our container; a running or terminated status, a start failure or the start clock ends it. */
  | 'starting'
  /** Seen running; its end, the run clock or the pod's end ends it. */
  | 'running'
  /** The outcome is known; the rest of the log is being read. */
  | 'collecting'
  | 'finished';

/** All but `received`, in which nothing is known of a run yet. */
export const PLANNED_STATES: readonly RunState[] = [
  'denied',
  'pending-approval',
  'rejected',
  'expired',
  'cancelled',
  'approved',
  'launching',
  'starting',
  'running',
  'collecting',
  'finished',
];

/** The address of a message in Slack. */
export interface PostRef {
  readonly channelId: string;
  readonly ts: string;
}
