import {
  type Delivery,
  type LocalSlack,
  readTyped,
  type StoredMessage,
  type StoredView,
  toggleReaction,
} from '../../slack/index.ts';
import type { Deed, DeedAnswer } from '../contract.ts';
import type { AppManifest } from './manifest.ts';
import type { Troubles } from './troubles.ts';

type Of<K extends Deed['kind']> = Extract<Deed, { kind: K }>;

/** Why a deed cannot be done, in the words that the person reads. */
class Impossible extends Error {}

const DONE: DeedAnswer = { ok: true };

interface Parts {
  readonly slack: LocalSlack;
  readonly manifest: AppManifest;
  readonly troubles: Troubles;
}

/** Does what people do on the page: what concerns the app goes to it as Slack would send it. */
export class Deeds {
  readonly #slack: LocalSlack;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#slack = parts.slack;
    this.#parts = parts;
  }

  /** Never throws: what cannot be done is answered with a sentence. */
  async do(deed: Deed): Promise<DeedAnswer> {
    try {
      if (deed.kind === 'trouble') {
        await this.#parts.troubles.make(deed);
        return DONE;
      }
      this.#checkPerson(deed.user);
      return await this.#doAs(deed);
    } catch (error) {
      return { ok: false, error: error instanceof Error ? error.message : String(error) };
    }
  }

  #doAs(deed: Exclude<Deed, { kind: 'trouble' }>): DeedAnswer | Promise<DeedAnswer> {
    switch (deed.kind) {
      case 'type':
        return this.#type(deed);
      case 'press':
        return this.#press(deed);
      case 'press-attachment':
        return this.#pressAttachment(deed);
      case 'press-in-view':
        return this.#pressInView(deed);
      case 'suggest':
        return this.#suggest(deed);
      case 'submit':
        return this.#submit(deed);
      case 'close-view':
        return this.#closeView(deed);
      case 'shortcut':
        return this.#shortcut(deed);
      case 'react':
        return this.#react(deed);
      case 'open-home':
        return this.#openHome(deed);
      case 'open-direct':
        return { ok: true, channel: this.#slack.state.direct(deed.user).id };
    }
  }

  async #type({ user, channel, text, threadTs }: Of<'type'>): Promise<DeedAnswer> {
    this.#checkMayWrite(user, channel);
    const inThread = threadTs !== undefined;
    if (inThread) this.#message(channel, threadTs, user);
    const typed = readTyped(text.trim(), this.#slack.team, {
      botUserId: this.#slack.botUserId,
      commands: this.#slack.state.app.commands,
      inThread,
      user,
    });
    if (typed.kind === 'refused') throw new Impossible(typed.why);
    if (typed.kind === 'invite') return this.#invite(channel, user, typed.invited);
    // What goes wrong with a command, Slackbot tells the person by itself.
    if (typed.kind === 'command') await this.#slack.deliver.command({ user, channel, text: typed.words });
    else return this.#say({ user, channel, text: typed.text, ...(inThread ? { threadTs } : {}) }, typed.kind);
    return DONE;
  }

  async #invite(channel: string, user: string, invited: string): Promise<DeedAnswer> {
    const { team, deliver } = this.#slack;
    const place = team.channels[channel];
    const name = team.users[invited]?.real_name ?? invited;
    if (place?.kind === 'im') throw new Impossible('Nobody can be invited to a direct message.');
    if (place?.members.includes(invited)) throw new Impossible(`${name} is already in #${place.name}.`);
    const heard = deliver.invite({ user, channel, invited });
    deliver.say({ user: invited, channel, text: `was added to #${place?.name} by ${team.users[user]?.real_name}.` });
    await heard;
    return DONE;
  }

  async #say(
    order: { user: string; channel: string; text: string; threadTs?: string },
    kind: 'mention' | 'words',
  ): Promise<DeedAnswer> {
    const { deliver, team, botUserId } = this.#slack;
    if (order.text === '') throw new Impossible('There is nothing to send.');
    const place = team.channels[order.channel];
    if (place?.kind === 'im') {
      const delivery = await deliver.direct(order);
      return delivery === undefined ? DONE : answerTo(delivery);
    }
    if (kind === 'words') {
      deliver.say(order);
      return DONE;
    }
    if (!place?.members.includes(botUserId))
      throw new Impossible(`kdebug is not in #${place?.name} and would not hear this. Type /invite @kdebug first.`);
    return answerTo(await deliver.mention(order));
  }

  async #press({ user, channel, ts, actionId, blockId, chosen }: Of<'press'>): Promise<DeedAnswer> {
    this.#checkMayWrite(user, channel);
    this.#message(channel, ts, user);
    const press = { actionId, blockId, ...(chosen === undefined ? {} : { chosen }) };
    return answerTo(await this.#slack.deliver.action({ user, channel, ts, ...press }));
  }

  async #pressAttachment({ user, channel, ts, label }: Of<'press-attachment'>): Promise<DeedAnswer> {
    this.#checkMayWrite(user, channel);
    this.#message(channel, ts, user);
    return answerTo(await this.#slack.deliver.attachment({ user, channel, ts, label }));
  }

  async #suggest({ user, viewId, blockId, actionId, typed }: Of<'suggest'>): Promise<DeedAnswer> {
    this.#view(viewId, user);
    const { delivery, options } = await this.#slack.deliver.suggest({ user, viewId, blockId, actionId, typed });
    if (options !== undefined) return { ok: true, options };
    const answer = answerTo(delivery);
    return answer.ok ? { ok: false, error: 'The menu could not be loaded.' } : answer;
  }

  async #pressInView({ user, viewId, actionId, blockId, chosen, values }: Of<'press-in-view'>): Promise<DeedAnswer> {
    this.#view(viewId, user);
    const filled = values === undefined ? {} : { values };
    const press = { actionId, blockId, ...(chosen === undefined ? {} : { chosen }), ...filled };
    return answerTo(await this.#slack.deliver.viewAction({ user, viewId, ...press }));
  }

  async #submit({ user, viewId, values }: Of<'submit'>): Promise<DeedAnswer> {
    this.#view(viewId, user);
    return answerTo(await this.#slack.deliver.viewSubmission({ user, viewId, values }));
  }

  async #closeView({ user, viewId }: Of<'close-view'>): Promise<DeedAnswer> {
    this.#view(viewId, user);
    const delivery = await this.#slack.deliver.closeView({ user, viewId });
    return delivery === undefined ? DONE : answerTo(delivery);
  }

  async #shortcut({ user, callbackId, channel, ts }: Of<'shortcut'>): Promise<DeedAnswer> {
    const { shortcuts, globalShortcuts } = this.#parts.manifest;
    const isGlobal = channel === undefined || ts === undefined;
    const isKnown = (isGlobal ? globalShortcuts : shortcuts).some((one) => one.callbackId === callbackId);
    if (!isKnown) throw new Impossible('The app has no such shortcut.');
    if (channel === undefined || ts === undefined)
      return answerTo(await this.#slack.deliver.shortcut({ user, callbackId }));
    if (this.#message(channel, ts, user).visibleTo !== undefined)
      throw new Impossible('Slack offers no shortcuts on a message that only you can see.');
    return answerTo(await this.#slack.deliver.shortcut({ user, callbackId, channel, ts }));
  }

  async #openHome({ user, tab }: Of<'open-home'>): Promise<DeedAnswer> {
    const delivery = await this.#slack.deliver.openHome({ user, tab });
    return delivery === undefined ? DONE : answerTo(delivery);
  }

  #react({ user, channel, ts, name }: Of<'react'>): DeedAnswer {
    this.#checkMayWrite(user, channel);
    const message = this.#message(channel, ts, user);
    if (message.visibleTo !== undefined || message.tombstone)
      throw new Impossible('Slack takes no reactions on this message.');
    toggleReaction(this.#slack.state, message, { user, name });
    return DONE;
  }

  #checkPerson(id: string): void {
    const person = this.#slack.team.users[id];
    if (person === undefined || person.is_bot) throw new Impossible(`Nobody here is ${id}.`);
    if (person.deleted) throw new Impossible(`${person.real_name}’s account is deactivated.`);
  }

  #checkMayWrite(user: string, channel: string): void {
    const place = this.#slack.team.channels[channel];
    if (place === undefined || (place.kind !== 'public' && !place.members.includes(user)))
      throw new Impossible('There is no such channel.');
    if (place.is_archived) throw new Impossible(`#${place.name} is archived: nobody can write in it any more.`);
    if (!place.members.includes(user)) throw new Impossible(`Join #${place.name} to write in it.`);
  }

  #message(channel: string, ts: string, user: string): StoredMessage {
    const { state } = this.#slack;
    const found =
      state.message(channel, ts) ??
      this.#slack.ephemerals(user).find((one) => one.channel === channel && one.ts === ts);
    if (found === undefined) throw new Impossible('This message is no longer there.');
    return found;
  }

  #view(id: string, user: string): StoredView {
    const found = this.#slack.views(user).find((view) => view.id === id);
    if (found === undefined) throw new Impossible('This window is no longer open.');
    return found;
  }
}

/** What a person sees when the app does not take what they did. */
function answerTo({ error, status }: Delivery): DeedAnswer {
  if (error === undefined) return DONE;
  if (error === 'operation_timeout') return { ok: false, error: 'kdebug did not answer within three seconds.' };
  if (error === 'dispatch_failed') return { ok: false, error: 'kdebug could not be reached.' };
  return { ok: false, error: `kdebug answered with an error (${status}).` };
}
