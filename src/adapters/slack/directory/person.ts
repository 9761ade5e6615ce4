import { z } from 'zod';
import type { Person } from '../../../flow/ports/slack.ts';
import type { Identity } from '../identity.ts';
import { cleanLine, shorten } from '../views/plain.ts';

const MAX_NAME = 80;
/** Slack's own robot says of itself that it is none. */
const SLACKBOT = 'USLACKBOT';

/** What is read of a user object (Slack, "User object"); a flag that is absent counts against the person. */
export const UserObject = z.object({
  id: z.string(),
  team_id: z.string().optional(),
  deleted: z.boolean().default(false),
  is_bot: z.boolean().optional(),
  is_workflow_bot: z.boolean().default(false),
  is_restricted: z.boolean().optional(),
  is_ultra_restricted: z.boolean().optional(),
  is_stranger: z.boolean().default(false),
  name: z.string().optional(),
  real_name: z.string().optional(),
  profile: z.object({ display_name: z.string().optional() }).optional(),
  /** Of an Enterprise organisation: the workspaces that the person is a member of. */
  enterprise_user: z
    .object({ enterprise_id: z.string().optional(), teams: z.array(z.string()).default([]) })
    .optional(),
});
type UserObject = z.infer<typeof UserObject>;

/** A user object as a person; only what is certainly a full member of our own team becomes a `member`. Pure. */
export const personOf = (user: UserObject, us: Identity): Person => ({
  userId: user.id,
  teamId: user.team_id ?? '',
  kind: kindOf(user, us),
  name: nameOf(user),
});

function kindOf(user: UserObject, us: Identity): Person['kind'] {
  if (user.deleted) return 'deactivated';
  if (user.is_bot !== false || user.is_workflow_bot || user.id === SLACKBOT) return 'bot';
  if (user.is_stranger) return 'outsider';
  if (!isOfTeam(user, us.teamId)) return isOfOrganisation(user, us) ? 'sibling' : 'outsider';
  return user.is_restricted === false && user.is_ultra_restricted === false ? 'member' : 'guest';
}

const isOfTeam = ({ team_id, enterprise_user }: UserObject, teamId: string): boolean =>
  team_id === teamId || (enterprise_user?.teams.includes(teamId) ?? false);

const isOfOrganisation = ({ enterprise_user }: UserObject, { enterpriseId }: Identity): boolean =>
  enterpriseId !== undefined && enterprise_user?.enterprise_id === enterpriseId;

function nameOf({ id, name, real_name, profile }: UserObject): string {
  const shown = [profile?.display_name, real_name, name].map((one) => cleanLine(one ?? '')).find((one) => one !== '');
  return shorten(shown ?? id, { weight: Number.POSITIVE_INFINITY, length: MAX_NAME });
}
