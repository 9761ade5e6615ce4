import type {
  BlockAction,
  BlockSuggestion,
  EnvelopedEvent,
  MessageShortcut,
  SlackViewAction,
  SlashCommand,
  ViewSubmitAction,
} from '@slack/bolt';
import type { AppMentionEvent } from '@slack/types';
import fc from 'fast-check';

/** A shortcut on a message names no app. */
const unnamed = {
  token: 't',
  team: { id: 'T0LOCAL', domain: 'local' },
  user: { id: 'U0ROY', name: 'roy', username: 'roy', team_id: 'T0LOCAL' },
};
const common = { ...unnamed, api_app_id: 'A0KDEBUG' };

const command: SlashCommand = {
  token: 't',
  command: '/kdebug',
  text: 'pod-1',
  response_url: 'https://hooks.slack.com/commands/1',
  trigger_id: '1.2.abc',
  user_id: 'U0ROY',
  user_name: 'roy',
  team_id: 'T0LOCAL',
  team_domain: 'local',
  channel_id: 'C0SHOP',
  channel_name: 'shop',
  api_app_id: 'A0KDEBUG',
};

const mention: EnvelopedEvent<AppMentionEvent> = {
  type: 'event_callback',
  token: 't',
  team_id: 'T0LOCAL',
  api_app_id: 'A0KDEBUG',
  event_id: 'Ev1',
  event_time: 1_700_000_000,
  authorizations: [
    { enterprise_id: null, team_id: 'T0LOCAL', user_id: 'U0KDEBUG', is_bot: true, is_enterprise_install: false },
  ],
  event: {
    type: 'app_mention',
    user: 'U0ROY',
    username: 'roy',
    text: '<@U0KDEBUG> pod-1',
    ts: '1700000000.000100',
    channel: 'C0SHOP',
    event_ts: '1700000000.000100',
  },
};

const click: BlockAction = {
  ...common,
  type: 'block_actions',
  actions: [
    {
      type: 'button',
      block_id: 'b',
      action_id: 'pause',
      action_ts: '1700000000.000100',
      text: { type: 'plain_text', text: 'Stop' },
      value: 'abcdefgh23',
    },
  ],
  channel: { id: 'C0SHOP', name: 'shop' },
  container: { type: 'message', message_ts: '1700000000.000100', channel_id: 'C0SHOP', is_ephemeral: false },
  message: { type: 'message', ts: '1700000000.000100', text: 'm' },
  response_url: 'https://hooks.slack.com/actions/1',
  trigger_id: '1.2.abc',
};

const shortcut: MessageShortcut = {
  ...unnamed,
  type: 'message_action',
  callback_id: 'debug-pod',
  trigger_id: '1.2.abc',
  message_ts: '1700000000.000100',
  response_url: 'https://hooks.slack.com/actions/1',
  channel: { id: 'C0SHOP', name: 'shop' },
  message: { type: 'message', user: 'U0ROY', ts: '1700000000.000100', text: 'alert', blocks: [], attachments: [] },
  action_ts: '1700000000.000100',
};

const view: SlackViewAction['view'] = {
  id: 'V1',
  team_id: 'T0LOCAL',
  app_id: 'A0KDEBUG',
  bot_id: 'B0KDEBUG',
  type: 'modal',
  title: { type: 'plain_text', text: 'Debug' },
  submit: { type: 'plain_text', text: 'Debug' },
  close: null,
  blocks: [],
  private_metadata: JSON.stringify({ name: 'debug', value: '', channelId: 'C0SHOP' }),
  callback_id: 'debug',
  state: { values: { pod: { pod: { type: 'plain_text_input', value: 'pod-1' } } } },
  hash: '1.abc',
  clear_on_close: false,
  notify_on_close: false,
  root_view_id: 'V1',
  previous_view_id: null,
  external_id: '',
  app_installed_team_id: 'T0LOCAL',
};
const submission: ViewSubmitAction = { ...common, type: 'view_submission', view, trigger_id: '1.2.abc' };

const change = {
  ...common,
  type: 'block_actions',
  view,
  container: { type: 'view', view_id: 'V1' },
  trigger_id: '1.2.abc',
  actions: [
    {
      ...{ type: 'external_select', block_id: 'pod', action_id: 'pod', action_ts: '1700000000.000100' },
      selected_option: { text: { type: 'plain_text', text: 'pod-1' }, value: 'pod-1' },
    },
  ],
};

const search: BlockSuggestion = {
  ...common,
  type: 'block_suggestion',
  view,
  container: { type: 'view', view_id: 'V1' },
  block_id: 'pod',
  action_id: 'pod',
  value: 'po',
};

export interface Shape {
  /** Of the Socket Mode envelope that would bring it. */
  readonly envelope: 'slash_commands' | 'interactive' | 'events_api';
  readonly body: Record<string, unknown>;
}

/** What Slack sends us, one of each kind, by Bolt's own types. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  command: { envelope: 'slash_commands', body: { ...command } },
  mention: { envelope: 'events_api', body: { ...mention } },
  click: { envelope: 'interactive', body: { ...click } },
  shortcut: { envelope: 'interactive', body: { ...shortcut } },
  submission: { envelope: 'interactive', body: { ...submission } },
  change: { envelope: 'interactive', body: { ...change } },
  search: { envelope: 'interactive', body: { ...search } },
};

type Path = readonly (string | number)[];

/** Every place in a value, the deepest ones too. */
function placesIn(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const steps: readonly (readonly [string | number, unknown])[] = Array.isArray(value)
    ? value.map((child, index) => [index, child] as const)
    : Object.entries(value);
  return [path, ...steps.flatMap(([step, child]) => placesIn(child, [...path, step]))];
}

const REMOVED = Symbol('removed');

/** `value` with what stands at `path` replaced, or removed. */
function changed(value: unknown, [step, ...rest]: Path, by: unknown): unknown {
  if (step === undefined) return by;
  if (typeof value !== 'object' || value === null) return value;
  // An earlier change may have left nothing at this place.
  if (!Object.hasOwn(value, step)) return value;
  const child = changed(Reflect.get(value, step), rest, by);
  if (Array.isArray(value))
    return child === REMOVED ? value.toSpliced(Number(step), 1) : value.with(Number(step), child);
  const others = Object.entries(value).filter(([key]) => key !== step);
  return Object.fromEntries(child === REMOVED ? others : [...others, [String(step), child]]);
}

const HOSTILE: readonly unknown[] = [
  REMOVED,
  null,
  true,
  0,
  '',
  'x',
  [],
  [null],
  {},
  { id: null },
  '__proto__',
  JSON.parse('{"__proto__":{"isAdmin":true}}'),
  JSON.parse(`${'['.repeat(2_000)}${']'.repeat(2_000)}`),
  'x'.repeat(5_000),
];

/** Fields by which Bolt takes a body for another kind than it is, or takes a token or an address from it. */
const STRAYS: readonly Readonly<Record<string, unknown>>[] = [
  { event: null },
  { event: 'x' },
  { event: { type: 'app_mention', channel: null } },
  { event: { type: 'app_mention', item: 1 } },
  { command: null },
  { name: 'x' },
  { actions: null },
  { actions: [] },
  { response_urls: null },
  { response_urls: [null] },
  { function_data: { execution_id: 'x', inputs: null } },
  { authorizations: [null] },
  { type: 'view_closed' },
  { type: 'block_suggestion' },
  { type: 'shortcut' },
  { type: 'dialog_submission' },
  { type: 'constructor' },
  {},
];

/** A payload with one to three of its places spoilt, and perhaps with fields that belong to another kind. */
export const spoilt: fc.Arbitrary<{ readonly envelope: Shape['envelope']; readonly body: unknown }> = fc
  .constantFrom(...Object.values(SHAPES))
  .chain(({ envelope, body }) =>
    fc
      .tuple(
        fc.array(fc.tuple(fc.constantFrom(...placesIn(body)), fc.oneof(fc.constantFrom(...HOSTILE), fc.jsonValue())), {
          minLength: 1,
          maxLength: 3,
        }),
        fc.constantFrom(...STRAYS),
      )
      .map(([changes, stray]) => {
        const made = changes.reduce<unknown>((value, [path, by]) => changed(value, path, by), body);
        const isObject = typeof made === 'object' && made !== null && !Array.isArray(made);
        return { envelope, body: isObject ? { ...made, ...stray } : made };
      }),
  );
