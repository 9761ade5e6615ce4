import type { Json } from '../state/message.ts';
import type { SlackUsergroup } from '../state/team.ts';
import { flag, required } from './args.ts';
import type { Call, Method } from './method.ts';
import { SlackError } from './slack-error.ts';

function usersInfo({ slack, args }: Call): Json {
  const user = slack.team.users[required(args, 'user')];
  if (user === undefined) throw new SlackError('user_not_found');
  const profile = { real_name: user.real_name, display_name: user.name, team: user.team_id };
  return { user: { ...user, profile, is_admin: false, is_owner: false, is_app_user: false, updated: 0 } };
}

function shownGroup(group: SlackUsergroup, teamId: string, withUsers: boolean): Json {
  const { id, handle, name, users, disabled } = group;
  const people = withUsers ? { users, user_count: String(users.length) } : {};
  return { id, team_id: teamId, is_usergroup: true, handle, name, date_delete: disabled ? 1 : 0, ...people };
}

/** @throws SlackError plan_upgrade_required: free workspaces have no user groups */
function needPlan({ slack }: Call): void {
  if (slack.team.plan === 'free') throw new SlackError('plan_upgrade_required');
}

function groupsList(call: Call): Json {
  needPlan(call);
  const { slack, args } = call;
  const all = Object.values(slack.team.usergroups).filter((group) => !group.disabled || flag(args, 'include_disabled'));
  const withUsers = flag(args, 'include_users') ?? false;
  return { usergroups: all.map((group) => shownGroup(group, slack.team.id, withUsers)) };
}

function groupUsers(call: Call): Json {
  needPlan(call);
  const { slack, args } = call;
  const group = slack.team.usergroups[required(args, 'usergroup')];
  if (group === undefined) throw new SlackError('no_such_subteam');
  return { users: group.disabled && !flag(args, 'include_disabled') ? [] : group.users };
}

/** docs.slack.dev: users.info, usergroups.list, usergroups.users.list */
export const PEOPLE_METHODS: readonly Method[] = [
  { name: 'users.info', token: 'bot', scopes: ['users:read'], tier: 'tier4', takes: 'form', run: usersInfo },
  { name: 'usergroups.list', token: 'bot', scopes: ['usergroups:read'], tier: 'tier2', run: groupsList },
  {
    name: 'usergroups.users.list',
    token: 'bot',
    scopes: ['usergroups:read'],
    tier: 'tier2',
    takes: 'form',
    run: groupUsers,
  },
];
