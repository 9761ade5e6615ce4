import { randomBytes } from 'node:crypto';
import { type Args, flag, optional } from '../api/args.ts';
import { botMessage, threadRoot } from '../api/chat.ts';
import { POST_TEXT_LIMIT, readContent, readMetadata } from '../api/content.ts';
import { withBlockIds } from '../api/shown.ts';
import { SlackError } from '../api/slack-error.ts';
import type { StoredMessage } from '../state/message.ts';
import type { SlackState } from '../state/state.ts';
import type { Answer } from './http.ts';

const USES = 5;
const LIFETIME_MS = 30 * 60_000;

interface Hook {
  readonly channel: string;
  readonly user: string;
  /** The message whose button was pressed. */
  readonly source?: StoredMessage;
  readonly atMs: number;
  uses: number;
}

/** `response_url`s: five uses within 30 minutes; a bearer secret that needs no token and no membership. */
export class ResponseUrls {
  private readonly hooks = new Map<string, Hook>();
  private readonly slack: SlackState;

  constructor(slack: SlackState) {
    this.slack = slack;
  }

  /** @returns the path of a fresh address */
  issue(channel: string, user: string, source?: StoredMessage): string {
    const id = randomBytes(18).toString('base64url');
    const atMs = this.slack.now();
    this.hooks.set(id, { channel, user, atMs, uses: 0, ...(source === undefined ? {} : { source }) });
    return `/hooks/commands/${this.slack.team.id}/${id}`;
  }

  /** Slack answers `ok` as text, and a refusal with an error word: 404 when it is used up or too old. */
  respond(id: string, args: Args | undefined): Answer {
    const hook = this.hooks.get(id);
    if (hook === undefined) return { status: 404, body: 'no_service' };
    if (hook.uses >= USES) return { status: 404, body: { ok: false, error: 'used_url' } };
    if (this.slack.now() - hook.atMs > LIFETIME_MS) return { status: 404, body: { ok: false, error: 'expired_url' } };
    if (args === undefined) return { status: 400, body: 'invalid_payload' };
    try {
      this.apply(hook, args);
    } catch (error) {
      if (error instanceof SlackError) return { status: 400, body: error.code };
      throw error;
    }
    hook.uses += 1;
    return { status: 200, body: 'ok' };
  }

  private apply(hook: Hook, args: Args): void {
    const { source } = hook;
    if (source !== undefined && flag(args, 'delete_original')) this.removeSource(source);
    else if (source !== undefined && flag(args, 'replace_original')) this.replaceSource(source, args);
    else this.say(hook.channel, hook.user, args);
  }

  private removeSource(source: StoredMessage): void {
    if (source.visibleTo === undefined) {
      this.slack.remove(source);
      return;
    }
    this.slack.ephemerals.splice(this.slack.ephemerals.indexOf(source), 1);
    this.slack.tell({ kind: 'ephemeral-removed', message: source });
  }

  private replaceSource(source: StoredMessage, args: Args): void {
    const content = readContent(args, POST_TEXT_LIMIT, this.slack.habits);
    source.text = content.text ?? '';
    source.blocks = withBlockIds(this.slack, content.blocks ?? []);
    source.revisions += 1;
    this.slack.tell({ kind: source.visibleTo === undefined ? 'updated' : 'ephemeral', message: source });
  }

  /** Also how an answer that rides on an acknowledgement is shown. @throws SlackError */
  say(channel: string, user: string, args: Args): StoredMessage {
    const content = readContent(args, POST_TEXT_LIMIT, this.slack.habits);
    const metadata = readMetadata(args);
    const inChannel = optional(args, 'response_type') === 'in_channel';
    // "thread_ts" is documented for `in_channel`; a private answer lands at the channel's root.
    const root = inChannel ? threadRoot(this.slack, channel, args) : undefined;
    const message: StoredMessage = {
      ...botMessage(this.slack, channel, root),
      ...(inChannel ? {} : { visibleTo: user }),
      text: content.text ?? '',
      blocks: withBlockIds(this.slack, content.blocks ?? []),
      ...(metadata ? { metadata } : {}),
    };
    if (inChannel) this.slack.post(message);
    else this.tellOne(message);
    return message;
  }

  /** What Slack itself says to a person when an app fails. */
  slackbot(channel: string, user: string, text: string): void {
    const place = { channel, ts: this.slack.nextTs(), user: 'USLACKBOT', visibleTo: user };
    this.tellOne({ ...place, text, blocks: [], files: [], revisions: 0, reactions: [] });
  }

  private tellOne(message: StoredMessage): void {
    this.slack.ephemerals.push(message);
    this.slack.tell({ kind: 'ephemeral', message });
  }
}
