/**
 * What is reported of some real workspaces and not of others, or is documented nowhere. Each may be changed at any time; what each stands for
 * is in docs/play.md.
 */
export interface Habits {
  /** `dead`: a message with files shows its buttons, and no press on one reaches the app (slackapi/bolt-python#411). Default `live`. */
  fileButtons: 'live' | 'dead';
  /**
   * `http`: a press on a button of an attachment reaches the app over HTTP alone (slackapi/bolt-python#388); others saw it arrive over Socket
   * Mode (slack-go/slack#1272). Default `live`.
   */
  attachmentButtons: 'live' | 'http';
  /** Types of blocks that this workspace does not know, by its plan or during a roll-out: `invalid_blocks`. Default none. */
  withoutBlocks: readonly string[];
  /**
   * A reply to a message that is gone and had no replies: `unthread`, it stands in the channel itself, and its answer names no thread
   * (slack-go/slack#1571); `refuse`: `thread_not_found`. Default `unthread`.
   */
  lostThreads: 'unthread' | 'refuse';
  /**
   * When the message of completed files is seen, and when their `shares` name it. `soon`: both after `shareDelayMs`. `late`: the message as
   * soon, but above what was posted since the call, and the shares as long after it. `unrecorded`: the shares never. `lost`: neither, ever.
   * Default `soon`.
   */
  fileShares: 'soon' | 'late' | 'unrecorded' | 'lost';
  /** People who are not active now: no private answer reaches them ("the user must be currently active"). Default nobody. */
  away: ReadonlySet<string>;
}

export const DEFAULT_HABITS: Habits = {
  fileButtons: 'live',
  attachmentButtons: 'live',
  withoutBlocks: [],
  lostThreads: 'unthread',
  fileShares: 'soon',
  away: new Set(),
};
