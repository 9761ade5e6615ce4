import type { Json } from '../state/message.ts';
import type { SlackState } from '../state/state.ts';
import type { Args } from './args.ts';
import type { Triggers } from './triggers.ts';

/** A bearer token and what it may do. */
export interface Token {
  readonly kind: 'bot' | 'app';
  readonly scopes: readonly string[];
}

/** Slack's rate tiers (calls a minute, per method), and the two special ones. */
export type Tier = 'tier2' | 'tier3' | 'tier4' | 'posting' | 'special';

export interface Call {
  readonly slack: SlackState;
  readonly args: Args;
  readonly token: Token;
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  readonly triggers: Triggers;
  /** A one-time address for a new Socket Mode connection. */
  openSocket(): string;
}

/** One Web API method. `scopes`: holding any one of them is enough to be let in; none: any token of the kind. */
export interface Method {
  readonly name: string;
  readonly token: 'bot' | 'app' | 'any';
  readonly scopes: readonly string[];
  readonly tier: Tier;
  /** Reads no JSON body: a call with one has no arguments (docs.slack.dev, "Using the Web API": each method's content types). */
  readonly takes?: 'form';
  /** @throws SlackError */
  readonly run: (call: Call) => Json;
}
