import type { z } from 'zod';
import { deriveKey } from '../core/hash.ts';
import { defined } from '../lib/object.ts';
import { type ProxyEnv, passwordOf, proxyOf } from './proxy-variables.ts';
import { isKey, type LOG_LEVELS, Variables } from './variables.ts';

/** The validated environment (design, section 3). It holds secrets: never log it whole. */
export interface Env {
  readonly slack: {
    readonly botToken: string;
    /** The way in which kdebug receives Slack's requests; prefers Socket Mode if both are configured. */
    readonly receive:
      | { readonly mode: 'socket'; readonly appToken: string }
      | { readonly mode: 'http'; readonly signingSecret: string };
    /** The signing secret beside an app-level token. kdebug never uses it; probably one of the two was left over. */
    readonly unusedSecret?: string;
    /** Ends with a slash. */
    readonly apiUrl: string;
    /** The slash command's name in messages. */
    readonly command: string;
    /** For Slack only. Absent: none. */
    readonly proxy?: ProxyEnv;
  };
  readonly port: number;
  readonly opsPort: number;
  /** Absent: nothing takes notifications of alerts. */
  readonly alertsPort?: number;
  /** 32 bytes; seals references and records. */
  readonly key: Buffer;
  /** `derived` from the bot token: whoever has the token has the key, and a new token loses everything sealed. */
  readonly keyFrom: 'given' | 'derived';
  readonly policyPath: string;
  readonly kubeconfig?: string;
  /** Absent: runs stay in memory. */
  readonly redis?: {
    /** May hold a password. */
    readonly url: string;
    readonly caFile?: string;
    /** Prefix of every key there. */
    readonly keyPrefix: string;
  };
  readonly logLevel: (typeof LOG_LEVELS)[number];
  /** `stdout`: records are lines of kdebug's own log; else the path of a separate file. */
  readonly audit: string;
  /** The commit that the image was built from; `unknown` outside one. */
  readonly revision: string;
}

export interface InvalidEnv {
  readonly kind: 'invalid';
  /** One sentence each, with the variable and the remedy; never a value. */
  readonly problems: readonly string[];
}

/**
 * Reads the environment and reports all problems together. Ignores empty variables and trims values (files of secrets
 * end with a newline). No secret has a default, and no problem shows a value.
 */
export function loadEnv(
  variables: Readonly<Record<string, string | undefined>>,
): { readonly kind: 'ok'; readonly env: Env } | InvalidEnv {
  const given = Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (value?.trim() ? [[name, value.trim()]] : [])),
  );
  const parsed = Variables.safeParse(given);
  const { proxy, problems: proxyProblems } = proxyOf(given);
  const problems = [
    ...(parsed.error?.issues ?? []).map(({ path, message }) => `${path.join('.')} ${message}`),
    ...conflicts(given),
    ...proxyProblems,
  ];
  return parsed.success && problems.length === 0
    ? { kind: 'ok', env: envOf(parsed.data, proxy, given.KDEBUG_REVISION) }
    : { kind: 'invalid', problems };
}

/** Checks across variables. Works on the raw text, so that all problems appear together. */
function conflicts(given: Readonly<Record<string, string>>): readonly string[] {
  const { SLACK_APP_TOKEN, SLACK_SIGNING_SECRET, PORT = '3000', OPS_PORT = '9090', ALERTS_PORT } = given;
  const problems: string[] = [];
  if (SLACK_APP_TOKEN === undefined && SLACK_SIGNING_SECRET === undefined) {
    problems.push(
      'SLACK_SIGNING_SECRET is missing: set it to receive over HTTP, or SLACK_APP_TOKEN to receive over Socket Mode',
    );
  }
  if (Number(PORT) === Number(OPS_PORT) && Number(PORT) !== 0) problems.push('OPS_PORT must not be the same as PORT');
  if (
    ALERTS_PORT !== undefined &&
    Number(ALERTS_PORT) !== 0 &&
    [PORT, OPS_PORT].map(Number).includes(Number(ALERTS_PORT))
  )
    problems.push('ALERTS_PORT must not be the same as PORT or OPS_PORT');
  return problems;
}

/** The image sets its revision itself: it is a fact, not a setting. */
function envOf(variables: z.output<typeof Variables>, proxy: ProxyEnv | undefined, revision = 'unknown'): Env {
  const { SLACK_APP_TOKEN: appToken, SLACK_SIGNING_SECRET: signingSecret, KDEBUG_KEY: key } = variables;
  return {
    slack: {
      botToken: variables.SLACK_BOT_TOKEN,
      receive:
        appToken === undefined ? { mode: 'http', signingSecret: signingSecret ?? '' } : { mode: 'socket', appToken },
      apiUrl: variables.SLACK_API_URL,
      command: variables.KDEBUG_COMMAND,
      ...defined({ proxy, unusedSecret: appToken === undefined ? undefined : signingSecret }),
    },
    port: variables.PORT,
    opsPort: variables.OPS_PORT,
    key: key === undefined ? derivedKey(variables.SLACK_BOT_TOKEN) : Buffer.from(key, 'base64'),
    keyFrom: key === undefined ? 'derived' : 'given',
    policyPath: variables.KDEBUG_POLICY,
    ...defined({
      alertsPort: variables.ALERTS_PORT,
      kubeconfig: variables.KUBECONFIG,
      redis: variables.REDIS_URL === undefined ? undefined : redisOf(variables, variables.REDIS_URL),
    }),
    logLevel: variables.LOG_LEVEL,
    audit: variables.KDEBUG_AUDIT,
    revision,
  };
}

/** The values that a log must never contain. */
export function secretsOf({ slack, redis }: Env): readonly string[] {
  const password = redis === undefined ? '' : new URL(redis.url).password;
  return [
    slack.botToken,
    slack.receive.mode === 'socket' ? slack.receive.appToken : slack.receive.signingSecret,
    ...(slack.unusedSecret === undefined ? [] : [slack.unusedSecret]),
    ...(password === '' ? [] : [password, decodeURIComponent(password)]),
    ...(slack.proxy === undefined ? [] : passwordOf(slack.proxy)),
  ];
}

const redisOf = ({ REDIS_CA_FILE, REDIS_KEY_PREFIX }: z.output<typeof Variables>, url: string) => ({
  url,
  ...defined({ caFile: REDIS_CA_FILE }),
  keyPrefix: REDIS_KEY_PREFIX,
});

/** RFC 5869, with kdebug's own label, so that the key reveals nothing about the token. */
const derivedKey = (botToken: string): Buffer => deriveKey(botToken, 'kdebug sealing key');

/** The bot's key in this environment, for tools; undefined if missing or invalid. */
export function sealingKey(variables: Readonly<Record<string, string | undefined>>): Buffer | undefined {
  const [key, botToken] = [variables.KDEBUG_KEY?.trim(), variables.SLACK_BOT_TOKEN?.trim()];
  if (key) return isKey(key) ? Buffer.from(key, 'base64') : undefined;
  return botToken ? derivedKey(botToken) : undefined;
}
