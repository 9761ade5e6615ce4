/**
 * Everything that people click, submit or pick in Slack. A name is what Slack sends back (`action_id` or `callback_id`), so messages
 * that were posted before keep the names of their version. Each table by these names is a `Record` of all of them: a button without a
 * handler, an audit kind or a test does not compile.
 */

/** The buttons. */
export const ACTION_NAMES = [
  'approve',
  'approve-grant',
  'reject',
  'cancel',
  'end-grant',
  'look-again',
  'next-image',
  'compare',
  'pause',
  'resume',
  'continue',
  'resize',
  'rerun-failed',
  'show-outliers',
  'rerun',
  'run-anyway',
  'ask-for-it',
  'logs',
  'details',
  'copy-command',
  'stop',
] as const;
export type ActionName = (typeof ACTION_NAMES)[number];

/** The forms. */
export const FORM_NAMES = ['debug', 'again-reason', 'vote-reason', 'apply', 'resize-batch', 'pick-channel'] as const;
export type FormName = (typeof FORM_NAMES)[number];

/** The fields of the form `debug` of which kdebug hears while the form is filled in. No button has such a name. */
export const FIELD_NAMES = ['cluster', 'namespace', 'pod', 'container', 'image', 'profile'] as const;
export type FieldName = (typeof FIELD_NAMES)[number];

/** Those of them whose options kdebug searches as people type. */
export const SEARCH_NAMES = ['namespace', 'pod'] as const satisfies readonly FieldName[];
export type SearchName = (typeof SEARCH_NAMES)[number];

export const isFieldName = (name: string): name is FieldName => FIELD_NAMES.some((known) => known === name);

/** The shortcuts on a message; `slack-app.yml` declares them. */
export const SHORTCUT_NAMES = ['debug-pod', 'apply-job'] as const;
export type ShortcutName = (typeof SHORTCUT_NAMES)[number];

/**
 * The buttons on messages that others write with kdebug's token, by the `callback_id` of their attachment (docs/alerts.md). What such a
 * button says is foreign text.
 */
export const ALERT_NAMES = ['kdebug-alert'] as const;
export type AlertName = (typeof ALERT_NAMES)[number];

/** The shortcuts of the whole workspace, which belong to no channel. */
export const GLOBAL_SHORTCUT_NAMES = ['debug-anywhere'] as const;
export type GlobalShortcutName = (typeof GLOBAL_SHORTCUT_NAMES)[number];

/** A button that opens a page: Slack tells kdebug of each press, too. Its number in the row follows, since a name is unique in its block. */
export const linkName = (index: number): string => `open-link-${index}`;
export const LINK_NAME = /^open-link-\d$/;

/** An unknown name comes from a button of an older version, or from a forged one. */
export const isActionName = (name: string): name is ActionName => ACTION_NAMES.some((known) => known === name);

/** The audit record of a click, allowed or refused: its step, and the fact `kind` where the step has several. */
export interface AuditedAs {
  /** `lookup`: it starts and changes nothing, so, like a typed `show` or `logs`, only a refusal at the door is recorded. */
  readonly step: 'vote' | 'grant' | 'batch' | 'stop' | 'request' | 'lookup';
  readonly kind?: string;
}

export const AUDITED_AS = {
  approve: { step: 'vote', kind: 'approve' },
  'approve-grant': { step: 'vote', kind: 'approve' },
  reject: { step: 'vote', kind: 'reject' },
  /** Withdraws a request. Of a batch that is approved or running it is a `batch` record of the same kind. */
  cancel: { step: 'vote', kind: 'cancel' },
  'end-grant': { step: 'grant', kind: 'end' },
  /** These make a new request, which has its own record. */
  'look-again': { step: 'request' },
  'next-image': { step: 'request' },
  compare: { step: 'request' },
  'rerun-failed': { step: 'request' },
  'show-outliers': { step: 'lookup' },
  rerun: { step: 'request' },
  'run-anyway': { step: 'request' },
  'ask-for-it': { step: 'request' },
  logs: { step: 'lookup' },
  details: { step: 'lookup' },
  'copy-command': { step: 'lookup' },
  pause: { step: 'batch', kind: 'pause' },
  resume: { step: 'batch', kind: 'resume' },
  continue: { step: 'batch', kind: 'continue' },
  resize: { step: 'batch', kind: 'resize' },
  /** Of a request that waits for approval it is a `vote` record `cancel`; of a batch, a `batch` record `cancel`. */
  stop: { step: 'stop', kind: 'request' },
} as const satisfies Readonly<Record<ActionName, AuditedAs>>;
