import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { App } from '@slack/bolt';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Delivery } from '../../../play/slack/index.ts';
import { HANDLERS, NOTICES, type Row, UNKNOWN_BUTTON } from '../../../src/adapters/slack/handlers.ts';
import { LINK_NAME } from '../../../src/core/actions.ts';
import { type By, click, deed, FOREIGN_BUTTON } from './deeds.ts';
import { NOBODY, saying, startWorld, type World } from './harness.ts';

describe('what Bolt has registered', () => {
  const KINDS = ['command', 'event', 'action', 'view', 'shortcut', 'options'] as const;
  /** Bolt's word where it is another than the table's. */
  const BOLT: Readonly<Record<string, string>> = { alert: 'action', field: 'action', search: 'options' };
  /** The command's name is a setting of the Slack app. */
  const ANY = '/.+/';
  const OTHERS = ['message', 'function', 'use', 'assistant'] as const;
  afterEach(() => void vi.restoreAllMocks());

  /** What the real composition registers, seen from Bolt. */
  async function registered() {
    const spies = KINDS.map((kind) => ({ kind, spy: vi.spyOn(App.prototype, kind) }));
    const others = OTHERS.map((kind) => vi.spyOn(App.prototype, kind));
    const world = await startWorld('http');
    await world.stop();
    const listened = spies.flatMap(({ kind, spy }) => spy.mock.calls.map(([name]) => `${kind} ${callbackOf(name)}`));
    const apps = new Set(spies.flatMap(({ spy }) => spy.mock.contexts));
    return { listened, apps: [...apps], others: others.flatMap((spy) => spy.mock.calls) };
  }

  it('is exactly the table: a listener without a row, or a row without a listener, fails here', async () => {
    const { listened, apps, others } = await registered();
    const rows = HANDLERS.map(
      ({ listens, name }) => `${BOLT[listens] ?? listens} ${listens === 'command' ? ANY : name}`,
    );
    const unjudged = [...NOTICES.map((name) => `event ${name}`), `action ${LINK_NAME}`];
    expect(listened.sort()).toEqual([...rows, ...unjudged].sort());
    // Bolt's own, against talking to ourselves, and ours for unknown buttons.
    expect(others.map(([one]) => (typeof one === 'function' ? one.name : one))).toEqual([
      'ignoreSelf',
      'unknownButtons',
    ]);
    expect(apps).toHaveLength(1);
    expect(Reflect.get(apps[0] ?? {}, 'listeners')).toHaveLength(rows.length + unjudged.length);
  });

  it('is registered in one place, and only what the table says reaches the inbox', () => {
    const root = fileURLToPath(new URL('../../../src/adapters/slack', import.meta.url));
    const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => ({ path, source: readFileSync(join(root, path), 'utf8') }));
    const having = (pattern: RegExp) => sources.filter(({ source }) => pattern.test(source)).map(({ path }) => path);
    expect(having(/\bapp\.(?:command|event|action|view|shortcut|message|options|function|use|assistant)\b/)).toEqual([
      'handlers.ts',
    ]);
    expect(having(/\bnew App\(/)).toEqual(['index.ts']);
    const asking = having(
      /\binbox\.(?:command|action|submit|alert|shortcut|search|change|invited|home|globalShortcut)\(/,
    );
    expect(asking.length).toBeGreaterThan(0);
    // An inbox itself, which the listeners call.
    const wrapper = 'views/in-names.ts';
    expect(asking.filter((path) => path !== wrapper && !having(/\bawait admit\(/).includes(path))).toEqual([]);
  });

  it('every row is unique and asks for a full member', () => {
    expect(new Set(HANDLERS.map(({ listens, name }) => `${listens} ${name}`)).size).toBe(HANDLERS.length);
    expect(HANDLERS.filter(({ needs }) => needs !== 'member')).toEqual([]);
  });
});

/** Bolt finds a button of an attachment by its `callback_id`. */
const callbackOf = (name: unknown): unknown =>
  typeof name === 'object' && name !== null && 'callback_id' in name ? name.callback_id : name;

const nameOf = ({ listens, name }: Row): string => `${listens} ${name}`;

/** A delivery that a person of Slack can cause, and the inbox's method that it reaches; none: it only gets an answer. */
interface Entrance {
  readonly row: Row | (typeof UNKNOWN_BUTTON & { readonly listens: 'action' });
  readonly method: keyof typeof NOBODY | undefined;
  readonly act: (world: World, by: By) => Promise<Delivery>;
}

const METHODS = {
  command: 'command',
  shortcut: 'shortcut',
  action: 'action',
  alert: 'alert',
  view: 'submit',
  field: 'change',
  search: 'search',
} as const;
const METHOD_OF_EVENT = {
  app_home_opened: 'home',
  app_mention: 'command',
  message: 'command',
  member_joined_channel: 'invited',
} as const;
const methodOf = (row: Row): keyof typeof NOBODY =>
  row.listens === 'event' ? METHOD_OF_EVENT[row.name] : 'isGlobal' in row ? 'globalShortcut' : METHODS[row.listens];

const ENTRANCES: readonly [string, Entrance][] = [
  ...HANDLERS.map((row): [string, Entrance] => [
    nameOf(row),
    { row, method: methodOf(row), act: (world, by) => deed(world, row, by) },
  ]),
  [
    'a button without a row',
    {
      row: { listens: 'action', ...UNKNOWN_BUTTON },
      method: undefined,
      act: (world, by) => click(world, FOREIGN_BUTTON, by),
    },
  ],
];

/** Whoever must be refused: the payload is as Slack would send it for them, or forged where Slack would not send it. */
interface Intruder {
  readonly code: string | RegExp;
  readonly by: (row: Entrance['row']) => By;
  /** Absent: for every row. */
  readonly isFor?: (row: Entrance['row']) => boolean;
}

const isInteraction = ({ listens }: Entrance['row']): boolean => listens !== 'command' && listens !== 'event';
const plainly = (user: string) => (): By => ({ user });
const ofTeam = (handler: Entrance['row'], team: string): By => ({
  user: 'U0ROY',
  override: isInteraction(handler) ? { team: { id: team, domain: 'other' } } : { team_id: team },
});

/** Slack names the outsider's own team in each kind of payload. */
function fromSharedChannel(handler: Entrance['row']): By {
  const user = 'U0STRANGER';
  if (handler.listens === 'command') return { user, override: { team_id: 'T0OTHER' } };
  if (handler.listens === 'event') return ofOtherTeam(handler.name, user);
  return { user, override: { user: { id: user, team_id: 'T0OTHER' } } };
}

/** A mention says whose it is; other events say so in their envelope alone. */
const ofOtherTeam = (event: string, user: string): By => ({
  user,
  override: event === 'app_mention' ? { event: mentionBy(user, 'T0OTHER') } : { team_id: 'T0OTHER' },
});

const mentionBy = (user: string, team: string) => ({
  type: 'app_mention',
  ts: '1700000000.000100',
  event_ts: '1700000000.000100',
  text: '<@U0KDEBUG> pod-1',
  channel: 'C0SHOP',
  user,
  user_team: team,
});

/** The payload hides where they come from: only Slack's directory tells. */
function inDisguise(handler: Entrance['row']): By {
  const user = 'U0STRANGER';
  if (handler.name === 'app_mention') return { user, override: { event: mentionBy(user, 'T0LOCAL') } };
  return { user, ...(isInteraction(handler) ? { override: { user: { id: user, team_id: 'T0LOCAL' } } } : {}) };
}

const INTRUDERS: Readonly<Record<string, Intruder>> = {
  'a guest': { code: 'person_is_guest', by: plainly('U0GUEST') },
  'a single-channel guest': { code: 'person_is_guest', by: plainly('U0SINGLE') },
  'somebody deactivated': { code: 'person_is_deactivated', by: plainly('U0GONE') },
  'an outsider of a Slack Connect channel': { code: 'slack_not_our_team', by: fromSharedChannel },
  'an outsider whose payload names our team': { code: 'person_is_outsider', by: inDisguise },
  'a stranger of our organisation': { code: 'person_is_outsider', by: plainly('U0FAR') },
  'a bot': { code: 'person_is_bot', by: plainly('U0ROBOT') },
  "Slack's own robot": { code: 'person_is_bot', by: plainly('USLACKBOT') },
  'kdebug itself': { code: /person_is_bot|^$/, by: plainly('U0KDEBUG') },
  'somebody in another team': { code: 'slack_not_our_team', by: (handler) => ofTeam(handler, 'T0OTHER') },
  'another app': { code: 'slack_not_our_team', by: () => ({ user: 'U0ROY', override: { api_app_id: 'A0OTHER' } }) },
  'an app whose id is no id': {
    code: 'slack_not_our_team',
    by: () => ({ user: 'U0ROY', override: { api_app_id: ['x'] } }),
  },
  'no app at all, where Slack names it': {
    code: 'slack_not_our_team',
    by: () => ({ user: 'U0ROY', override: { api_app_id: '' } }),
    isFor: ({ namesApp }) => namesApp,
  },
};

let world: World;
beforeAll(async () => {
  world = await startWorld('http', {
    // Each attempt on a form opens one.
    rates: { extraPerMinute: 1_000 },
    team: (team) => {
      const roy = team.users.U0ROY!;
      team.users.U0FAR = { ...roy, id: 'U0FAR', name: 'far', is_stranger: true };
      team.channels.C0SHOP!.members.push('U0FAR', 'USLACKBOT');
      team.users.USLACKBOT = { ...roy, id: 'USLACKBOT', name: 'slackbot', is_bot: false };
    },
  });
});
afterAll(() => world.stop());
beforeEach(() => {
  world.inbox.forget();
  for (const view of world.local.views())
    if (view.kind === 'home' || view.view.submit === undefined) world.local.state.views.delete(view.id);
});

/** What the person is told: on the acknowledgement, or privately right after it. */
async function toldTo(user: string, act: () => Promise<{ readonly body: unknown }>): Promise<string> {
  const before = world.local.ephemerals(user).length;
  const { body } = await act();
  if (body !== '' && JSON.stringify(body) !== '{"response_action":"clear"}') return JSON.stringify(body);
  const said = await world.local.until(() => world.local.ephemerals(user)[before] ?? windowOf(user)?.view);
  return JSON.stringify(said.blocks);
}

/** Their Home tab, or a window without a form. */
const windowOf = (user: string) =>
  world.local.views(user).find(({ kind, view }) => kind === 'home' || view.submit === undefined);

describe.each(ENTRANCES)('%s', (_name, { row, method, act }) => {
  it('takes a full member, by the method of its kind', async () => {
    const by = { user: 'U0ROY' };
    if (method === undefined) expect(await toldTo('U0ROY', () => act(world, by))).toContain('unknown_button');
    else expect((await act(world, by)).status).toBe(200);
    expect(world.inbox.taken).toEqual(method === undefined ? NOBODY : { ...NOBODY, [method]: 1 });
  });

  const intruders = Object.entries(INTRUDERS).filter(([, { isFor }]) => isFor?.(row) ?? true);
  it.each(intruders)('takes nothing of %s, and says why privately', async (_who, { code, by }) => {
    const { user, override } = by(row);
    const attempt = () => act(world, { user, ...(override ? { override } : {}) });
    // An event has only the channel to answer in: not for us, not for another team.
    const silent = code === 'slack_not_our_team' || user === 'U0KDEBUG';
    // Who left is shown nothing in a channel, only what answers them directly.
    const isGone = user === 'U0GONE' && (row.listens === 'event' || row.listens === 'field');
    // A menu has no words for a reason, and is asked with every character.
    const isSilent = (row.listens === 'event' && silent) || isGone || row.listens === 'search';
    if (isSilent) {
      const { status, body } = await attempt();
      expect(status).toBe(200);
      expect(body).toEqual(row.listens === 'search' ? { options: [] } : expect.anything());
    } else expect(await toldTo(user, attempt)).toMatch(code);
    expect(world.inbox.taken).toEqual(NOBODY);
    // What kdebug itself wrote is no attempt of anybody's.
    const isOwnEvent = row.listens === 'event' && user === 'U0KDEBUG';
    const refused = {
      userId: user,
      teamId: expect.any(String),
      channelId: 'isGlobal' in row ? '' : 'C0SHOP',
      handler: row.name,
      code: expect.stringMatching(code),
    };
    expect(world.inbox.refusals).toEqual(isOwnEvent ? [] : [refused]);
    expect(world.local.messages('C0SHOP').filter(({ text }) => text.startsWith('kdebug:'))).toEqual([]);
  });
});

it('a press of a link is acknowledged, and nothing else: the browser has opened the page', async () => {
  const links = [{ label: 'Dashboard', url: 'https://grafana.example.com/' }];
  const message = { ...saying('ended'), parts: [{ kind: 'links' as const, links }] };
  const meta = { run: 'abcdefgh23', kind: 'result', seq: 1 } as const;
  const { ts } = await world.slack.thread.post({ channelId: 'C0SHOP' }, message, meta);
  const before = world.local.ephemerals('U0ROY').length;
  const pressed = await world.local.deliver.action({ user: 'U0ROY', channel: 'C0SHOP', ts, actionId: 'open-link-0' });
  expect(pressed).toMatchObject({ status: 200, body: '' });
  expect(world.inbox.taken).toEqual(NOBODY);
  expect(world.inbox.refusals).toEqual([]);
  expect(world.local.ephemerals('U0ROY')).toHaveLength(before);
});

describe('which payloads name the app', () => {
  it('all but those of shortcuts and attachments: Slack puts no api_app_id into these', () => {
    expect(HANDLERS.filter(({ namesApp }) => !namesApp).map(nameOf)).toEqual([
      'shortcut debug-anywhere',
      'shortcut debug-pod',
      'shortcut apply-job',
      'alert kdebug-alert',
    ]);
  });

  const unnamed = HANDLERS.filter(({ namesApp }) => !namesApp).map((row): [string, Row] => [nameOf(row), row]);
  it.each(unnamed)('%s is taken as Slack sends it, without the app', async (_name, handler) => {
    const withoutApp = { user: 'U0ROY', override: { api_app_id: undefined } };
    expect((await deed(world, handler, withoutApp)).status).toBe(200);
    expect(world.inbox.taken).toEqual({ ...NOBODY, [methodOf(handler)]: 1 });
    expect(world.inbox.refusals).toEqual([]);
  });
});

it('who is in another workspace of our organisation is told so, not that they are of another team', async () => {
  const grid = await startWorld('http', {
    team: (team) => {
      team.enterpriseId = 'E0ORG';
      const enterprise_user = { id: 'U0ROY', enterprise_id: 'E0ORG', teams: ['T0NEXT'] };
      Object.assign(team.users.U0ROY!, { team_id: 'T0NEXT', enterprise_user });
    },
  });
  const override = { team_id: 'T0NEXT', enterprise_id: 'E0ORG' };
  const { body } = await grid.local.deliver.command({ user: 'U0ROY', channel: 'C0SHOP', text: 'pod-1', override });
  await grid.stop();
  expect(JSON.stringify(body)).toContain('person_in_other_workspace');
  expect(JSON.stringify(body)).not.toMatch(/another (Slack )?team/);
});

it('whom Slack counts as of the organisation is of our workspace, whichever way they ask', async () => {
  const grid = await startWorld('http', {
    team: (team) => {
      team.enterpriseId = 'E0ORG';
      const enterprise_user = { id: 'U0ROY', enterprise_id: 'E0ORG', teams: ['T0LOCAL'] };
      Object.assign(team.users.U0ROY!, { team_id: 'E0ORG', enterprise_user });
    },
  });
  await grid.local.deliver.command({ user: 'U0ROY', channel: 'C0SHOP', text: 'pod-1' });
  const clicked = await click(grid, 'stop', { user: 'U0ROY' });
  const { ts } = grid.local.deliver.say({ user: 'U0ROY', channel: 'C0SHOP', text: 'pod-1' });
  await grid.local.deliver.shortcut({ user: 'U0ROY', channel: 'C0SHOP', ts, callbackId: 'debug-pod' });
  await grid.stop();
  expect(clicked.parcel.payload).toMatchObject({
    user: { team_id: 'E0ORG' },
    team: { id: 'T0LOCAL', enterprise_id: 'E0ORG' },
  });
  const { commands, clicks, shortcuts } = grid.inbox;
  const teams = [commands[0]?.origin.teamId, clicks[0]?.teamId, shortcuts[0]?.teamId];
  expect(teams).toEqual(['T0LOCAL', 'T0LOCAL', 'T0LOCAL']);
});

describe('when Slack cannot say who somebody is', () => {
  let blind: World;
  beforeEach(async () => {
    blind = await startWorld('http');
  });
  afterEach(() => blind.stop());

  it.each([
    ['an error', 'http_500', 'slack_unreachable'],
    ['a rate limit', 'ratelimited', 'slack_unreachable'],
    ['another error', 'missing_scope', 'slack_refused'],
    ['a lost connection', 'reset_before', 'slack_unreachable'],
    ['nobody', 'user_not_found', 'person_unknown'],
  ])('%s: nothing is taken, and the next one is, when it can again', async (_what, kind, code) => {
    blind.local.faults.queue({ method: 'users.info', kind });
    const first = await blind.local.deliver.command({ user: 'U0ROY', channel: 'C0SHOP', text: 'pod-1' });
    expect(JSON.stringify(first.body)).toContain(code);
    expect(blind.inbox.taken).toEqual(NOBODY);
    await blind.local.deliver.command({ user: 'U0ROY', channel: 'C0SHOP', text: 'pod-1' });
    expect(blind.inbox.taken).toEqual({ ...NOBODY, command: 1 });
  });

  it('no answer at all: an honest one while Slack waits, and nothing is taken, later neither', async () => {
    blind.local.faults.queue({ method: 'users.info', kind: 'slow', ms: 2_000 });
    const delivery = await blind.local.deliver.command({ user: 'U0ROY', channel: 'C0SHOP', text: 'pod-1' });
    expect(JSON.stringify(delivery.body)).toContain('slack_unreachable');
    await blind.local.until(() => blind.local.requests('users.info').length === 1);
    expect(blind.inbox.taken).toEqual(NOBODY);
  });
});
