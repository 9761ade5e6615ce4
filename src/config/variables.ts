import { z } from 'zod';
import { DEFAULT_NAMES, isCommandName } from '../core/shown-names.ts';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** The text of docs/configuration.md about a variable. `secret`: it belongs into the Secret. */
interface Meta extends z.core.GlobalMeta {
  readonly description: string;
  readonly secret?: true;
}
const described = <T extends z.ZodType>(type: T, meta: Meta): T => type.meta(meta);
const secret = <T extends z.ZodType>(type: T, description: string): T => described(type, { description, secret: true });
const setting = <T extends z.ZodType>(type: T, description: string): T => described(type, { description });

const token = (prefix: string, what: string) =>
  z.string({ error: `is missing: ${what}` }).regex(new RegExp(`^${prefix}[\\x21-\\x7e]+$`), {
    error: `does not look right: ${what}`,
  });

const portNumber = z
  .string()
  .regex(/^\d{1,5}$/, { error: 'must be a port number' })
  .transform(Number)
  .refine((number) => number <= 65_535, { error: 'must be a port number, at most 65535' });

const port = (fallback: number) => portNumber.prefault(String(fallback));

/** Every variable of the environment but those of the proxy, each with its form, default and description. */
export const Variables = z.object({
  SLACK_BOT_TOKEN: secret(
    token('xoxb-', 'the bot token (xoxb-…) of the app, from "OAuth & Permissions"'),
    'Required. The bot token (`xoxb-…`) of the app, from "OAuth & Permissions".',
  ),
  SLACK_APP_TOKEN: secret(
    token('xapp-', 'an app-level token (xapp-…) with connections:write, from "Basic Information"').optional(),
    'Required for Socket Mode: an app-level token (`xapp-…`) with `connections:write`, from "Basic Information". Preferred where `SLACK_SIGNING_SECRET` is set too.',
  ),
  SLACK_SIGNING_SECRET: secret(
    z
      .string()
      .regex(/^[\x21-\x7e]{16,}$/, {
        error: 'does not look right: the signing secret of the app, from "Basic Information"',
      })
      .optional(),
    'Required for HTTP: the signing secret of the app, from "Basic Information".',
  ),
  KDEBUG_KEY: secret(
    z
      .string()
      .refine(isKey, { error: 'must be 32 bytes in base64: make one with "openssl rand -base64 32"' })
      .optional(),
    'Seals records, references and the audit log: 32 bytes in base64 (`openssl rand -base64 32`), the same for all replicas. Absent: derived from the bot token. Keep a copy: old audit logs need it.',
  ),
  REDIS_URL: secret(
    z
      .string()
      .refine(isRedisUrl, {
        error:
          'must be redis://USER:PASSWORD@HOST:PORT/DATABASE (rediss:// with TLS), percent-encoded and without a query',
      })
      .optional(),
    '`rediss://USER:PASSWORD@HOST:PORT/DATABASE` (`redis://` without TLS), percent-encoded, without a query. Absent: runs stay in memory, for one replica. See [redis.md](redis.md).',
  ),
  REDIS_CA_FILE: setting(
    z.string().optional(),
    "The file (PEM) with the CA that signed Redis' certificate, if Node does not trust it anyway.",
  ),
  REDIS_KEY_PREFIX: setting(
    z
      .string()
      .regex(/^[\w.-]{1,64}$/, { error: 'must be 1 to 64 letters, digits, dots, hyphens or underscores' })
      .default('kdebug'),
    'The first part of every key there, 1 to 64 letters, digits, dots, hyphens or underscores. Each kdebug on one Redis needs its own.',
  ),
  KDEBUG_POLICY: setting(
    z.string().default('/etc/kdebug/policy.yaml'),
    'The policy file. Mount its whole folder, so that a change arrives without a restart.',
  ),
  KDEBUG_COMMAND: setting(
    z
      .string()
      .refine(isCommandName, {
        error: 'must be a slash, then 1 to 31 lower-case letters, digits, hyphens or underscores',
      })
      .default(DEFAULT_NAMES.command),
    "The slash command's name in messages; the same as in the Slack app. kdebug answers the command under any name. See [operations.md](operations.md#the-slack-app).",
  ),
  KUBECONFIG: setting(
    z.string().optional(),
    'A kubeconfig, for clusters that the policy names by `context`. Absent: only the cluster that the pod runs in.',
  ),
  KDEBUG_AUDIT: setting(
    z
      .string()
      .regex(/^stdout$|[\\/]/, { error: 'must be "stdout", or the path of a file with a / in it' })
      .default('stdout'),
    "Where audit records go: `stdout` (kdebug's own log), or the path of a file. See [audit.md](audit.md).",
  ),
  LOG_LEVEL: setting(
    z.enum(LOG_LEVELS, { error: `must be one of: ${LOG_LEVELS.join(', ')}` }).default('info'),
    `One of ${LOG_LEVELS.map((level) => `\`${level}\``).join(', ')}.`,
  ),
  PORT: setting(port(3000), "The port for Slack's requests over HTTP; nothing listens there in Socket Mode."),
  OPS_PORT: setting(port(9090), 'The port of `/livez`, `/readyz` and `/metrics`; not the same as `PORT`.'),
  ALERTS_PORT: setting(
    portNumber.optional(),
    'The port for notifications of alerts, `POST /alerts/NAME`. Absent: nothing listens. See [alerts.md](alerts.md).',
  ),
  SLACK_API_URL: setting(
    z
      .string()
      .refine(isSafeUrl, { error: 'must be an https URL without a user; http only for this machine' })
      .prefault('https://slack.com/api/')
      .transform((url) => (url.endsWith('/') ? url : `${url}/`)),
    "Slack's Web API; for GovSlack `https://slack-gov.com/api/`. Only tests need another; `http` is for this machine alone.",
  ),
});

/** 32 bytes in base64. */
export function isKey(text: string): boolean {
  return /^[A-Za-z0-9+/]{43}=$/.test(text);
}

/** Refuses a query: it could switch off the client's protections. */
function isRedisUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, pathname, search, hash } = new URL(text);
  return (
    /^rediss?:$/.test(protocol) &&
    hostname !== '' &&
    /^\/?\d{0,4}$/.test(pathname) &&
    search + hash === '' &&
    [username, password].every(isPercentEncoded)
  );
}

function isPercentEncoded(text: string): boolean {
  return !/%(?![\da-f]{2})/i.test(text);
}

/** A token must not travel unencrypted, except to a Slack on this machine. */
function isSafeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  if (username + password + search + hash !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname));
}
