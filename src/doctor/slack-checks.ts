import type { Env } from '../config/env.ts';
import { KdebugError, toKdebugError } from '../core/errors.ts';
import type { Policy } from '../core/policy/policy.ts';
import { areaOf, type Check } from './check.ts';
import type { MachineProbe, SlackIdentity, SlackProbe } from './probes.ts';
import { RESTART } from './setup-checks.ts';
import { checkChannels, checkPeople } from './slack-channels.ts';

const slack = areaOf('slack');

/** kdebug refuses signed requests that are five minutes off. */
const CLOCK_WRONG_MS = 300_000;
const CLOCK_WARN_MS = 60_000;
/** Slack answers within this; kdebug has 3 s for a command. */
const SLOW_MS = 1_000;

const SET_CLOCK = 'timedatectl set-ntp true   # on the node';

const APP_SETTINGS = 'api.slack.com/apps → your app';
/** Under `data` values are in base64, which nobody types; what stands under `stringData` the API server encodes. */
const putIntoSecret = (name: string): string =>
  `kubectl -n kdebug edit secret kdebug   # add a line: stringData: { ${name}: … }`;

export interface SlackParts {
  readonly env: Pick<Env, 'slack' | 'opsPort'>;
  /** Undefined: it cannot be read, so its channels are unknown. */
  readonly policy: Policy | undefined;
  readonly slack: SlackProbe;
  readonly machine: Pick<MachineProbe, 'readiness'>;
}

/** The app, its tokens and scopes, the clock, and what the policy names in Slack. */
export async function checkSlack(
  parts: SlackParts,
): Promise<{ readonly checks: readonly Check[]; readonly teamId: string }> {
  const { env, policy, slack: probe } = parts;
  const host = new URL(env.slack.apiUrl).host;
  const way = probe.proxy === undefined ? host : `${host}, through the proxy ${probe.proxy},`;
  let identity: SlackIdentity;
  try {
    identity = await probe.identity();
  } catch (thrown) {
    return { checks: [brokenToken(thrown, way)], teamId: '' };
  }
  const bot = `@${identity.user || 'kdebug'}`;
  const known =
    policy === undefined
      ? []
      : [...(await checkChannels(policy, probe, bot)), ...(await checkPeople(policy, probe, bot))];
  return {
    checks: [
      slack.ok(
        'bot token',
        `${bot} (${identity.userId}) of the app ${identity.appId || 'unknown'} in ${identity.team} (${identity.teamId})`,
      ),
      checkReach(identity, probe.proxy === undefined ? 'directly' : `through the proxy ${probe.proxy}`),
      slack.ok(
        'slash command',
        `messages call it ${env.slack.command}; Slack tells nobody who else has a command of that name, and gives it to the app that was installed last`,
      ),
      ...(identity.isOrgInstall ? [orgInstall()] : []),
      ...checkScopes(identity),
      checkClock(identity),
      await checkReceiving(parts, identity, way),
      ...known,
    ],
    teamId: identity.teamId,
  };
}

function brokenToken(thrown: unknown, host: string): Check {
  const { code, detail } = toKdebugError(thrown);
  if (code !== 'slack_token_rejected') return slack.broken('bot token', thrown, host);
  return slack.fail(
    'bot token',
    `Slack refuses it (${detail})`,
    `${APP_SETTINGS} → OAuth & Permissions → copy the Bot User OAuth Token (xoxb-…); reinstall the app if there is none`,
    putIntoSecret('SLACK_BOT_TOKEN'),
    RESTART,
  );
}

const checkReach = ({ tookMs }: SlackIdentity, way: string): Check =>
  tookMs > SLOW_MS
    ? slack.warn(
        'reach',
        `Slack answered ${way} in ${Math.round(tookMs)} ms: forms have 3 s in all`,
        'look for a slow proxy or DNS',
      )
    : slack.ok('reach', `Slack answered ${way} in ${Math.round(tookMs)} ms`);

const orgInstall = (): Check =>
  slack.fail(
    'installation',
    'the app is installed for a whole organisation, so all its people would count as strangers',
    `${APP_SETTINGS} → Install App → install it to one workspace`,
  );

function checkScopes({ scopes, neededScopes }: SlackIdentity): readonly Check[] {
  if (scopes === undefined)
    return [slack.warn('scopes', 'Slack did not name them: a proxy may have removed the header x-oauth-scopes')];
  const missing = neededScopes.filter(({ scope }) => !scopes.includes(scope));
  const surplus = scopes.filter((scope) => scope !== '' && !neededScopes.some((needed) => needed.scope === scope));
  const reinstall = [
    `${APP_SETTINGS} → OAuth & Permissions → Bot Token Scopes → add ${missing.map(({ scope }) => scope).join(', ')} (slack-app.yml lists all)`,
    'reinstall the app there, then put the token into the Secret again if it is a new one',
    RESTART,
  ];
  const words = missing.map(({ scope, neededFor }) => `${scope} (${neededFor})`).join(', ');
  if (missing.some(({ isOptional }) => !isOptional)) return [slack.fail('scopes', `missing: ${words}`, ...reinstall)];
  if (missing.length > 0) return [slack.warn('scopes', `missing: ${words}; kdebug works without`, ...reinstall)];
  if (surplus.length > 0) {
    return [
      slack.warn(
        'scopes',
        `all there, and more than kdebug uses: ${surplus.join(', ')}`,
        `${APP_SETTINGS} → OAuth & Permissions → remove them, and reinstall the app`,
      ),
    ];
  }
  return [slack.ok('scopes', `all ${neededScopes.length} of slack-app.yml, and no more`)];
}

function checkClock({ aheadMs }: SlackIdentity): Check {
  if (aheadMs === undefined) return slack.warn('clock', 'Slack sent no Date to compare with');
  const off = Math.abs(aheadMs);
  const words = `${Math.round(off / 1_000)} s ${aheadMs < 0 ? 'behind' : 'ahead of'} Slack's`;
  if (off > CLOCK_WRONG_MS)
    return slack.fail('clock', `${words}: beyond five minutes kdebug refuses what Slack signs`, SET_CLOCK);
  return off > CLOCK_WARN_MS ? slack.warn('clock', words, SET_CLOCK) : slack.ok('clock', "agrees with Slack's");
}

/**
 * Only the app-level token can be tried from here. Slack gives an address for a connection also when Socket Mode is off, and says so only
 * on the connection (`link_disabled`); one of the doctor's own would get commands that are kdebug's.
 */
async function checkReceiving(
  { env, slack: probe, machine }: SlackParts,
  { appId }: SlackIdentity,
  host: string,
): Promise<Check> {
  const { receive } = env.slack;
  if (receive.mode === 'http') return signingSecret(await machine.readiness(env.opsPort), env.slack.command);
  try {
    await probe.openSocket(receive.appToken);
  } catch (thrown) {
    return brokenAppToken(thrown, host);
  }
  // `xapp-1-A0123-…` by custom, not by any document.
  const other = /^xapp-\d-(A[A-Z0-9]+)-/.exec(receive.appToken)?.[1];
  return other === undefined || appId === '' || other === appId
    ? slack.ok(
        'app token',
        'Slack accepts it (a running kdebug logs slack_socket_mode_off when Socket Mode is off in the app)',
      )
    : slack.fail(
        'app token',
        `belongs to the app ${other}, the bot token to ${appId}`,
        putIntoSecret('SLACK_APP_TOKEN'),
        RESTART,
      );
}

/** Only a request of Slack proves it, and only the kdebug that got it knows. `readiness`: the lines of the one on this machine. */
function signingSecret(readiness: readonly string[] | undefined, command: string): Check {
  const about = (words: string, ...fix: string[]): Check => slack.warn('signing secret', words, ...fix);
  const IN_POD = 'kubectl -n kdebug exec deploy/kdebug -- node main.js doctor';
  if (readiness === undefined)
    return about('is set; whether it is right cannot be seen from here, only by a kdebug that gets requests', IN_POD);
  const word = readiness.find((line) => line.startsWith(REQUESTS))?.slice(REQUESTS.length) ?? '';
  if (word.startsWith('accepted')) return slack.ok('signing secret', `is right: requests are ${word}`);
  if (!word.startsWith('refused'))
    return about(
      'is set; no request from Slack has come yet that would prove it',
      `type ${command} help in Slack`,
      IN_POD,
    );
  if (word.endsWith('clock')) return slack.fail('requests', `are ${word}, as too old or from the future`, SET_CLOCK);
  return slack.fail(
    'signing secret',
    `is another one than the requests are signed with, or strangers send them: ${word}`,
    `${APP_SETTINGS} → Basic Information → App Credentials → Signing Secret`,
    putIntoSecret('SLACK_SIGNING_SECRET'),
    RESTART,
  );
}

/** As the operations port writes it. */
const REQUESTS = '[i] requests ';

function brokenAppToken(thrown: unknown, host: string): Check {
  const { code } = toKdebugError(thrown);
  const error = thrown instanceof KdebugError ? String(thrown.facts.error ?? '') : '';
  if (code === 'slack_unreachable') return slack.broken('app token', thrown, host);
  return slack.fail(
    'app token',
    error === 'missing_scope' ? 'lacks connections:write' : `Slack refuses it (${error || code})`,
    `${APP_SETTINGS} → Basic Information → App-Level Tokens → generate one with connections:write`,
    putIntoSecret('SLACK_APP_TOKEN'),
    RESTART,
  );
}
