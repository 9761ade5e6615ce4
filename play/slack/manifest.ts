import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const Command = z.object({ command: z.string() });

const Manifest = z.object({
  features: z.object({
    app_home: z.object({ home_tab_enabled: z.boolean(), messages_tab_read_only_enabled: z.boolean() }),
    slash_commands: z.tuple([Command], Command),
  }),
  oauth_config: z.object({ scopes: z.object({ bot: z.array(z.string()) }) }),
  settings: z.object({ event_subscriptions: z.object({ bot_events: z.array(z.string()) }) }),
});

const FILE = new URL('../../slack-app.yml', import.meta.url);

/** What an installation from this repository's manifest has. */
export interface Installed {
  /** The bot scopes. */
  readonly scopes: readonly string[];
  /** The events that Slack sends to the app. */
  readonly events: readonly string[];
  /** The slash commands, each with its slash. */
  readonly commands: readonly [string, ...string[]];
  readonly hasHome: boolean;
  /** Whether people may write to the app in its Messages tab. */
  readonly takesMessages: boolean;
}

export function installed(): Installed {
  const { features, oauth_config, settings } = Manifest.parse(parse(readFileSync(FILE, 'utf8')));
  const [first, ...others] = features.slash_commands;
  return {
    scopes: oauth_config.scopes.bot,
    events: settings.event_subscriptions.bot_events,
    commands: [first.command, ...others.map(({ command }) => command)],
    hasHome: features.app_home.home_tab_enabled,
    takesMessages: !features.app_home.messages_tab_read_only_enabled,
  };
}
