import { isJson } from '../api/args.ts';
import { shown, typedFields } from '../api/shown.ts';
import { SlackError } from '../api/slack-error.ts';
import type { Triggers } from '../api/triggers.ts';
import { homeOf, shownView } from '../api/views.ts';
import { readTyped } from '../compose/compose.ts';
import type { ResponseUrls } from '../serve/response-urls.ts';
import type { Json, StoredMessage, StoredView } from '../state/message.ts';
import type { SlackState } from '../state/state.ts';
import type { SlackUser } from '../state/team.ts';
import type { Courier, Delivery, DeliveryOptions, Parcel } from './courier.ts';
import { type InviteOrder, Members } from './members.ts';
import type {
  ActionOrder,
  AttachmentOrder,
  CommandOrder,
  Common,
  EditOrder,
  MentionOrder,
  SayOrder,
  ShortcutOrder,
  SubmissionOrder,
  SuggestionOrder,
  TypeOrder,
  ViewActionOrder,
} from './orders.ts';
import { type Links, Payloads } from './payloads.ts';
import { actionOf, findAttached, findPressed } from './press.ts';
import { afterSubmission } from './submission.ts';
import { askedOf, optionsIn, type Suggestions } from './suggestion.ts';

interface Parts {
  readonly slack: SlackState;
  readonly triggers: Triggers;
  readonly responseUrls: ResponseUrls;
  readonly courier: Courier;
  readonly origin: () => string;
}

/**
 * People's deeds, delivered to the app; each resolves with the acknowledgement. Ordinary impossibilities (no such
 * button, an unknown person) throw; a payload that Slack would never send is made with `override`.
 */
export class Deliver {
  private readonly parts: Parts;
  private readonly payloads: Payloads;
  private readonly members: Members;

  constructor(parts: Parts) {
    this.parts = parts;
    this.payloads = new Payloads(parts.slack);
    this.members = new Members(parts.slack);
  }

  /** A slash command. What rides on the acknowledgement, or Slack's own complaint, is shown to the person. */
  async command(order: CommandOrder): Promise<Delivery> {
    this.needScope('commands');
    const channel = this.members.placeOf(order.channel, order.user);
    const said = { command: order.command ?? this.parts.slack.app.commands[0], text: order.text };
    const payload = this.payloads.command(this.user(order), channel, said, this.links(order.user, channel.id));
    const delivery = await this.send('slash_commands', payload, order);
    this.showAnswer(delivery, channel.id, order.user, said.command);
    return delivery;
  }

  /** A person's message that the app does not hear of (an alert, chatter). */
  say(order: SayOrder): StoredMessage {
    const { slack } = this.parts;
    const { files = [] } = order;
    const thread = order.threadTs === undefined ? {} : { threadTs: order.threadTs };
    const place = {
      channel: this.members.placeOf(order.channel, order.user).id,
      ts: slack.nextTs(),
      ...thread,
      user: order.user,
    };
    const shared = files.length === 0 ? {} : { subtype: 'file_share' as const };
    const empty = { blocks: [], revisions: 0, reactions: [] };
    const message: StoredMessage = { ...place, ...shared, ...empty, text: order.text, files: [...files] };
    slack.post(message);
    return message;
  }

  /** `@kdebug …`: posts the person's message, then sends `app_mention`. Only where the bot is a member, and in no direct message. */
  async mention(order: MentionOrder): Promise<Delivery> {
    this.needScope('app_mentions:read');
    const { slack } = this.parts;
    const bot = slack.app.botUserId;
    const { kind, members } = this.members.placeOf(order.channel, order.user);
    if (!members.includes(bot)) throw new Error(`the bot is not in ${order.channel}: Slack sends no event`);
    if (kind === 'im') throw new Error('direct messages "are not dispatched via app_mention": use `direct`');
    const whole = order.text.includes(`<@${bot}>`) ? order.text : `<@${bot}> ${order.text}`;
    const message = this.say({ ...order, text: whole });
    return this.send('events_api', this.payloads.mention(this.user(order), message), order);
  }

  /**
   * A person edits a message of theirs. In a channel Slack sends `app_mention` once more, with `edited`, a new `event_id` and the old `ts`
   * (slack-go/slack#1256); in the direct message with the app `message_changed`. @throws Error when it is not theirs
   */
  async edit(order: EditOrder): Promise<Delivery | undefined> {
    const { slack } = this.parts;
    const { events, botUserId } = slack.app;
    const message = this.message(order.user, order.channel, order.ts);
    if (message.user !== order.user) throw new Error(`${order.user} did not write ${order.ts}`);
    const before = message.text;
    message.text = order.text;
    message.edited = { user: order.user, ts: slack.nextTs() };
    slack.tell({ kind: 'updated', message });
    const { kind, members } = this.members.placeOf(order.channel, order.user);
    const send = (event: Json) => this.send('events_api', this.payloads.event(event), order);
    if (kind === 'im') return events.includes('message.im') ? send(this.payloads.changed(message, before)) : undefined;
    if (!members.includes(botUserId) || !order.text.includes(`<@${botUserId}>`)) return undefined;
    return this.send('events_api', this.payloads.mention(this.user(order), message), order);
  }

  /**
   * What a person types into the composer, as Slack reads it: a command, an invitation, a mention, or words that the app
   * does not hear. @throws Error in the words that Slack shows, when it takes none of it
   */
  async type({ text, threadTs, keyboard, ...order }: TypeOrder): Promise<Delivery | undefined> {
    const { team, app } = this.parts.slack;
    const { user } = order;
    const { botUserId, commands } = app;
    const place = { botUserId, commands, inThread: threadTs !== undefined, user, keyboard: keyboard ?? 'plain' };
    const typed = readTyped(text, team, place);
    const thread = threadTs === undefined ? {} : { threadTs };
    if (typed.kind === 'refused') throw new Error(typed.why);
    if (typed.kind === 'command') return this.command({ ...order, command: typed.name, text: typed.words });
    if (typed.kind !== 'invite' && team.channels[order.channel]?.kind === 'im')
      return this.direct({ ...order, ...thread, text: typed.text });
    if (typed.kind === 'mention') return this.mention({ ...order, ...thread, text: typed.text });
    if (typed.kind === 'invite') return this.invite({ ...order, invited: typed.invited });
    this.say({ ...order, ...thread, text: typed.text });
    return undefined;
  }

  /** Tells the app that its events of this minute are held back. */
  async rateLimited(): Promise<Delivery> {
    return this.send('events_api', this.payloads.rateLimited(), {});
  }

  /** Any other event, as it is (`app_home_opened`, `message` …). */
  async event(event: Json, options: Omit<Common, 'user'> = {}): Promise<Delivery> {
    return this.send('events_api', this.payloads.event(event), options);
  }

  /**
   * A person writes to the app, in their direct message with it (docs.slack.dev, "message.im event"). @throws Error where the app takes no
   * messages
   */
  async direct(order: Omit<SayOrder, 'channel'> & Omit<Common, 'user'>): Promise<Delivery | undefined> {
    const { slack } = this.parts;
    if (!slack.app.takesMessages) throw new Error('Sending messages to this app has been turned off.');
    const { threadTs } = order;
    const message = this.say({ ...order, channel: slack.direct(order.user).id });
    const { ts, text, channel, user, subtype } = message;
    if (!slack.app.events.includes('message.im') || !slack.app.scopes.includes('im:history')) return undefined;
    const event = {
      type: 'message',
      channel_type: 'im',
      user,
      channel,
      ...typedFields({ channel, ts, text }),
      text,
      ts,
      event_ts: ts,
      team: slack.team.id,
      ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
      ...(subtype === undefined ? {} : { subtype, files: shown(slack, message, { metadata: false }).files }),
    };
    return this.send('events_api', this.payloads.event(event), order);
  }

  /**
   * Somebody opens the app's Home tab, or its Messages tab (docs.slack.dev, "app_home_opened event"). Nothing is sent to an app that does not
   * subscribe to the event. @throws Error when the app has no such tab
   */
  openHome({ tab = 'home', ...order }: Common & { tab?: 'home' | 'messages' }): Promise<Delivery | undefined> {
    const { slack } = this.parts;
    if (tab === 'home' && !slack.app.hasHome) throw new Error('the app has no Home tab');
    if (!slack.app.events.includes('app_home_opened')) return Promise.resolve(undefined);
    const { id: channel } = slack.direct(this.user(order).id);
    // "If they opened a Home tab and that tab has had a view published at least once before".
    const published = tab === 'home' ? homeOf(slack, order.user) : undefined;
    const view = published === undefined ? {} : { view: shownView(slack, published) };
    const event = { type: 'app_home_opened', user: order.user, channel, tab, ...view, event_ts: slack.nextTs() };
    return this.send('events_api', this.payloads.event(event), order);
  }

  /** Presses a button (or picks from a menu) of a message. Where Slack loses the press, nobody sees anything: status 0, no error. */
  async action(order: ActionOrder): Promise<Delivery> {
    const source = this.message(order.user, order.channel, order.ts);
    const action = actionOf(findPressed(source.blocks, order), order, this.parts.slack.nextTs());
    const links = this.links(order.user, order.channel, source);
    const payload = this.payloads.action(this.user(order), source, action, links);
    const isLost = source.files.length > 0 && this.parts.slack.habits.fileButtons === 'dead';
    if (isLost) return lost(payload, 'http');
    return this.send('interactive', payload, order);
  }

  /**
   * Presses a button of a message's attachment. Where Slack loses the press, nobody sees anything: status 0, no error. @throws Error when there
   * is none of this label
   */
  async attachment({ channel, ts, label, ...order }: AttachmentOrder): Promise<Delivery> {
    const source = this.message(order.user, channel, ts);
    const attached = findAttached(source.attachments ?? [], label);
    const links = this.links(order.user, channel, source);
    const payload = this.payloads.attachmentAction(this.user(order), source, attached, links);
    const isLost = this.parts.slack.habits.attachmentButtons === 'http' && this.parts.courier.wayOf(order) === 'socket';
    if (isLost) return lost(payload, 'socket');
    const delivery = await this.send('interactive', payload, order);
    replaceByAnswer(this.parts.slack, source, delivery);
    return delivery;
  }

  /** Presses a button inside an open view, or fills an input whose block dispatches. */
  async viewAction(order: ViewActionOrder): Promise<Delivery> {
    const view = this.openView(order.viewId);
    const blocks = Array.isArray(view.view.blocks) ? view.view.blocks.filter(isJson) : [];
    const pressed = findPressed(blocks, order);
    const action = actionOf(pressed, order, this.parts.slack.nextTs(), view.suggested?.[pressed.blockId]);
    if (order.values) view.values = order.values;
    const trigger = this.parts.triggers.issue(order.user);
    return this.send('interactive', this.payloads.viewAction(this.user(order), view, action, trigger), order);
  }

  /**
   * Types into an external select of an open view. Resolves with what the person may pick from; nothing but the app's
   * own options can be picked afterwards. @throws Error where Slack would not even ask the app
   */
  async suggest(order: SuggestionOrder): Promise<Suggestions> {
    const view = this.openView(order.viewId);
    const asked = askedOf(view, order);
    const delivery = await this.send('interactive', this.payloads.suggestion(this.user(order), view, asked), order);
    const options = optionsIn(delivery);
    view.suggested = { ...view.suggested, [order.blockId]: [...(options ?? [])] };
    return { delivery, options };
  }

  /** Submits a modal; what becomes of it is in deliver/submission.ts. */
  async viewSubmission(order: SubmissionOrder): Promise<Delivery> {
    const view = this.openView(order.viewId);
    const trigger = this.parts.triggers.issue(order.user);
    const payload = this.payloads.viewSubmission(this.user(order), view, order.values, trigger);
    const delivery = await this.send('interactive', payload, order);
    afterSubmission(this.parts.slack, view, delivery);
    return delivery;
  }

  /** Closes a modal by its cross; the app hears of it where the view asked for that (`notify_on_close`). */
  async closeView(order: Common & { viewId: string }): Promise<Delivery | undefined> {
    const view = this.openView(order.viewId);
    view.open = false;
    this.parts.slack.tell({ kind: 'view', view });
    if (view.view.notify_on_close !== true) return undefined;
    return this.send('interactive', this.payloads.viewClosed(this.user(order), view), order);
  }

  async shortcut(order: ShortcutOrder): Promise<Delivery> {
    this.needScope('commands');
    const { channel, ts, callbackId } = order;
    const user = this.user(order);
    if (channel === undefined || ts === undefined) {
      return this.send(
        'interactive',
        this.payloads.shortcut(user, callbackId, this.parts.triggers.issue(user.id)),
        order,
      );
    }
    const source = this.message(user.id, channel, ts);
    const links = this.links(user.id, channel, source);
    return this.send('interactive', this.payloads.messageShortcut(user, callbackId, source, links), order);
  }

  /**
   * A member invites somebody, or the bot (`/invite @kdebug`): then `member_joined_channel` is sent, if the app subscribes to it and may
   * read the channel (docs.slack.dev, "member_joined_channel event"). @throws Error where Slack would not let them
   */
  invite(order: InviteOrder & Omit<Common, 'user'>): Promise<Delivery | undefined> {
    const { slack } = this.parts;
    const { id, kind, members } = this.members.invite(order);
    const { events, scopes, botUserId } = slack.app;
    const right = kind === 'private' ? 'groups:read' : 'channels:read';
    const isHeard = events.includes('member_joined_channel') && scopes.includes(right) && members.includes(botUserId);
    if (!isHeard) return Promise.resolve(undefined);
    const event = {
      type: 'member_joined_channel',
      user: order.invited,
      channel: id,
      // "Both public and private channels created after March 2021 have a C prefix."
      channel_type: id.startsWith('G') ? 'G' : 'C',
      team: slack.team.id,
      inviter: order.user,
      event_ts: slack.nextTs(),
    };
    return this.send('events_api', this.payloads.event(event), order);
  }

  /**
   * Somebody shares a private channel with another company, so it gets another id (docs.slack.dev, "channel_id_changed event"). "This event is
   * only sent for private channels your app has access to."
   */
  changeChannelId({
    channel: from,
    to,
  }: {
    readonly channel: string;
    readonly to: string;
  }): Promise<Delivery | undefined> {
    const { slack } = this.parts;
    const channel = this.members.changeId(from, to);
    const isHeard = slack.app.events.includes('channel_id_changed') && channel.members.includes(slack.app.botUserId);
    if (!isHeard) return Promise.resolve(undefined);
    const event = { type: 'channel_id_changed', old_channel_id: from, new_channel_id: to, event_ts: slack.nextTs() };
    return this.send('events_api', this.payloads.event(event), {});
  }

  /** An admin changes who is in a user group (docs.slack.dev, "subteam_members_changed event"). */
  changeGroup({
    id,
    users,
  }: {
    readonly id: string;
    readonly users: readonly string[];
  }): Promise<Delivery | undefined> {
    const { slack } = this.parts;
    const { added, removed } = this.members.changeGroup(id, users);
    const { events, scopes } = slack.app;
    const isHeard = events.includes('subteam_members_changed') && scopes.includes('usergroups:read');
    if (!isHeard) return Promise.resolve(undefined);
    const event = {
      type: 'subteam_members_changed',
      subteam_id: id,
      team_id: slack.team.id,
      date_update: Math.floor(slack.now() / 1_000),
      added_users: added,
      added_users_count: String(added.length),
      removed_users: removed,
      removed_users_count: String(removed.length),
      event_ts: slack.nextTs(),
    };
    return this.send('events_api', this.payloads.event(event), {});
  }

  /** Removes somebody, or the bot, from a channel. */
  remove(order: { readonly channel: string; readonly user: string }): void {
    this.members.remove(order);
  }

  /** The same payload once more, newly signed: what Slack does when it got no answer in time. */
  async again(delivery: Delivery, options: DeliveryOptions = {}): Promise<Delivery> {
    return this.parts.courier.deliver(delivery.parcel, { via: delivery.via, ...options });
  }

  /** The same bytes once more: what an attacker does. */
  async replay(delivery: Delivery): Promise<Delivery> {
    return this.parts.courier.replay(delivery);
  }

  private async send(
    type: Parcel['type'],
    payload: Json,
    { override, ...options }: Omit<Common, 'user'>,
  ): Promise<Delivery> {
    return this.parts.courier.deliver({ type, payload: { ...payload, ...override } }, options);
  }

  private showAnswer(delivery: Delivery, channel: string, user: string, command: string): void {
    const { responseUrls } = this.parts;
    if (delivery.error !== undefined) {
      responseUrls.slackbot(channel, user, `${command} failed with the error "${delivery.error}"`);
      return;
    }
    const answer = typeof delivery.body === 'string' ? { text: delivery.body } : delivery.body;
    if (!answer.text && answer.blocks === undefined) return;
    try {
      responseUrls.say(channel, user, answer);
    } catch (error) {
      if (!(error instanceof SlackError)) throw error;
      responseUrls.slackbot(channel, user, `${command} failed because of the answer: ${error.code}`);
    }
  }

  private links(user: string, channel: string, source?: StoredMessage): Links {
    const { triggers, responseUrls, origin } = this.parts;
    return { triggerId: triggers.issue(user), responseUrl: `${origin()}${responseUrls.issue(channel, user, source)}` };
  }

  private user(order: Common): SlackUser {
    return this.members.person(order.user);
  }

  private message(user: string, channel: string, ts: string): StoredMessage {
    const { slack } = this.parts;
    this.members.placeOf(channel, user);
    const found =
      slack.message(channel, ts) ??
      slack.ephemerals.find((one) => one.visibleTo === user && one.channel === channel && one.ts === ts);
    if (found === undefined) throw new Error(`there is no message ${ts} in ${channel}`);
    return found;
  }

  private openView(id: string): StoredView {
    const view = this.parts.slack.views.get(id);
    if (view === undefined || !view.open) throw new Error(`view ${id} is not open`);
    return view;
  }

  private needScope(scope: string): void {
    if (!this.parts.slack.app.scopes.includes(scope)) throw new Error(`without the scope ${scope} Slack sends nothing`);
  }
}

/** A press that Slack brings to no app. */
const lost = (payload: Json, via: Delivery['via']): Delivery => ({
  ...{ parcel: { type: 'interactive', payload }, via },
  ...{ status: 0, body: '', ms: 0 },
});

/**
 * "Your response will replace the original message", of an attachment's button: what rides on the acknowledgement does. An empty object, too:
 * a message was seen with the text `{}` after one over HTTP (slackapi/python-slack-sdk#200). [guess] The same over Socket Mode.
 */
function replaceByAnswer(slack: SlackState, message: StoredMessage, { body, error }: Delivery): void {
  if (body === '' || error !== undefined) return;
  message.text = typeof body === 'string' ? body : String(body.text ?? JSON.stringify(body));
  message.blocks = [];
  message.attachments = [];
  slack.tell({ kind: 'updated', message });
}
