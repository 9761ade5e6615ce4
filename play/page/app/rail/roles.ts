import type { SlackUser, Team } from '../../../slack/state/team.ts';

/** What the people of the design do for a living. */
const TRADES: Readonly<Record<string, string>> = {
  U0ROY: 'support, may only look',
  U0JONAS: 'operations',
  U0THURSTON: 'developer',
  U0GINGER: 'security',
};

/** What somebody is, in the words that decide what they may do. */
export function roleOf(
  { id, team_id, is_restricted, is_ultra_restricted, deleted, is_bot }: SlackUser,
  team: Team,
): string {
  if (deleted) return 'account deactivated';
  if (is_bot) return 'another app’s bot';
  if (team_id !== team.id) return 'outsider, of another workspace';
  if (is_ultra_restricted) return 'guest of one channel';
  if (is_restricted) return 'guest';
  const group = Object.values(team.usergroups).find(({ users, disabled }) => !disabled && users.includes(id));
  if (group !== undefined) return `approver (@${group.handle})`;
  return TRADES[id] ?? 'member';
}

/** Those whom one can be: everyone with an account, bots aside. */
export const peopleOf = (team: Team): readonly SlackUser[] =>
  Object.values(team.users).filter(({ deleted, is_bot }) => !deleted && !is_bot);
