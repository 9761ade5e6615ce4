import type { EventEmitter } from 'node:events';
import { Triggers } from './api/triggers.ts';
import { Courier } from './deliver/courier.ts';
import { Deliver } from './deliver/deliver.ts';
import { type FileView, viewOf } from './read/files.ts';
import { type TranscriptOptions, transcript } from './read/transcript.ts';
import { Faults } from './serve/faults.ts';
import { type RateOptions, Rates } from './serve/rates.ts';
import { type CallWatcher, type LoggedCall, RequestLog } from './serve/request-log.ts';
import { ResponseUrls } from './serve/response-urls.ts';
import { SlackServer } from './serve/server.ts';
import { Sockets } from './serve/sockets.ts';
import { Uploads } from './serve/upload.ts';
import type { Habits } from './state/habits.ts';
import type { Notification, StoredMessage, StoredView } from './state/message.ts';
import type { Change, SlackState } from './state/state.ts';
import type { Team } from './state/team.ts';

/** A running local Slack. Everything is in this process; `stop` frees all of it. */
export class LocalSlack {
  /** The whole state, for tests that look or meddle; the team is changed by assigning to it. */
  readonly state: SlackState;
  /** Brings people's deeds to the app. */
  readonly deliver: Deliver;
  readonly faults = new Faults();
  readonly sockets: Sockets;
  /** Requests that this Slack does not know: a test that ends with one in here should fail and name it. */
  readonly unknown: string[] = [];
  /**
   * What another company can read: each post and edit of the app in a channel that is shared with one, or about to be, as it was then. Private
   * answers are not among it.
   */
  readonly seenOutside: StoredMessage[] = [];
  private readonly log = new RequestLog();
  private readonly courier: Courier;
  private readonly triggers: Triggers;
  private readonly server: SlackServer;
  private readonly uploads: Uploads;

  constructor(state: SlackState, rates: RateOptions, requestUrl: string | undefined) {
    this.state = state;
    const triggers = new Triggers(state.now);
    this.triggers = triggers;
    const responseUrls = new ResponseUrls(state);
    this.sockets = new Sockets(state, this.faults);
    this.uploads = new Uploads(state);
    this.courier = new Courier(state, this.sockets, requestUrl);
    const { log, faults, uploads, sockets, unknown } = this;
    const limits = new Rates(rates, state.now);
    this.server = new SlackServer({
      slack: state,
      triggers,
      rates: limits,
      faults,
      log,
      responseUrls,
      uploads,
      sockets,
      unknown,
    });
    state.changes.on('change', (change) => this.lookFromOutside(change));
    const origin = () => this.server.origin;
    this.deliver = new Deliver({ slack: state, triggers, responseUrls, courier: this.courier, origin });
  }

  /** @internal */
  async listen(port: number): Promise<void> {
    await this.server.listen(port);
  }

  /** For `SLACK_API_URL` and `slackApiUrl`: ends with a slash. */
  get apiUrl(): string {
    return `${this.server.origin}/api/`;
  }

  /** Host of `response_url`s and uploads. */
  get origin(): string {
    return this.server.origin;
  }

  get botToken(): string {
    return this.state.app.botToken;
  }

  get appToken(): string {
    return this.state.app.appToken;
  }

  get signingSecret(): string {
    return this.state.app.signingSecret;
  }

  get team(): Team {
    return this.state.team;
  }

  /** May be changed at any time. */
  get habits(): Habits {
    return this.state.habits;
  }

  get teamId(): string {
    return this.state.team.id;
  }

  get appId(): string {
    return this.state.app.appId;
  }

  get botUserId(): string {
    return this.state.app.botUserId;
  }

  get botId(): string {
    return this.state.app.botId;
  }

  /** Where signed HTTP requests go; set it when the app knows its port. */
  get requestUrl(): string | undefined {
    return this.courier.requestUrl;
  }

  set requestUrl(url: string | undefined) {
    this.courier.requestUrl = url;
  }

  /**
   * How long Slack waits for an acknowledgement, and how long a trigger opens a window: 3 s. Longer for a test of their content alone, whose machine
   * may be busy.
   */
  set ackLimitMs(ms: number) {
    this.courier.ackLimitMs = ms;
    this.triggers.lifetimeMs = ms;
  }

  /** Messages of the channel itself, oldest first. */
  messages(channel: string): readonly StoredMessage[] {
    return [...this.state.channelMessages(channel).values()].filter((message) => message.threadTs === undefined);
  }

  /** A thread's replies, oldest first, without the root. */
  thread(channel: string, rootTs: string): readonly StoredMessage[] {
    return this.state.replies(channel, rootTs);
  }

  message(channel: string, ts: string): StoredMessage | undefined {
    return this.state.message(channel, ts);
  }

  /** What only this person sees, oldest first. */
  ephemerals(user: string): readonly StoredMessage[] {
    return this.state.ephemerals.filter((message) => message.visibleTo === user);
  }

  /** A person loads Slack anew, or looks on another device: private answers "do not persist across reloads". */
  reload(user: string): void {
    for (const message of this.ephemerals(user)) {
      this.state.ephemerals.splice(this.state.ephemerals.indexOf(message), 1);
      this.state.tell({ kind: 'ephemeral-removed', message });
    }
  }

  /** What this person was notified of, oldest first. @throws Error for somebody unknown, so that a typo proves nothing */
  notified(user: string): readonly Notification[] {
    if (this.team.users[user] === undefined) throw new Error(`nobody here is ${user}`);
    return this.state.notifications.filter((one) => one.user === user);
  }

  private lookFromOutside(change: Change): void {
    if (change.kind !== 'posted' && change.kind !== 'updated') return;
    const { message } = change;
    const { is_ext_shared, is_pending_ext_shared } = this.team.channels[message.channel] ?? {};
    const isSeen = message.botId !== undefined && (is_ext_shared || is_pending_ext_shared);
    if (isSeen) this.seenOutside.push(structuredClone(message));
  }

  /** A person's message with a file, as if it had been uploaded in Slack. */
  async share(order: { user: string; channel: string; name: string; content: string }): Promise<StoredMessage> {
    const { user, channel, name, content } = order;
    const file = await this.uploads.keep({ user, name, origin: this.origin }, Buffer.from(content));
    const message = this.deliver.say({ user, channel, text: '', files: [file.id] });
    file.shares.push({ channel, ts: message.ts });
    return message;
  }

  /** A free workspace's limit takes the file away from view. */
  hideFile(id: string): void {
    const file = this.state.files.get(id);
    if (file !== undefined) file.hidden = true;
  }

  /** Files whose upload was completed, in order. */
  files(): readonly FileView[] {
    return [...this.state.files.values()].filter((file) => file.state === 'complete').map(viewOf);
  }

  /** Views that are open, or a person's. */
  views(user?: string): readonly StoredView[] {
    return [...this.state.views.values()].filter((view) => view.open && (user ?? view.user) === view.user);
  }

  transcript(channel: string, options: TranscriptOptions = {}): string {
    return transcript(this.state, channel, options);
  }

  /** The newest requests, all methods or one. */
  requests(method?: string): readonly LoggedCall[] {
    return method === undefined ? this.log.calls : this.log.of(method);
  }

  /** Tells of every further request of the app. The returned function ends it. */
  watchRequests(watcher: CallWatcher): () => void {
    return this.log.watch(watcher);
  }

  /** How often each method was called since the start. */
  get requestCounts(): ReadonlyMap<string, number> {
    return this.log.counts;
  }

  /** Event `change`, in order, as things happen. */
  get changes(): EventEmitter<{ change: [Change] }> {
    return this.state.changes;
  }

  /**
   * Resolves with what `look` finds, asked now and after every change: tests wait for what they need, not for time.
   * @throws Error after `limitMs` (default 120 s: a busy machine is not a failure), with the transcripts' end so that the failure explains itself
   */
  async until<T>(look: () => T | undefined | false, limitMs = 120_000): Promise<T> {
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        this.changes.off('change', check);
      };
      const check = (): void => {
        const found = look();
        if (found === undefined || found === false) return;
        stop();
        resolve(found);
      };
      const timer = setTimeout(() => {
        stop();
        const seen = Object.keys(this.team.channels)
          .map((channel) => this.transcript(channel))
          .join('\n');
        reject(new Error(`not seen within ${limitMs} ms: ${look.toString()}\n${seen.slice(-2000)}`));
      }, limitMs);
      this.changes.on('change', check);
      check();
    });
  }

  async stop(): Promise<void> {
    this.sockets.stop();
    this.state.background.stop();
    await this.courier.close();
    await this.server.close();
    await this.uploads.close();
  }
}
