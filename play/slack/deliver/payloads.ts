import { shown, typedFields } from '../api/shown.ts';
import { shownView } from '../api/views.ts';
import type { Json, StoredMessage, StoredView } from '../state/message.ts';
import type { SlackState } from '../state/state.ts';
import type { SlackChannel, SlackUser } from '../state/team.ts';

/** Payloads as Slack sends them (docs.slack.dev: slash commands, interaction payloads, Events API). */
export class Payloads {
  private readonly slack: SlackState;

  constructor(slack: SlackState) {
    this.slack = slack;
  }

  command(user: SlackUser, channel: SlackChannel, said: { command: string; text: string }, links: Links): Json {
    const { team, app } = this.slack;
    const channelName = { public: channel.name, private: 'privategroup', im: 'directmessage', mpim: channel.name }[
      channel.kind
    ];
    return {
      ...this.common(),
      team_id: team.id,
      team_domain: team.domain,
      ...(team.enterpriseId === undefined ? {} : { enterprise_id: team.enterpriseId, enterprise_name: team.name }),
      channel_id: channel.id,
      channel_name: channelName,
      user_id: user.id,
      user_name: user.name,
      ...said,
      api_app_id: app.appId,
      is_enterprise_install: String(team.isEnterpriseInstall ?? false),
      response_url: links.responseUrl,
      trigger_id: links.triggerId,
    };
  }

  action(user: SlackUser, source: StoredMessage, action: Json, links: Links): Json {
    const isEphemeral = source.visibleTo !== undefined;
    const thread = source.threadTs === undefined ? {} : { thread_ts: source.threadTs };
    return {
      type: 'block_actions',
      ...this.interaction(user),
      trigger_id: links.triggerId,
      response_url: links.responseUrl,
      container: {
        type: 'message',
        message_ts: source.ts,
        channel_id: source.channel,
        is_ephemeral: isEphemeral,
        ...thread,
      },
      channel: this.channelOf(source.channel),
      // Ephemeral messages are not kept: their payloads carry none.
      ...(isEphemeral ? {} : { message: shown(this.slack, source, { metadata: true }) }),
      state: { values: {} },
      actions: [action],
    };
  }

  /**
   * docs.slack.dev, "Legacy: Interactive message field guide". A click on a link is not delivered, and no app is named. Slack gives the value
   * as it was posted.
   */
  attachmentAction(user: SlackUser, source: StoredMessage, { attachment, action }: Attached, links: Links): Json {
    const { name, type, value } = action;
    return {
      type: 'interactive_message',
      ...this.person(user),
      actions: [{ name: name ?? '', type: type ?? 'button', value: value ?? '' }],
      callback_id: attachment.callback_id ?? '',
      channel: this.channelOf(source.channel),
      action_ts: this.slack.nextTs(),
      message_ts: source.ts,
      attachment_id: String(attachment.id),
      is_app_unfurl: false,
      original_message: shown(this.slack, source, { metadata: false }),
      response_url: links.responseUrl,
      trigger_id: links.triggerId,
    };
  }

  viewAction(user: SlackUser, view: StoredView, action: Json, triggerId: string): Json {
    return {
      type: 'block_actions',
      ...this.interaction(user),
      trigger_id: triggerId,
      container: { type: 'view', view_id: view.id },
      view: shownView(this.slack, view),
      actions: [action],
    };
  }

  /** No trigger: what people type opens nothing. The view's state is as Slack knew it last (slackapi/bolt-js#1146). */
  suggestion(user: SlackUser, view: StoredView, asked: { block_id: string; action_id: string; value: string }): Json {
    return {
      type: 'block_suggestion',
      ...this.interaction(user),
      container: { type: 'view', view_id: view.id },
      view: shownView(this.slack, view),
      ...asked,
    };
  }

  viewSubmission(user: SlackUser, view: StoredView, values: Json, triggerId: string): Json {
    const shownNow = { ...shownView(this.slack, view), state: { values } };
    return {
      type: 'view_submission',
      ...this.interaction(user),
      trigger_id: triggerId,
      view: shownNow,
      response_urls: [],
    };
  }

  viewClosed(user: SlackUser, view: StoredView): Json {
    return {
      type: 'view_closed',
      ...this.interaction(user),
      view: shownView(this.slack, view),
      is_cleared: false,
    };
  }

  shortcut(user: SlackUser, callbackId: string, triggerId: string): Json {
    return {
      type: 'shortcut',
      ...this.person(user),
      callback_id: callbackId,
      trigger_id: triggerId,
      action_ts: this.slack.nextTs(),
    };
  }

  messageShortcut(user: SlackUser, callbackId: string, source: StoredMessage, links: Links): Json {
    return {
      type: 'message_action',
      ...this.person(user),
      callback_id: callbackId,
      trigger_id: links.triggerId,
      response_url: links.responseUrl,
      action_ts: this.slack.nextTs(),
      channel: this.channelOf(source.channel),
      message_ts: source.ts,
      message: shown(this.slack, source, { metadata: true }),
    };
  }

  event(event: Json): Json {
    const { team, app } = this.slack;
    const ofEnterprise =
      team.enterpriseId === undefined
        ? {}
        : { enterprise_id: team.enterpriseId, context_enterprise_id: team.enterpriseId };
    return {
      ...this.common(),
      team_id: team.id,
      context_team_id: team.id,
      ...ofEnterprise,
      api_app_id: app.appId,
      type: 'event_callback',
      event,
      event_id: this.slack.nextId('Ev'),
      event_time: Math.floor(this.slack.now() / 1000),
      authorizations: [
        {
          enterprise_id: team.enterpriseId ?? null,
          team_id: team.isEnterpriseInstall ? null : team.id,
          user_id: app.botUserId,
          is_bot: true,
          is_enterprise_install: team.isEnterpriseInstall ?? false,
        },
      ],
      is_ext_shared_channel: this.slack.team.channels[String(event.channel)]?.is_ext_shared ?? false,
    };
  }

  /** The envelope of a mention, or of its edit: the event is the message as it is now. */
  mention(user: SlackUser, { channel, ts, text, threadTs, edited }: StoredMessage): Json {
    return this.event({
      type: 'app_mention',
      user: user.id,
      ts,
      ...typedFields({ channel, ts, text }),
      text,
      team: this.slack.team.id,
      user_team: user.team_id,
      channel,
      event_ts: edited?.ts ?? ts,
      ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
      ...(edited === undefined ? {} : { edited }),
    });
  }

  /** The event of an edit in a direct message: docs.slack.dev, "message_changed event". */
  changed({ channel, ts, user, text, threadTs, edited }: StoredMessage, before: string): Json {
    const common = { type: 'message', user, team: this.slack.team.id, ts };
    const thread = threadTs === undefined ? {} : { thread_ts: threadTs };
    return {
      type: 'message',
      subtype: 'message_changed',
      channel_type: 'im',
      hidden: true,
      channel,
      message: { ...common, ...thread, ...typedFields({ channel, ts, text }), text, edited },
      previous_message: { ...common, ...thread, text: before },
      ts: edited?.ts ?? ts,
      event_ts: edited?.ts ?? ts,
    };
  }

  /** In place of events: over 30,000 in an hour (docs.slack.dev, "app_rate_limited event"). */
  rateLimited(): Json {
    const { team, app, now } = this.slack;
    const minute_rate_limited = Math.floor(now() / 60_000) * 60;
    return { ...this.common(), type: 'app_rate_limited', team_id: team.id, minute_rate_limited, api_app_id: app.appId };
  }

  private common(): Json {
    return { token: 'verification-token' };
  }

  private interaction(user: SlackUser): Json {
    return { ...this.person(user), api_app_id: this.slack.app.appId };
  }

  /** All that Slack says of the sender with a shortcut: which app it is for is not among it. */
  private person(user: SlackUser): Json {
    const { team } = this.slack;
    const enterprise = team.enterpriseId === undefined ? null : { id: team.enterpriseId, name: team.name };
    const ofEnterprise = enterprise === null ? {} : { enterprise_id: enterprise.id, enterprise_name: enterprise.name };
    return {
      ...this.common(),
      user: { id: user.id, username: user.name, name: user.name, team_id: user.team_id },
      team: { id: team.id, domain: team.domain, ...ofEnterprise },
      enterprise,
      is_enterprise_install: team.isEnterpriseInstall ?? false,
    };
  }

  private channelOf(id: string): Json {
    const channel = this.slack.team.channels[id];
    return { id, name: channel?.kind === 'im' ? 'directmessage' : (channel?.name ?? '') };
  }
}

interface Attached {
  readonly attachment: Json;
  readonly action: Json;
}

/** What lets the app answer an interaction. */
export interface Links {
  readonly triggerId: string;
  readonly responseUrl: string;
}
