import { checkViewBlocks, faultsOf } from '../blocks/check.ts';
import { plainText } from '../blocks/composition.ts';
import { anything, boolean, oneOf, string, typed } from '../blocks/shape.ts';
import type { Json, StoredView } from '../state/message.ts';
import type { SlackState } from '../state/state.ts';
import { type Args, isJson, optional, required, structured } from './args.ts';
import type { Call, Method } from './method.ts';
import { withBlockIds } from './shown.ts';
import { invalidArguments, SlackError } from './slack-error.ts';

const shared = { callback_id: string(255, 0), private_metadata: string(3000, 0), external_id: string(255, 0) };

const SHAPES = {
  modal: typed('modal', {
    required: { title: plainText(24), blocks: anything },
    optional: {
      submit: plainText(24),
      close: plainText(24),
      clear_on_close: boolean,
      notify_on_close: boolean,
      submit_disabled: boolean,
      ...shared,
    },
  }),
  home: typed('home', { required: { type: oneOf('home'), blocks: anything }, optional: shared }),
};

const VIEW_LIMIT = 250_000;

/** @throws SlackError view_too_large, invalid_arguments with every fault */
function readView(args: Args, kind: StoredView['kind']): Json {
  return checkedView(structured(args, 'view', 'invalid_arguments'), kind);
}

export function checkedView(view: unknown, kind: StoredView['kind']): Json {
  if (!isJson(view)) throw invalidArguments('missing required field: view');
  if (JSON.stringify(view).length > VIEW_LIMIT) throw new SlackError('view_too_large');
  const blocks: unknown[] = Array.isArray(view.blocks) ? view.blocks : [];
  const faults = [...faultsOf(SHAPES[kind], view, '/view'), ...checkViewBlocks(blocks)];
  const hasInput = blocks.some((block) => isJson(block) && block.type === 'input');
  if (kind === 'modal' && hasInput && view.submit === undefined)
    faults.push('missing required field: submit [json-pointer:/view]');
  if (faults.length > 0) throw invalidArguments(...faults);
  return view;
}

export function shownView(slack: SlackState, stored: StoredView): Json {
  return {
    callback_id: '',
    private_metadata: '',
    external_id: '',
    ...stored.view,
    state: { values: stored.values ?? {} },
    id: stored.id,
    team_id: slack.team.id,
    hash: stored.hash,
    root_view_id: stored.rootId ?? stored.id,
    previous_view_id: stored.previousId ?? null,
    app_id: slack.app.appId,
    bot_id: slack.app.botId,
  };
}

/** Puts new content into a view, with a new hash. */
export function replaceView(slack: SlackState, stored: StoredView, view: Json): void {
  const blocks = Array.isArray(view.blocks) ? view.blocks.filter(isJson) : [];
  const shown = withBlockIds(slack, blocks);
  stored.view = { ...view, blocks: shown };
  const ids = new Set(shown.map((block) => String(block.block_id)));
  if (stored.values) stored.values = keptValues(stored.values, shown);
  if (stored.suggested) stored.suggested = ofBlocks(stored.suggested, ids);
  stored.hash = slack.nextTs();
  delete stored.errors;
  delete stored.trouble;
  slack.tell({ kind: 'view', view: stored });
}

const ofBlocks = <T>(byBlock: Record<string, T>, ids: ReadonlySet<string>): Record<string, T> =>
  Object.fromEntries(Object.entries(byBlock).filter(([id]) => ids.has(id)));

/** An input keeps what stands in it as long as its block and its element have the same ids (slackapi/bolt-js#290). */
const keptValues = (values: Json, blocks: readonly Json[]): Json =>
  Object.fromEntries(
    Object.entries(values).filter(([blockId, inputs]) => {
      const elements = blocks.filter(({ block_id }) => block_id === blockId).map(({ element }) => element);
      const ids = elements.filter(isJson).map(({ action_id }) => String(action_id));
      return isJson(inputs) && Object.keys(inputs).every((actionId) => ids.includes(actionId));
    }),
  );

/** Opens a modal over another one: `response_action: push`. */
export function pushView(slack: SlackState, below: StoredView, view: Json): void {
  const stored: StoredView = {
    ...{ id: slack.nextId('V'), kind: 'modal', user: below.user, view: {}, hash: '', open: true },
    rootId: below.rootId ?? below.id,
    previousId: below.id,
  };
  slack.views.set(stored.id, stored);
  replaceView(slack, stored, view);
}

function newView(slack: SlackState, kind: StoredView['kind'], user: string): StoredView {
  const stored: StoredView = { id: slack.nextId('V'), kind, user, view: {}, hash: '', open: true };
  slack.views.set(stored.id, stored);
  return stored;
}

function open({ slack, args, triggers }: Call): Json {
  const user = triggers.exchange(required(args, 'trigger_id'));
  const view = readView(args, 'modal');
  const taken = [...slack.views.values()].some((one) => view.external_id && one.view.external_id === view.external_id);
  if (taken) throw new SlackError('duplicate_external_id');
  const stored = newView(slack, 'modal', user);
  replaceView(slack, stored, view);
  return { view: shownView(slack, stored) };
}

function update({ slack, args }: Call): Json {
  const id = optional(args, 'view_id');
  const externalId = optional(args, 'external_id');
  const all = [...slack.views.values()];
  const stored = all.find((one) => one.id === id || (externalId !== undefined && one.view.external_id === externalId));
  if (stored === undefined || !stored.open) throw new SlackError('not_found');
  const hash = optional(args, 'hash');
  if (hash !== undefined && hash !== stored.hash) throw new SlackError('hash_conflict');
  replaceView(slack, stored, readView(args, stored.kind));
  return { view: shownView(slack, stored) };
}

export const homeOf = (slack: SlackState, user: string): StoredView | undefined =>
  [...slack.views.values()].find((one) => one.kind === 'home' && one.user === user);

function publish({ slack, args }: Call): Json {
  const user = required(args, 'user_id');
  if (slack.team.users[user] === undefined) throw invalidArguments('invalid `user_id`');
  const view = readView(args, 'home');
  if (!slack.app.hasHome) throw new SlackError('not_enabled');
  const known = homeOf(slack, user);
  const hash = optional(args, 'hash');
  if (hash !== undefined && hash !== known?.hash) throw new SlackError('hash_conflict');
  const stored = known ?? newView(slack, 'home', user);
  replaceView(slack, stored, view);
  return { view: shownView(slack, stored) };
}

/** docs.slack.dev: views.open, views.update, views.publish */
export const VIEW_METHODS: readonly Method[] = [
  { name: 'views.open', token: 'bot', scopes: [], tier: 'tier4', run: open },
  { name: 'views.update', token: 'bot', scopes: [], tier: 'tier4', run: update },
  { name: 'views.publish', token: 'bot', scopes: [], tier: 'tier4', run: publish },
];
