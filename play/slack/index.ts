import { randomBytes } from 'node:crypto';
import { LocalSlack } from './local-slack.ts';
import { installed } from './manifest.ts';
import type { RateOptions } from './serve/rates.ts';
import { DEFAULT_HABITS, type Habits } from './state/habits.ts';
import { type Clock, SlackState } from './state/state.ts';
import { defaultTeam, type Team } from './state/team.ts';

export { ALL_SCOPES } from './api/methods.ts';
export { readTyped } from './compose/compose.ts';
export type { Delivery } from './deliver/courier.ts';
export type { LocalSlack } from './local-slack.ts';
export { mentionsIn, wouldUnfurl } from './read/mentions.ts';
export { describe as describeMessage } from './read/transcript.ts';

export type { CallWatcher, LoggedCall } from './serve/request-log.ts';
export type { StoredFile, StoredMessage, StoredView } from './state/message.ts';
export { toggleReaction } from './state/reactions.ts';
export type { Change } from './state/state.ts';
export type { Team } from './state/team.ts';

export interface LocalSlackOptions {
  /** Default: any free port of 127.0.0.1. */
  readonly port?: number;
  /** Where the app takes signed HTTP requests; may be set later (`requestUrl`). */
  readonly requestUrl?: string;
  /** The bot token's scopes. Default: those of `slack-app.yml`, as after an installation. */
  readonly scopes?: readonly string[];
  /** The slash command's name in the app's settings. Default: that of `slack-app.yml`. */
  readonly command?: string;
  /** The app-level token's scopes: chosen by hand when it is made. Default: `connections:write`. */
  readonly appScopes?: readonly string[];
  /** Slack's rates, as documented, unless loosened here. */
  readonly rates?: RateOptions;
  /** Changes the default workspace before the start. */
  readonly team?: (team: Team) => void;
  /** How long after the answer a completed file is seen in its channel, in milliseconds of the real clock. Default 20; with `now`, the next turn. */
  readonly shareDelayMs?: number;
  /** What differs from one real workspace to the next. */
  readonly habits?: Partial<Habits>;
  /** Milliseconds since 1970; `ts`, rates, triggers and response URLs follow it. Default the real clock. */
  readonly now?: Clock;
}

const SHARE_DELAY_MS = 20;

/**
 * Starts a Slack on this machine that keeps Slack's limits and speaks its error words: Web API, uploads, response
 * URLs, signed HTTP and Socket Mode delivery. Secrets are fresh at every start.
 */
export async function startLocalSlack(options: LocalSlackOptions = {}): Promise<LocalSlack> {
  const botUserId = 'U0KDEBUG';
  const team = defaultTeam(botUserId);
  options.team?.(team);
  const { scopes, ...manifest } = installed();
  const secret = (bytes: number) => randomBytes(bytes).toString('hex');
  const app = {
    appId: 'A0KDEBUG',
    botUserId,
    botId: 'B0KDEBUG',
    botToken: `xoxb-${secret(16)}`,
    appToken: `xapp-${secret(16)}`,
    signingSecret: secret(16),
    appScopes: options.appScopes ?? ['connections:write'],
    scopes: options.scopes ?? scopes,
    ...manifest,
    ...(options.command === undefined ? {} : { commands: [options.command] as const }),
  };
  const slack = new LocalSlack(
    new SlackState(team, app, {
      now: options.now ?? Date.now,
      habits: { ...DEFAULT_HABITS, ...options.habits },
      shareDelayMs: options.shareDelayMs ?? (options.now === undefined ? SHARE_DELAY_MS : 0),
    }),
    options.rates ?? {},
    options.requestUrl,
  );
  await slack.listen(options.port ?? 0);
  return slack;
}
