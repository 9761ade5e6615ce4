import { type Logger, LogLevel, WebClient, type WebClientOptions } from '@slack/web-api';
import type { Log } from '../../flow/ports/machine.ts';
import type { Clock } from '../../lib/clock.ts';

export const SLACK_API_URL = 'https://slack.com/api/';
const TIMEOUT_MS = 10_000;

/** Slack's libraries log through ours, warnings and errors only: their lower levels hold payloads. */
export const libraryLogger = (log: Log): Logger => {
  const words = (parts: unknown[]): string =>
    parts.map((part) => (part instanceof Error ? part.name : String(part))).join(' ');
  return {
    debug: () => undefined,
    info: () => undefined,
    warn: (...parts) => log.warn('slack library', { detail: words(parts) }),
    error: (...parts) => log.warn('slack library', { detail: words(parts) }),
    setLevel: () => undefined,
    getLevel: () => LogLevel.WARN,
    setName: () => undefined,
  };
};

/** A 429 must name its wait for the client to recognise it; one that does not gets half a minute. `onDate` gets each answer's `Date`. */
const fetchNamingTheWait =
  (send: typeof fetch, onDate: (date: string | null) => void): typeof fetch =>
  async (input, init) => {
    const response = await send(input, init);
    onDate(response.headers.get('date'));
    if (response.status !== 429 || /^\d+$/.test(response.headers.get('retry-after') ?? '')) return response;
    return new Response(null, { status: 429, headers: { 'retry-after': '30' } });
  };

/** No hidden retries, no hidden waits, an end to every call. A fresh object each time: Slack's libraries write into it. */
export const clientOptions = (apiUrl: string, log: Log, send: typeof fetch): WebClientOptions => ({
  slackApiUrl: apiUrl,
  retryConfig: { retries: 0 },
  rejectRateLimitedCalls: true,
  timeout: TIMEOUT_MS,
  allowAbsoluteUrls: false,
  fetch: fetchNamingTheWait(send, () => undefined),
  logger: libraryLogger(log),
});

export interface ClientOptions {
  readonly timeoutMs?: number | undefined;
  /** Gets the `Date` header of every answer. */
  readonly onDate?: (date: string | null) => void;
  /** The way to Slack. Default: the direct one. */
  readonly send?: typeof fetch;
}

export const createClient = (token: string, apiUrl: string, log: Log, options: ClientOptions = {}): WebClient => {
  const { timeoutMs = TIMEOUT_MS, onDate = () => undefined, send = fetch } = options;
  return new WebClient(token, {
    ...clientOptions(apiUrl, log, send),
    timeout: timeoutMs,
    fetch: fetchNamingTheWait(send, onDate),
  });
};

const SLACK_HOSTS = /(^|\.)(slack\.com|slack-gov\.com)$/;

/**
 * Whether a URL that came in a payload or an answer may be called: Slack's own hosts over TLS, or the origin of
 * `apiUrl`. Prevents that a forged `response_url` or upload URL sends texts, logs or requests elsewhere.
 */
export function isSlackUrl(url: string, apiUrl: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, origin, username, password } = new URL(url);
  if (username !== '' || password !== '') return false;
  return origin === new URL(apiUrl).origin || (protocol === 'https:' && SLACK_HOSTS.test(hostname));
}

/** Signed requests are refused beyond five minutes, by us and in spirit by Slack: long before, it is time to say so. */
const WORTH_SAYING_MS = 60_000;

/**
 * Compares this machine's clock with the `Date` header of every answer of Slack's: a clock that is wrong makes us refuse what Slack
 * signed, and lets approvals end too early or too late. Says so when it begins, and when it is over.
 */
export class ClockCheck {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #log: Log;
  #isWrong = false;

  constructor(clock: Pick<Clock, 'now'>, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** A header that is missing or unreadable says nothing. */
  learn(date: string | null): void {
    const slackMs = Date.parse(date ?? '');
    if (!Number.isFinite(slackMs)) return;
    const aheadMs = this.#clock.now() - slackMs;
    const isWrong = Math.abs(aheadMs) > WORTH_SAYING_MS;
    if (isWrong === this.#isWrong) return;
    this.#isWrong = isWrong;
    const fields = { aheadSeconds: Math.round(aheadMs / 1_000) };
    if (!isWrong) this.#log.info("this machine's clock agrees with Slack's again", fields);
    else {
      this.#log.error("this machine's clock is wrong: what Slack signs is refused beyond five minutes", {
        ...fields,
        reason: 'clock_wrong',
      });
    }
  }
}
