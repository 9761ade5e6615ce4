import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { HANDLERS, NOTICES } from '../../src/adapters/slack/handlers.ts';
import { NEEDED_SCOPES } from '../../src/adapters/slack/identity.ts';
import { fastClock, saying, startWorld, type World } from '../adapters/slack/harness.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The kinds of conversation by the prefix of their scopes. */
type Kind = 'channels' | 'groups' | 'im';
/** Public channels, private ones, direct messages with the bot: everything that kdebug posts in, and what it knows again after a crash. */
const EVERYWHERE: readonly Kind[] = ['channels', 'groups', 'im'];
/** What the directory asks of a conversation; a direct message with the bot it knows without asking. */
const CHANNELS: readonly Kind[] = ['channels', 'groups'];

const reading = (kinds: readonly Kind[]) => kinds.map((kind) => `${kind}:read`);
const historyOf = (kinds: readonly Kind[]) => kinds.map((kind) => `${kind}:history`);

/**
 * The bot scopes that each Web API method needs where we call it (Slack's page of the method), for every kind of conversation that we
 * call it on; none: no scope at all. No kind is `mpim`, direct messages of several people: kdebug opens none, and what it is asked in
 * one it refuses, because conversations.info tells nothing of it without `mpim:read`.
 */
const METHOD_SCOPES: Readonly<Record<string, readonly string[]>> = {
  'auth.test': [],
  'bots.info': ['users:read'],
  'chat.getPermalink': [],
  'chat.postEphemeral': ['chat:write'],
  'chat.postMessage': ['chat:write'],
  'chat.update': ['chat:write'],
  'conversations.history': historyOf(EVERYWHERE),
  'conversations.info': reading(CHANNELS),
  'conversations.members': reading(CHANNELS),
  'conversations.open': ['im:write'],
  'conversations.replies': historyOf(EVERYWHERE),
  'files.completeUploadExternal': ['files:write'],
  'files.getUploadURLExternal': ['files:write'],
  'files.info': ['files:read'],
  'users.info': ['users:read'],
  'usergroups.users.list': ['usergroups:read'],
  'views.open': [],
  'views.update': [],
  'views.publish': [],
};

/** The bot scopes of what the table of handlers listens to; buttons and forms need none. */
const LISTENING: Readonly<Record<string, readonly string[]>> = {
  'command /kdebug': ['commands'],
  'shortcut debug-anywhere': ['commands'],
  'shortcut debug-pod': ['commands'],
  'shortcut apply-job': ['commands', 'files:read'],
  'event app_home_opened': [],
  'event app_mention': ['app_mentions:read'],
  'event message': ['im:history'],
  'event member_joined_channel': ['channels:read', 'groups:read'],
  'notice channel_id_changed': [],
  'notice subteam_members_changed': ['usergroups:read'],
};

interface AppManifest {
  readonly _metadata: { readonly major_version: number };
  readonly display_information: {
    readonly name: string;
    readonly description: string;
    readonly long_description: string;
  };
  readonly features: {
    readonly slash_commands: readonly {
      readonly command: string;
      readonly description: string;
      readonly usage_hint: string;
      readonly should_escape: boolean;
    }[];
    readonly shortcuts: readonly {
      readonly name: string;
      readonly type: string;
      readonly callback_id: string;
      readonly description: string;
    }[];
  };
  readonly oauth_config: {
    readonly scopes: { readonly bot: readonly string[]; readonly bot_optional: readonly string[] };
  };
  readonly settings: {
    readonly socket_mode_enabled: boolean;
    readonly interactivity: { readonly is_enabled: boolean };
    readonly event_subscriptions: { readonly bot_events: readonly string[] };
  };
}

const manifest = parse(readFileSync(join(ROOT, 'slack-app.yml'), 'utf8')) as AppManifest;

const source = readdirSync(join(ROOT, 'src/adapters/slack'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => readFileSync(join(ROOT, 'src/adapters/slack', path), 'utf8'))
  .join('\n');

/** Web API methods that are called on a client, or named as text for a budget or a raw call. */
const FAMILIES = 'auth|bots|chat|conversations|files|reactions|team|usergroups|users|views';
const methodsCalled = [
  ...new Set(
    [...source.matchAll(new RegExp(`\\b(?:client\\.|')((?:${FAMILIES})(?:\\.[a-zA-Z]+)+)(?:\\(|')`, 'g'))].map(
      ([, method]) => method ?? '',
    ),
  ),
].sort();

describe('slack-app.yml', () => {
  it('asks for exactly the bot scopes that the code uses', () => {
    expect(methodsCalled).toContain('chat.postMessage');
    expect(methodsCalled.filter((method) => !(method in METHOD_SCOPES))).toEqual([]);
    const listening = HANDLERS.flatMap(({ listens, name }) => LISTENING[`${listens} ${name}`] ?? []);
    const noticed = NOTICES.flatMap((name) => LISTENING[`notice ${name}`] ?? []);
    const needed = new Set([
      ...listening,
      ...noticed,
      ...methodsCalled.flatMap((method) => METHOD_SCOPES[method] ?? []),
    ]);
    expect(manifest.oauth_config.scopes.bot).toEqual([...needed].sort());
  });

  it('lets whoever installs it decline exactly the scopes that kdebug can do without', () => {
    const { bot, bot_optional } = manifest.oauth_config.scopes;
    expect(bot_optional).toEqual(NEEDED_SCOPES.filter(({ isOptional }) => isOptional).map(({ scope }) => scope));
    // "Optional scopes must also be listed in the corresponding bot … fields", and exist from this version on.
    expect(bot).toEqual(expect.arrayContaining([...bot_optional]));
    expect(manifest._metadata.major_version).toBe(2);
  });

  it('is the same in JSON, and quotes every scope, as Slack’s YAML tab wants', () => {
    expect(JSON.parse(readFileSync(join(ROOT, 'slack-app.json'), 'utf8'))).toEqual(manifest);
    const plain = readFileSync(join(ROOT, 'slack-app.yml'), 'utf8')
      .split('\n')
      .filter((line) => /^ *- [a-z_]+:[a-z]/.test(line));
    expect(plain).toEqual([]);
  });

  it('has texts that Slack takes and people read: a long one, and hints without odd gaps', () => {
    const { display_information: shown, features } = manifest;
    const [command] = features.slash_commands;
    expect(shown.description.length).toBeLessThanOrEqual(140);
    // Slack, "App manifest reference": 174 to 4,000 characters.
    expect(shown.long_description.length).toBeGreaterThanOrEqual(174);
    expect(shown.long_description.length).toBeLessThanOrEqual(4_000);
    expect(command?.usage_hint).toBe('pod-name [--image=alias] [-- command]  |  help');
    for (const { name, description } of features.shortcuts) {
      expect(name.length).toBeLessThanOrEqual(24);
      expect(description.length).toBeLessThanOrEqual(150);
    }
  });

  it('has exactly the events, commands and shortcuts of the table of handlers', () => {
    const listed = (kind: string) => HANDLERS.filter(({ listens }) => listens === kind).map(({ name }) => name);
    expect(manifest.settings.event_subscriptions.bot_events).toEqual(
      [...listed('event'), ...NOTICES].map((name) => (name === 'message' ? 'message.im' : name)),
    );
    expect(manifest.features.slash_commands.map(({ command }) => command)).toEqual(listed('command'));
    expect(manifest.features.shortcuts.map(({ callback_id }) => callback_id)).toEqual(listed('shortcut'));
  });

  it('has the slash command with ids instead of names, the shortcuts, buttons and Socket Mode', () => {
    expect(manifest.features.slash_commands).toMatchObject([{ command: '/kdebug', should_escape: true }]);
    expect(manifest.features.shortcuts).toMatchObject([
      { name: 'Debug a pod', type: 'global' },
      { name: 'Debug a pod', type: 'message' },
      { name: 'Apply as EphemeralJob', type: 'message' },
    ]);
    expect(manifest.settings.interactivity.is_enabled).toBe(true);
    expect(manifest.settings.socket_mode_enabled).toBe(true);
  });
});

describe('an app installed from slack-app.yml', () => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld('http', {
      clock: fastClock(4),
      team: ({ channels }) => {
        const shop = channels.C0SHOP!;
        shop.members = ['U0BOB', 'U0KDEBUG'];
        channels.G0GROUP = { ...shop, id: 'G0GROUP', kind: 'mpim' };
      },
    });
  });
  afterEach(() => world.stop());

  const lacking = () =>
    Object.keys(METHOD_SCOPES).flatMap((method) =>
      world.local.requests(method).filter(({ error }) => error === 'missing_scope'),
    );

  it.each(['C0SHOP', 'C0SECRET', 'a direct message'])('lacks no scope for anything it does in %s', async (where) => {
    const { thread, directory } = world.slack;
    const { channelId } = where.startsWith('C') ? { channelId: where } : await thread.openDirect('U0BOB');
    const meta = { run: 'abcdefgh23', kind: 'anchor', seq: 1 } as const;
    await directory.channel(channelId);
    if (where.startsWith('C')) await directory.channelMembers(channelId);
    const root = await thread.post({ channelId }, saying('root'), meta);
    await thread.update(root, saying('more'), { ...meta, seq: 2 }, 'final');
    const place = { channelId, threadTs: root.ts };
    const open = async function* () {
      yield Buffer.from('x');
    };
    await thread.share(place, () => saying('the result'), [{ filename: 'a.log', title: 'a', bytes: 1, open }]);
    await thread.tell({ ...place, userId: 'U0BOB' }, saying('yours'));
    expect(await thread.find({ channelId }, meta, 0)).toEqual(root);
    expect(await thread.findShared(place, ['a.log'], 0)).toBeDefined();
    expect(await thread.permalink(root)).toMatch(/^https:/);
    expect(lacking()).toEqual([]);
  });

  it('learns nothing of a direct message of several people, so nothing runs there', async () => {
    await expect(world.slack.directory.channel('G0GROUP')).rejects.toMatchObject({ code: 'slack_refused' });
    expect(lacking()).toMatchObject([{ method: 'conversations.info' }]);
  });
});
