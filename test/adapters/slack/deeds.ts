import { alertPost, postAlert } from '../../../play/app/alert.ts';
import type { Delivery } from '../../../play/slack/index.ts';
import type { Row } from '../../../src/adapters/slack/handlers.ts';
import { ACTION_NAMES, type ActionName, type FormName } from '../../../src/core/actions.ts';
import type { Field, Form } from '../../../src/core/say/message/message.ts';
import { saying, type World } from './harness.ts';

export const formOf = (name: FormName, more: Partial<Form> = {}): Form => ({
  name,
  value: 'abcdefgh23',
  title: 'Debug a pod',
  submit: 'Run',
  fields: [
    { id: 'pod', label: 'Pod', kind: 'line', optional: false },
    { id: 'reason', label: 'Reason', kind: 'lines', optional: true },
  ],
  ...more,
});

export const typed = (pod: string) => ({
  pod: { pod: { type: 'plain_text_input', value: pod } },
  reason: { reason: { type: 'plain_text_input', value: null } },
});

const fieldOf = (id: string, kind: 'choice' | 'search'): Field => ({
  ...{ id, kind, label: id, optional: true, dispatches: true },
  ...(kind === 'choice' ? { options: [{ value: 'a', label: 'a' }] } : {}),
});

/** Who does it, and what the payload says by force. */
export interface By {
  readonly user: string;
  readonly override?: Record<string, unknown>;
}

const CHANNEL = 'C0SHOP';

/** Does, as a person of Slack, what a row of the table listens to. The message and the form were made for a member. */
export async function deed(world: World, handler: Row, by: By): Promise<Delivery> {
  const { deliver } = world.local;
  switch (handler.listens) {
    case 'command':
      return deliver.command({ ...by, channel: CHANNEL, text: 'pod-1', command: handler.name });
    case 'event':
      return EVENTS[handler.name](world, by);
    case 'shortcut': {
      if ('isGlobal' in handler) return deliver.shortcut({ ...by, callbackId: handler.name });
      const { ts } = deliver.say({ user: 'U0ROY', channel: CHANNEL, text: 'pod-1 is slow' });
      return deliver.shortcut({ ...by, channel: CHANNEL, ts, callbackId: handler.name });
    }
    case 'action':
      return click(world, handler.name, by);
    case 'alert': {
      const ts = await postAlert(world.local, alertPost(CHANNEL, 'shop/web-1', { callback_id: handler.name }));
      return deliver.attachment({ ...by, channel: CHANNEL, ts, label: 'Diagnose' });
    }
    case 'field': {
      const viewId = await openForm(world, 'debug', { fields: [fieldOf(handler.name, 'choice')] });
      return deliver.viewAction({ ...by, viewId, actionId: handler.name, chosen: ['a'] });
    }
    case 'search': {
      const viewId = await openForm(world, 'debug', { fields: [fieldOf(handler.name, 'search')] });
      const asked = { viewId, blockId: handler.name, actionId: handler.name, typed: 'a' };
      return (await deliver.suggest({ ...by, ...asked })).delivery;
    }
    case 'view':
      return deliver.viewSubmission({ ...by, viewId: await openForm(world, handler.name), values: typed('pod-1') });
  }
}

/** Causes an event of the bot's, as a person. */
const EVENTS: Readonly<
  Record<Extract<Row, { listens: 'event' }>['name'], (world: World, by: By) => Promise<Delivery>>
> = {
  app_home_opened: ({ local }, { user, override }) => {
    const event = { type: 'app_home_opened', user, channel: CHANNEL, tab: 'home' };
    return local.deliver.event(event, override ? { override } : {});
  },
  app_mention: ({ local }, by) => local.deliver.mention({ ...by, channel: CHANNEL, text: 'pod-1' }),
  message: ({ local }, { user, override }) => {
    const event = {
      type: 'message',
      channel_type: 'im',
      user,
      channel: CHANNEL,
      ts: local.state.nextTs(),
      text: 'pod-1',
    };
    return local.deliver.event(event, override ? { override } : {});
  },
  member_joined_channel: ({ local }, { user, override }) => {
    const event = { type: 'member_joined_channel', user: local.botUserId, channel: CHANNEL, inviter: user };
    return local.deliver.event(event, override ? { override } : {});
  },
};

/** A button that no version of kdebug has. */
export const FOREIGN_BUTTON = 'a-button-of-tomorrow';

/** Clicks a button of a card that has all of them, and the foreign one. */
export const click = async (world: World, actionId: string, by: By): Promise<Delivery> =>
  world.local.deliver.action({ ...by, channel: CHANNEL, ts: await card(world), actionId });

const cards = new WeakMap<World, Promise<string>>();

/** One message with every button. */
function card(world: World): Promise<string> {
  const names = [...ACTION_NAMES, FOREIGN_BUTTON as ActionName];
  const buttons = names.map((action) => ({ action, label: action, value: 'abcdefgh23' }));
  const message = { ...saying('card'), parts: [{ kind: 'actions' as const, buttons }] };
  const meta = { run: 'abcdefgh23', kind: 'anchor', seq: 1 } as const;
  const posted =
    cards.get(world) ?? world.slack.thread.post({ channelId: CHANNEL }, message, meta).then(({ ts }) => ts);
  cards.set(world, posted);
  return posted;
}

/** A form, opened for a member. */
export async function openForm(world: World, name: FormName, more: Partial<Form> = {}): Promise<string> {
  const before = new Set(world.local.views('U0ROY').map(({ id }) => id));
  const answer = world.inbox.answer;
  world.inbox.answer = async () => ({ kind: 'form', form: formOf(name, more) });
  await world.local.deliver.command({ user: 'U0ROY', channel: CHANNEL, text: '' });
  world.inbox.answer = answer;
  world.inbox.forget();
  return (await world.local.until(() => world.local.views('U0ROY').find(({ id }) => !before.has(id)))).id;
}
