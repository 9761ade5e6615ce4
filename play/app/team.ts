import type { Team } from '../slack/index.ts';

/** A public channel that the bot is not in, until somebody invites it. */
export const WITHOUT_BOT = 'C0PAY';
/** A private channel that no approver is in. */
export const PRIVATE = 'C0VAULT';

/**
 * The workspace of play: the default one without the channels that only tests need, and with what a first day meets: a
 * channel without the bot, a private channel without approvers, and an approver (Carol) who is not in #shop-oncall.
 */
export function playTeam(team: Team): void {
  for (const id of ['C0OTHER', 'C0DARK', 'C0SECRET']) delete team.channels[id];
  const { U0BOB: bob, U0KDEBUG: bot } = team.users;
  const { C0SHOP: shop, C0OPS: ops } = team.channels;
  const { S0SRE: sre } = team.usergroups;
  if (!bob || !bot || !shop || !ops || !sre) throw new Error('the default workspace is another one now');
  team.users.U0CAROL = { ...bob, id: 'U0CAROL', name: 'carol', real_name: 'Carol' };
  sre.users = [...sre.users, 'U0CAROL'];
  ops.members = [...ops.members, 'U0CAROL'];
  const people = ['U0ROY', 'U0JONAS', 'U0THURSTON', 'U0GINGER', 'U0BOB'];
  team.channels[WITHOUT_BOT] = { ...shop, id: WITHOUT_BOT, name: 'payments', members: people };
  const few = ['U0THURSTON', 'U0JONAS', bot.id];
  team.channels[PRIVATE] = { ...shop, id: PRIVATE, name: 'vault-incident', kind: 'private', members: few };
}
