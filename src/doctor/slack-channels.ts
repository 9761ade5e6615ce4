import { type KdebugError, toKdebugError } from '../core/errors.ts';
import { type ApproverGroup, type ChannelPolicy, DIRECT, type Policy } from '../core/policy/policy.ts';
import { formatCount } from '../lib/duration.ts';
import { areaOf, type Check } from './check.ts';
import type { SlackChannel, SlackProbe } from './probes.ts';

const slack = areaOf('slack');

/** After this, Slack limits the rate of look-ups or is away: more would only wait. */
const isOver = ({ code }: KdebugError): boolean => code === 'slack_unreachable';

/** One look-up for each; stops at the first that Slack does not answer, and says how many are left. */
async function lookUpAll<Item>(
  what: string,
  items: readonly Item[],
  check: (item: Item) => Promise<readonly Check[]>,
): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const [index, item] of items.entries()) {
    try {
      checks.push(...(await check(item)));
    } catch (thrown) {
      if (!isOver(toKdebugError(thrown))) throw thrown;
      const left = formatCount(items.length - index, what);
      return [
        ...checks,
        slack.warn(
          `${what}s`,
          `${left} not looked up: Slack does not answer, or limits the rate`,
          'run doctor again in a minute',
        ),
      ];
    }
  }
  return checks;
}

/** The channels of the policy: is kdebug in them, and may it answer there? `bot`: what people type to invite it. */
export async function checkChannels(policy: Policy, probe: SlackProbe, bot: string): Promise<readonly Check[]> {
  const channels = Object.entries(policy.channels).filter(([id]) => id !== DIRECT);
  return lookUpAll('channel', channels, async ([id, settings]) => {
    const one = await checkChannel([id, settings], probe, bot);
    const sources = Object.values(policy.alerts ?? {}).filter(({ channel }) => channel === id);
    const refused = `; alerts of ${sources.map(({ name }) => name).join(', ')} are refused with 503`;
    return [one.state === 'fail' && sources.length > 0 ? { ...one, result: one.result + refused } : one];
  });
}

type Channel = readonly [id: string, settings: ChannelPolicy];

async function checkChannel([id, settings]: Channel, probe: SlackProbe, bot: string): Promise<Check> {
  const what = settings.name === undefined ? `channel ${id}` : `channel ${id} (${settings.name})`;
  try {
    return judgeChannel(what, await probe.channel(id), settings, bot);
  } catch (thrown) {
    const error = toKdebugError(thrown);
    if (isOver(error)) throw thrown;
    return error.code === 'slack_channel_closed'
      ? slack.fail(
          what,
          'Slack shows no such channel: the id is wrong, or it is private and kdebug is not in it',
          `in that channel: /invite ${bot}`,
          'its id: the details of the channel, at the bottom',
        )
      : slack.broken(what, thrown);
  }
}

function judgeChannel(what: string, { name, ...found }: SlackChannel, settings: ChannelPolicy, bot: string): Check {
  if (found.isArchived) return slack.fail(what, 'is archived', 'remove it from the policy, or restore it in Slack');
  if (found.isShared && settings.slackConnect !== 'allowed') {
    return slack.fail(
      what,
      'is shared with another company, so kdebug answers nobody there',
      'use another channel, or set slackConnect: allowed for it in the policy: they would read every result',
    );
  }
  if (!found.isMember)
    return slack.fail(what, 'kdebug is not in it, so nothing can run there', `in that channel: /invite ${bot}`);
  const called = settings.name?.replace(/^#/, '');
  return called !== undefined && name !== '' && called !== name
    ? slack.warn(
        what,
        `kdebug is in it, but Slack calls it #${name}`,
        'correct its name in the policy (for display only)',
      )
    : slack.ok(what, 'kdebug is in it');
}

/** Approvers' groups, and who may use direct messages. */
export async function checkPeople(policy: Policy, probe: SlackProbe, bot: string): Promise<readonly Check[]> {
  const members = policy.channels[DIRECT]?.members;
  const groups: readonly (readonly [string, ApproverGroup])[] = [
    ...Object.entries(policy.approvers).map(([name, group]) => [`approvers ${name}`, group] as const),
    ...(members === undefined ? [] : [['direct members', members] as const]),
  ];
  return lookUpAll('group', groups, async ([what, group]) => [await judgeGroup(what, group, probe, bot)]);
}

async function judgeGroup(what: string, group: ApproverGroup, probe: SlackProbe, bot: string): Promise<Check> {
  const found: string[] = [];
  const problems: string[] = [];
  const tryTo = async (words: string, check: () => Promise<string | undefined>): Promise<void> => {
    try {
      const problem = await check();
      if (problem === undefined) found.push(words);
      else problems.push(problem);
    } catch (thrown) {
      const error = toKdebugError(thrown);
      if (isOver(error)) throw thrown;
      problems.push(`${words}: ${error.title}`);
    }
  };
  const { usergroup, channel, users } = group;
  if (usergroup !== undefined) {
    await tryTo(`user group ${usergroup}`, async () =>
      (await probe.groupSize(usergroup)) === 0 ? `user group ${usergroup} is empty or disabled` : undefined,
    );
  }
  if (channel !== undefined) {
    await tryTo(`channel ${channel}`, async () =>
      (await probe.channel(channel)).isMember ? undefined : `kdebug is not in ${channel}: /invite ${bot} there`,
    );
  }
  for (const user of users) {
    await tryTo(user, async () =>
      (await probe.person(user)).isMember ? undefined : `${user} is no full member of the workspace`,
    );
  }
  if (problems.length > 0) return slack.fail(what, problems.join('; '), 'correct the group in the policy, or in Slack');
  return found.length === 0
    ? slack.warn(what, 'names nobody', 'name a user group, people or a channel in the policy')
    : slack.ok(what, `found: ${found.join(', ')}`);
}
