import type { Inbox, Person } from '../../flow/ports/slack.ts';

/** One thing that Slack may bring us, who may do it, and where it goes. */
export interface Handler {
  readonly listens: 'command' | 'event' | 'action' | 'view' | 'shortcut';
  /** The slash command, the event's type, the button's `action_id`, the form's or the shortcut's `callback_id`. */
  readonly name: string;
  /** The kind of person that may; everyone else is refused before the inbox hears of it. */
  readonly needs: Extract<Person['kind'], 'member'>;
  /** Whether Slack names the app in this payload (`api_app_id`); where it does not, the signature or the app token alone proves the app. */
  readonly namesApp: boolean;
  /** Whether the text file of a message is read, where it has no code block. */
  readonly readsFile?: true;
  /** The inbox's method that takes it; `none` only answers. */
  readonly inbox: Exclude<keyof Inbox, 'refused'> | 'none';
}

/** Stands for every button that no other row names, an older version's for example. */
export const OTHER_BUTTONS = '*';

/**
 * Everything that is listened to, and nothing else is: `register` makes the listeners from this table, and a form whose
 * name has no row here is never opened. `slack-app.yml` names the same command, event and shortcut.
 */
export const HANDLERS: readonly Handler[] = [
  { listens: 'command', name: '/kdebug', needs: 'member', namesApp: true, inbox: 'command' },
  { listens: 'event', name: 'app_mention', needs: 'member', namesApp: true, inbox: 'command' },
  { listens: 'shortcut', name: 'debug-pod', needs: 'member', namesApp: false, inbox: 'shortcut' },
  { listens: 'shortcut', name: 'apply-job', needs: 'member', namesApp: false, readsFile: true, inbox: 'shortcut' },
  { listens: 'action', name: 'approve', needs: 'member', namesApp: true, inbox: 'action' },
  { listens: 'action', name: 'approve-grant', needs: 'member', namesApp: true, inbox: 'action' },
  { listens: 'action', name: 'reject', needs: 'member', namesApp: true, inbox: 'action' },
  { listens: 'action', name: 'cancel', needs: 'member', namesApp: true, inbox: 'action' },
  { listens: 'action', name: 'end-grant', needs: 'member', namesApp: true, inbox: 'action' },
  { listens: 'action', name: 'look-again', needs: 'member', namesApp: true, inbox: 'action' },
  { listens: 'action', name: 'pause', needs: 'member', namesApp: true, inbox: 'action' },
  { listens: 'action', name: 'resume', needs: 'member', namesApp: true, inbox: 'action' },
  { listens: 'action', name: 'continue', needs: 'member', namesApp: true, inbox: 'action' },
  { listens: 'action', name: 'resize', needs: 'member', namesApp: true, inbox: 'action' },
  { listens: 'action', name: 'rerun-failed', needs: 'member', namesApp: true, inbox: 'action' },
  { listens: 'action', name: 'stop', needs: 'member', namesApp: true, inbox: 'action' },
  { listens: 'action', name: 'rerun', needs: 'member', namesApp: true, inbox: 'action' },
  { listens: 'action', name: OTHER_BUTTONS, needs: 'member', namesApp: true, inbox: 'none' },
  { listens: 'view', name: 'debug', needs: 'member', namesApp: true, inbox: 'submit' },
  { listens: 'view', name: 'again-reason', needs: 'member', namesApp: true, inbox: 'submit' },
  { listens: 'view', name: 'vote-reason', needs: 'member', namesApp: true, inbox: 'submit' },
  { listens: 'view', name: 'apply', needs: 'member', namesApp: true, inbox: 'submit' },
  { listens: 'view', name: 'resize-batch', needs: 'member', namesApp: true, inbox: 'submit' },
];

/** Whether a form of this name can come back. */
export const isKnownForm = (name: string): boolean =>
  HANDLERS.some((handler) => handler.listens === 'view' && handler.name === name);
