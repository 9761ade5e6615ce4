import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { HANDLERS } from '../../src/adapters/slack/handlers.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The bot scopes that each Web API method needs where we call it (Slack's page of the method); none: no scope at all. */
const METHOD_SCOPES: Readonly<Record<string, readonly string[]>> = {
  'auth.test': [],
  'bots.info': ['users:read'],
  'chat.postEphemeral': ['chat:write'],
  'chat.postMessage': ['chat:write'],
  'chat.update': ['chat:write'],
  'conversations.history': ['channels:history', 'groups:history'],
  'conversations.info': ['channels:read', 'groups:read'],
  'conversations.open': ['im:write'],
  'conversations.replies': ['channels:history', 'groups:history'],
  'files.completeUploadExternal': ['files:write'],
  'files.getUploadURLExternal': ['files:write'],
  'users.info': ['users:read'],
  'usergroups.users.list': ['usergroups:read'],
  'views.open': [],
  'views.update': [],
};

/** The bot scopes of what the table of handlers listens to; buttons and forms need none. */
const LISTENING: Readonly<Record<string, readonly string[]>> = {
  'command /kdebug': ['commands'],
  'shortcut debug-pod': ['commands'],
  'shortcut apply-job': ['commands', 'files:read'],
  'event app_mention': ['app_mentions:read'],
};

interface AppManifest {
  readonly features: {
    readonly slash_commands: readonly { readonly command: string; readonly should_escape: boolean }[];
    readonly shortcuts: readonly { readonly name: string; readonly type: string; readonly callback_id: string }[];
  };
  readonly oauth_config: { readonly scopes: { readonly bot: readonly string[] } };
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
    const needed = new Set([...listening, ...methodsCalled.flatMap((method) => METHOD_SCOPES[method] ?? [])]);
    expect(manifest.oauth_config.scopes.bot).toEqual([...needed].sort());
  });

  it('has exactly the events, commands and shortcuts of the table of handlers', () => {
    const listed = (kind: string) => HANDLERS.filter(({ listens }) => listens === kind).map(({ name }) => name);
    expect(manifest.settings.event_subscriptions.bot_events).toEqual(listed('event'));
    expect(manifest.features.slash_commands.map(({ command }) => command)).toEqual(listed('command'));
    expect(manifest.features.shortcuts.map(({ callback_id }) => callback_id)).toEqual(listed('shortcut'));
  });

  it('has the slash command with ids instead of names, the shortcuts, buttons and Socket Mode', () => {
    expect(manifest.features.slash_commands).toMatchObject([{ command: '/kdebug', should_escape: true }]);
    expect(manifest.features.shortcuts).toMatchObject([
      { name: 'Debug a pod', type: 'message' },
      { name: 'Apply as EphemeralJob', type: 'message' },
    ]);
    expect(manifest.settings.interactivity.is_enabled).toBe(true);
    expect(manifest.settings.socket_mode_enabled).toBe(true);
  });
});
