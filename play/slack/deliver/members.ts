import type { SlackState } from '../state/state.ts';
import type { SlackChannel, SlackUser } from '../state/team.ts';

export interface InviteOrder {
  /** A member of the channel. */
  readonly user: string;
  readonly channel: string;
  /** Somebody of the workspace, or the bot. */
  readonly invited: string;
}

/** The members of a channel, and joins and leaves. */
export class Members {
  private readonly slack: SlackState;

  constructor(slack: SlackState) {
    this.slack = slack;
  }

  /** `/invite @somebody`. @throws Error where Slack would not let the person do it */
  invite({ user, channel: id, invited }: InviteOrder): SlackChannel {
    const channel = this.placeOf(id, user);
    const guest = this.slack.team.users[invited];
    if (guest === undefined || guest.deleted) throw new Error(`nobody here is ${invited}`);
    if (channel.kind === 'im' || channel.kind === 'mpim') throw new Error('nobody is invited to a direct message');
    if (channel.is_archived) throw new Error(`#${channel.name} is archived`);
    if (channel.members.includes(invited)) throw new Error(`${invited} is in #${channel.name} already`);
    channel.members.push(invited);
    this.slack.tell({ kind: 'team', team: this.slack.team });
    return channel;
  }

  /** Takes somebody, or the bot, out of a channel. @throws Error when they are not in it */
  remove({ channel: id, user }: { readonly channel: string; readonly user: string }): void {
    const channel = this.known(id);
    if (!channel.members.includes(user)) throw new Error(`${user} is not in #${channel.name}`);
    channel.members = channel.members.filter((one) => one !== user);
    this.slack.tell({ kind: 'team', team: this.slack.team });
  }

  /** Gives a channel another id. */
  changeId(from: string, to: string): SlackChannel {
    const channel = this.known(from);
    channel.id = to;
    this.slack.team.channels[to] = channel;
    delete this.slack.team.channels[from];
    this.slack.tell({ kind: 'team', team: this.slack.team });
    return channel;
  }

  /** @throws Error when there is no such group */
  changeGroup(id: string, users: readonly string[]) {
    const group = this.slack.team.usergroups[id];
    if (group === undefined) throw new Error(`there is no user group ${id}`);
    const before = group.users;
    group.users = [...users];
    this.slack.tell({ kind: 'team', team: this.slack.team });
    return {
      added: users.filter((user) => !before.includes(user)),
      removed: before.filter((user) => !users.includes(user)),
    };
  }

  known(id: string): SlackChannel {
    const channel = this.slack.team.channels[id];
    if (channel === undefined) throw new Error(`there is no channel ${id}`);
    return channel;
  }

  /** The channel, for somebody who wants to write there. @throws Error when they cannot see it, or have not joined */
  placeOf(id: string, user: string): SlackChannel {
    const channel = this.known(id);
    if (channel.members.includes(user)) return channel;
    if (channel.kind !== 'public') throw new Error(`${user} sees no channel ${id}`);
    throw new Error(`${user} is not in #${channel.name}: Slack shows "Join" in place of the composer`);
  }

  person(id: string): SlackUser {
    const user = this.slack.team.users[id];
    if (user === undefined) throw new Error(`nobody here is ${id}`);
    return user;
  }
}
