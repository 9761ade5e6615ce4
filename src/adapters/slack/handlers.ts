import type { App, BlockAction, InteractiveMessage, ViewSubmitAction } from '@slack/bolt';
import {
  ACTION_NAMES,
  type ActionName,
  ALERT_NAMES,
  type AlertName,
  FIELD_NAMES,
  type FieldName,
  FORM_NAMES,
  type FormName,
  GLOBAL_SHORTCUT_NAMES,
  type GlobalShortcutName,
  isActionName,
  isFieldName,
  LINK_NAME,
  SEARCH_NAMES,
  type SearchName,
  SHORTCUT_NAMES,
  type ShortcutName,
} from '../../core/actions.ts';
import { DEFAULT_NAMES } from '../../core/shown-names.ts';
import { onAlert } from './listeners/alert.ts';
import { onButton, onUnknownButton } from './listeners/button.ts';
import { onCommand } from './listeners/command.ts';
import { onHomeOpened, onJoined } from './listeners/events.ts';
import { onChange, onSearch } from './listeners/form-fields.ts';
import type { Delivered, Handler, ListenerContext, ShortcutHandler } from './listeners/gate.ts';
import { onDirect, onMention } from './listeners/mention.ts';
import { type NoticeContext, onChannelId, onGroup } from './listeners/notices.ts';
import { onGlobalShortcut, onShortcut } from './listeners/shortcut.ts';
import { onSubmission } from './listeners/submission.ts';
import { acknowledger } from './receiving/acknowledge.ts';

type Rules<Row extends Handler = Handler> = Omit<Row, 'name'>;

const MEMBERS: Rules = { needs: 'member', namesApp: true };
/** Slack puts no `api_app_id` into the payload of a shortcut, or of a click on an attachment. */
const MEMBERS_WITHOUT_APP: Rules = { needs: 'member', namesApp: false };

const SHORTCUTS: Readonly<Record<ShortcutName, Rules<ShortcutHandler>>> = {
  'debug-pod': MEMBERS_WITHOUT_APP,
  'apply-job': { ...MEMBERS_WITHOUT_APP, readsFile: true },
};

/** The events of `slack-app.yml`, each with its listener. */
const EVENTS = {
  app_home_opened: onHomeOpened,
  app_mention: onMention,
  member_joined_channel: onJoined,
  /** Of direct messages alone: the app subscribes to `message.im`. */
  message: onDirect,
} satisfies Readonly<Record<string, (delivered: Delivered) => Promise<void>>>;
type EventName = keyof typeof EVENTS;
const EVENT_NAMES = Object.keys(EVENTS) as readonly EventName[];

/** The other events of `slack-app.yml`: Slack tells them by itself, so no person is let in. None reaches the inbox. */
const ON_NOTICE = { channel_id_changed: onChannelId, subteam_members_changed: onGroup };
type NoticeName = keyof typeof ON_NOTICE;
export const NOTICES = Object.keys(ON_NOTICE) as readonly NoticeName[];

export type Row =
  | ({ readonly listens: 'command' } & Handler)
  | ({ readonly listens: 'event' } & Handler<EventName>)
  | ({ readonly listens: 'shortcut' } & ShortcutHandler)
  | ({ readonly listens: 'shortcut'; readonly isGlobal: true } & Handler<GlobalShortcutName>)
  | ({ readonly listens: 'action' } & Handler<ActionName>)
  | ({ readonly listens: 'alert' } & Handler<AlertName>)
  | ({ readonly listens: 'field' } & Handler<FieldName>)
  | ({ readonly listens: 'search' } & Handler<SearchName>)
  | ({ readonly listens: 'view' } & Handler<FormName>);

/** Everything that people can send to kdebug, and who may use it. `slack-app.yml` names the same command, events and shortcuts. */
export const HANDLERS: readonly Row[] = [
  { listens: 'command', name: DEFAULT_NAMES.command, ...MEMBERS },
  ...EVENT_NAMES.map((name) => ({ listens: 'event', name, ...MEMBERS }) as const),
  ...GLOBAL_SHORTCUT_NAMES.map(
    (name) => ({ listens: 'shortcut', isGlobal: true, name, ...MEMBERS_WITHOUT_APP }) as const,
  ),
  ...SHORTCUT_NAMES.map((name) => ({ listens: 'shortcut', name, ...SHORTCUTS[name] }) as const),
  ...ACTION_NAMES.map((name) => ({ listens: 'action', name, ...MEMBERS }) as const),
  ...ALERT_NAMES.map((name) => ({ listens: 'alert', name, ...MEMBERS_WITHOUT_APP }) as const),
  ...FIELD_NAMES.map((name) => ({ listens: 'field', name, ...MEMBERS }) as const),
  ...SEARCH_NAMES.map((name) => ({ listens: 'search', name, ...MEMBERS }) as const),
  ...FORM_NAMES.map((name) => ({ listens: 'view', name, ...MEMBERS }) as const),
];

/** For buttons of older versions: answered and recorded, without effect. */
export const UNKNOWN_BUTTON: Handler = { name: '*', ...MEMBERS };

type Registrar = Pick<App, 'command' | 'event' | 'action' | 'view' | 'shortcut' | 'options' | 'use'>;

/** Nothing else registers with Bolt. */
export function register(app: Registrar, context: ListenerContext & NoticeContext): void {
  app.use(async function unknownButtons(args) {
    if (!('action' in args) || !('action_id' in args.action) || isKnown(args.action.action_id)) return args.next();
    return onUnknownButton({ context, handler: UNKNOWN_BUTTON, body: args.body }, () => args.ack());
  });
  for (const row of HANDLERS) registerRow(app, row, context);
  // The browser opens the page. Slack marks the button as failed unless the press is acknowledged; nothing else is to do.
  app.action(LINK_NAME, ({ ack }) => ack());
  for (const name of NOTICES) app.event(name, ({ body }) => ON_NOTICE[name]({ context, body }));
}

const isKnown = (actionId: string): boolean =>
  isActionName(actionId) || isFieldName(actionId) || LINK_NAME.test(actionId);

function registerRow(app: Registrar, row: Row, context: ListenerContext): void {
  const acknowledged = { log: context.log, type: `${row.listens} ${row.name}` };
  switch (row.listens) {
    case 'command':
      // The app's settings say which commands Slack sends it, under which name. A delivery that gets here is signed for this app.
      app.command(/.+/, ({ body, ack }) => onCommand({ context, handler: row, body }, acknowledger(ack, acknowledged)));
      break;
    case 'event':
      app.event(row.name, ({ body }) => EVENTS[row.name]({ context, handler: row, body }));
      break;
    case 'shortcut':
      app.shortcut(row.name, ({ body, ack }) =>
        'isGlobal' in row
          ? onGlobalShortcut({ context, handler: row, body }, () => ack())
          : onShortcut({ context, handler: row, body }, () => ack()),
      );
      break;
    case 'action':
      app.action<BlockAction>(row.name, ({ body, ack }) => onButton({ context, handler: row, body }, () => ack()));
      break;
    case 'alert':
      app.action<InteractiveMessage>({ type: 'interactive_message', callback_id: row.name }, ({ body, ack }) =>
        onAlert({ context, handler: row, body }, () => ack()),
      );
      break;
    case 'field':
      app.action<BlockAction>(row.name, ({ body, ack }) => onChange({ context, handler: row, body }, () => ack()));
      break;
    case 'search':
      app.options<'block_suggestion'>(row.name, ({ body, ack }) =>
        onSearch({ context, handler: row, body }, acknowledger(ack, acknowledged)),
      );
      break;
    case 'view':
      app.view<ViewSubmitAction>(row.name, ({ body, ack }) =>
        onSubmission({ context, handler: row, body }, acknowledger(ack, acknowledged)),
      );
  }
}
