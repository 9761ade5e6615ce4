import type { App, ViewSubmitAction } from '@slack/bolt';
import { HANDLERS, type Handler, OTHER_BUTTONS } from './handlers.ts';
import { type ButtonAck, onButton } from './listeners/button.ts';
import { onCommand } from './listeners/command.ts';
import type { ListenerContext } from './listeners/gate.ts';
import { onMention } from './listeners/mention.ts';
import { onShortcut } from './listeners/shortcut.ts';
import { onSubmission } from './listeners/submission.ts';

type Registrar = Pick<App, 'command' | 'event' | 'action' | 'view' | 'shortcut'>;

/** Makes exactly one listener of each row of the table. Nothing else registers with Bolt. */
export function register(app: Registrar, context: ListenerContext): void {
  for (const handler of HANDLERS) LISTEN[handler.listens](app, handler, context);
}

type Listen = (app: Registrar, handler: Handler, context: ListenerContext) => void;

const LISTEN: Readonly<Record<Handler['listens'], Listen>> = {
  command: (app, handler, context) =>
    app.command(handler.name, ({ body, ack }) => onCommand({ context, handler, body }, ack)),
  event: (app, handler, context) => app.event(handler.name, ({ body }) => onMention({ context, handler, body })),
  shortcut: (app, handler, context) =>
    app.shortcut({ callback_id: handler.name, type: 'message_action' }, ({ body, ack }) =>
      onShortcut({ context, handler, body }, ack),
    ),
  action: (app, handler, context) =>
    app.action(
      { action_id: handler.name === OTHER_BUTTONS ? unnamed() : handler.name, type: 'block_actions' },
      ({ body, ack }: { body: unknown; ack: ButtonAck }) => onButton({ context, handler, body }, ack),
    ),
  view: (app, handler, context) =>
    app.view<ViewSubmitAction>({ callback_id: handler.name, type: 'view_submission' }, ({ body, ack }) =>
      onSubmission({ context, handler, body }, ack),
    ),
};

/** Every `action_id` that no other row names. */
function unnamed(): RegExp {
  const named = HANDLERS.filter(({ listens, name }) => listens === 'action' && name !== OTHER_BUTTONS);
  return new RegExp(`^(?!(?:${named.map(({ name }) => name).join('|')})$)`);
}
