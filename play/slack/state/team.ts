/** People, channels and groups of the local workspace: plain data, changed freely by tests and by the page. */
export interface Team {
  id: string;
  name: string;
  domain: string;
  /** Set for a workspace of an Enterprise organisation. */
  enterpriseId?: string;
  /** The app is installed for the whole organisation: its token's team is the organisation (`E…`). */
  isEnterpriseInstall?: boolean;
  /** On a free plan there are no user groups. Default `paid`. */
  plan?: 'free' | 'paid';
  /** The app's Messages tab is switched off: nobody can be written to directly. */
  messagesTabDisabled?: boolean;
  users: Record<string, SlackUser>;
  channels: Record<string, SlackChannel>;
  usergroups: Record<string, SlackUsergroup>;
}

/** The part of Slack's user object that an app can see with `users:read`. */
export interface SlackUser {
  id: string;
  team_id: string;
  name: string;
  real_name: string;
  tz: string;
  is_bot: boolean;
  deleted: boolean;
  is_restricted: boolean;
  is_ultra_restricted: boolean;
  /** Of another organisation, and in no channel with the app's workspace. */
  is_stranger?: boolean;
  /** In an Enterprise organisation: the workspaces that the person is a member of. */
  enterprise_user?: { id: string; enterprise_id: string; teams: string[] };
}

export interface SlackChannel {
  id: string;
  name: string;
  /** `mpim`: a direct message of several people. */
  kind: 'public' | 'private' | 'im' | 'mpim';
  is_archived: boolean;
  /** Shared with another organisation (Slack Connect). */
  is_ext_shared: boolean;
  /** Somebody of another organisation is invited to it. */
  is_pending_ext_shared?: boolean;
  members: string[];
  /** Who may post besides the channel's owners; `no-threads`: no replies either way. Default `everyone`. */
  posting?: 'everyone' | 'nobody' | 'no-threads';
  /** A direct message's other person. */
  user?: string;
}

export interface SlackUsergroup {
  id: string;
  handle: string;
  name: string;
  users: string[];
  disabled: boolean;
}

const TEAM_ID = 'T0LOCAL';
const OTHER_TEAM_ID = 'T0OTHER';

function user(id: string, realName: string, more: Partial<SlackUser> = {}): SlackUser {
  return {
    id,
    team_id: TEAM_ID,
    name: realName.toLowerCase().replaceAll(' ', '.'),
    real_name: realName,
    tz: 'Europe/Berlin',
    is_bot: false,
    deleted: false,
    is_restricted: false,
    is_ultra_restricted: false,
    ...more,
  };
}

function channel(id: string, name: string, members: string[], more: Partial<SlackChannel> = {}): SlackChannel {
  return { id, name, kind: 'public', is_archived: false, is_ext_shared: false, members, ...more };
}

function byId<T extends { id: string }>(items: readonly T[]): Record<string, T> {
  // No prototype: `constructor` is nobody's id.
  return Object.assign(Object.create(null), Object.fromEntries(items.map((item) => [item.id, item])));
}

/**
 * The default workspace: the four people of the design, two approvers (group S0SRE), and everyone who must be
 * refused: a guest, a single-channel guest, somebody who left, another team's member, a bot. The bot is a member of
 * C0SHOP, C0OPS, C0SECRET (private) and C0OLD (archived), not of C0OTHER and C0DARK (private).
 */
export function defaultTeam(botUserId: string): Team {
  const people = ['U0JONAS', 'U0THURSTON', 'U0GINGER', 'U0ROY', 'U0BOB', 'U0ALICE'];
  return {
    id: TEAM_ID,
    name: 'Local',
    domain: 'local',
    users: byId([
      user('U0JONAS', 'Jonas'),
      user('U0THURSTON', 'Thurston'),
      user('U0GINGER', 'Ginger'),
      user('U0ROY', 'Roy'),
      user('U0BOB', 'Bob'),
      user('U0ALICE', 'Alice', { tz: 'America/New_York' }),
      user('U0GUEST', 'Guest', { is_restricted: true }),
      user('U0SINGLE', 'Single Guest', { is_restricted: true, is_ultra_restricted: true }),
      user('U0GONE', 'Gone', { deleted: true }),
      user('U0STRANGER', 'Stranger', { team_id: OTHER_TEAM_ID }),
      user('U0ROBOT', 'Robot', { is_bot: true }),
      user(botUserId, 'kdebug', { is_bot: true }),
    ]),
    channels: byId([
      channel('C0SHOP', 'shop-oncall', [
        ...people,
        'U0GUEST',
        'U0SINGLE',
        'U0GONE',
        'U0STRANGER',
        'U0ROBOT',
        botUserId,
      ]),
      channel('C0OPS', 'ops', [...people, botUserId]),
      channel('C0SECRET', 'secret', ['U0GINGER', 'U0BOB', botUserId], { kind: 'private' }),
      channel('C0OLD', 'old', [...people, botUserId], { is_archived: true }),
      channel('C0OTHER', 'other', people),
      channel('C0DARK', 'dark', ['U0ROY'], { kind: 'private' }),
    ]),
    usergroups: byId([{ id: 'S0SRE', handle: 'sre', name: 'SRE', users: ['U0BOB', 'U0ALICE'], disabled: false }]),
  };
}
