import { type Logger, LogLevel, type WebAPICallResult, WebClient, type WebClientOptions } from '@slack/web-api';
import type { KdebugError } from '../../core/errors.ts';
import type { Log, Metrics } from '../../flow/ports/machine.ts';
import type { Clock } from '../../lib/clock.ts';
import { troubleOf } from './errors.ts';

export const SLACK_API_URL = 'https://slack.com/api/';
const TIMEOUT_MS = 10_000;

/** Logs warnings and errors of Slack's libraries. Their lower levels contain payloads. */
export const libraryLogger = (log: Pick<Log, 'warn'>): Logger => {
  const words = (parts: unknown[]): string =>
    parts.map((part) => (part instanceof Error ? part.name : String(part))).join(' ');
  return {
    debug: () => undefined,
    info: () => undefined,
    warn: (...parts) => log.warn('warning of the Slack library', { detail: words(parts) }),
    error: (...parts) => log.warn('error of the Slack library', { detail: words(parts) }),
    setLevel: () => undefined,
    getLevel: () => LogLevel.WARN,
    setName: () => undefined,
  };
};

/** The client recognises a 429 only by its `retry-after`, so one without gets 30 s. `onDate` gets each response's `Date`. */
const fetchWithRetryAfter =
  (send: typeof fetch, onDate: (date: string | null) => void): typeof fetch =>
  async (input, init) => {
    const response = await send(input, init);
    onDate(response.headers.get('date'));
    if (response.status !== 429 || /^\d+$/.test(response.headers.get('retry-after') ?? '')) return response;
    return new Response(null, { status: 429, headers: { 'retry-after': '30' } });
  };

/** No hidden retries or waits, and a deadline for every call. A new object each time, because Slack's libraries modify it. */
export const clientOptions = (apiUrl: string, log: Log, send: typeof fetch): WebClientOptions => ({
  slackApiUrl: apiUrl,
  retryConfig: { retries: 0 },
  rejectRateLimitedCalls: true,
  timeout: TIMEOUT_MS,
  allowAbsoluteUrls: false,
  fetch: fetchWithRetryAfter(send, () => undefined),
  logger: libraryLogger(log),
});

/** Makes one call of the Web API; it may look at the answer, but not change it. */
export type AroundCall = <Value>(method: string, call: () => Promise<Value>) => Promise<Value>;

/**
 * Times every call that `around` makes, and counts it by its result: `ok`, Slack's word for an error, `rate_limited`,
 * `network`, `http_…` (an answer that is not Slack's) or `not_json`.
 */
export const timed =
  (around: AroundCall, clock: Pick<Clock, 'elapsed'>, metrics: Pick<Metrics, 'apiCall' | 'rateLimited'>): AroundCall =>
  async (method, call) => {
    const sentAtMs = clock.elapsed();
    const count = (result: string): void => metrics.apiCall('slack', method, result, clock.elapsed() - sentAtMs);
    try {
      const value = await around(method, call);
      count('ok');
      return value;
    } catch (thrown) {
      const trouble = troubleOf(thrown);
      if (trouble.kind === 'limited') metrics.rateLimited(method);
      count(trouble.kind === 'limited' ? 'rate_limited' : wordOf(trouble.error));
      throw thrown;
    }
  };

const wordOf = ({ code, facts }: KdebugError): string => String(facts.error ?? facts.kind ?? code);

/** A client whose every call goes through `around`. */
class WatchedClient extends WebClient {
  readonly #around: AroundCall;

  constructor(token: string, options: WebClientOptions, around: AroundCall) {
    super(token, options);
    this.#around = around;
  }

  override apiCall(method: string, options?: Record<string, unknown>): Promise<WebAPICallResult> {
    return this.#around(method, () => super.apiCall(method, options));
  }
}

export interface ClientOptions {
  readonly around?: AroundCall | undefined;
  readonly timeoutMs?: number | undefined;
  readonly onDate?: (date: string | null) => void;
  readonly send?: typeof fetch;
}

export const createClient = (token: string, apiUrl: string, log: Log, options: ClientOptions = {}): WebClient => {
  const { timeoutMs = TIMEOUT_MS, onDate = () => undefined, send = fetch, around = (_, call) => call() } = options;
  const own = { timeout: timeoutMs, fetch: fetchWithRetryAfter(send, onDate) };
  return new WatchedClient(token, { ...clientOptions(apiUrl, log, send), ...own }, around);
};

const SLACK_HOSTS = /(^|\.)(slack\.com|slack-gov\.com)$/;

/**
 * kdebug calls a URL from a payload or response only on Slack's own hosts over TLS, or on the origin of `apiUrl`. So a
 * forged `response_url` or upload URL cannot divert texts, logs or requests.
 */
export function isSlackUrl(url: string, apiUrl: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, origin, username, password } = new URL(url);
  if (username !== '' || password !== '') return false;
  return origin === new URL(apiUrl).origin || (protocol === 'https:' && SLACK_HOSTS.test(hostname));
}

/** We refuse signed requests that are five minutes off; this warns long before. */
const WORTH_SAYING_MS = 60_000;

/**
 * Compares this machine's clock with each response's `Date`. A wrong clock makes us refuse what Slack signed, and ends approvals too early
 * or too late. Logs when that begins and when it ends.
 */
export class ClockCheck {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #log: Log;
  #isWrong = false;

  constructor(clock: Pick<Clock, 'now'>, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

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
      this.#log.error("this machine's clock is wrong: beyond five minutes kdebug refuses what Slack signs", {
        ...fields,
        reason: 'clock_wrong',
      });
    }
  }
}
