import type { LocalSlack, LocalSlackOptions } from '../../../play/slack/index.ts';
import { startLocalSlack } from '../../../play/slack/index.ts';
import { createMetrics } from '../../../src/adapters/metrics/index.ts';
import { createSlack, type Slack, type SlackOptions } from '../../../src/adapters/slack/index.ts';
import type { Origin } from '../../../src/core/request/origin.ts';
import { type Form, type Message, type Option, text } from '../../../src/core/say/message/message.ts';
import type { Log, LogFields } from '../../../src/flow/ports/machine.ts';
import type {
  Actor,
  AlertClick,
  Answer,
  Click,
  FormChange,
  GlobalShortcut,
  Inbox,
  RefusedAtDoor,
  SearchQuery,
  Shortcut,
  Submission,
  SubmitAnswer,
  Welcome,
} from '../../../src/flow/ports/slack.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { defined } from '../../../src/lib/object.ts';

export const realClock: Clock = {
  now: Date.now,
  elapsed: () => Math.floor(performance.now()),
  after(ms, wake) {
    const timer = setTimeout(wake, ms);
    return () => clearTimeout(timer);
  },
};

/** A clock that runs `times` as fast, for the local Slack and the adapter alike: paces and waits pass sooner. */
export function fastClock(times: number): Clock {
  const begunMs = Date.now();
  return {
    now: () => begunMs + (Date.now() - begunMs) * times,
    elapsed: () => realClock.elapsed() * times,
    after: (ms, wake) => realClock.after(ms / times, wake),
  };
}

export interface Recorded {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields | undefined;
}

export class RecordingLog implements Log {
  readonly records: Recorded[] = [];
  readonly #add = (level: string) => (message: string, fields?: LogFields) =>
    void this.records.push({ level, message, fields });
  readonly debug = this.#add('debug');
  readonly info = this.#add('info');
  readonly warn = this.#add('warn');
  readonly error = this.#add('error');
}

/** Takes everything, remembers it, and answers as told. */
export class FakeInbox implements Inbox {
  readonly commands: { readonly origin: Origin; readonly words: string }[] = [];
  readonly clicks: Click[] = [];
  readonly alerts: AlertClick[] = [];
  readonly submissions: Submission[] = [];
  readonly shortcuts: Shortcut[] = [];
  readonly searches: SearchQuery[] = [];
  readonly changes: FormChange[] = [];
  readonly refusals: RefusedAtDoor[] = [];
  readonly invitations: Actor[] = [];
  readonly visits: Actor[] = [];
  readonly globalShortcuts: GlobalShortcut[] = [];
  answer: () => Promise<Answer> = async () => ({ kind: 'nothing' });
  options: (query: SearchQuery) => Promise<readonly Option[]> = async () => [];
  changed: (change: FormChange) => Promise<Form | undefined> = async () => undefined;
  welcome: () => Promise<Welcome> = async () => ({ kind: 'nothing' });
  anywhere: () => ReturnType<Inbox['globalShortcut']> = async () => ({
    kind: 'page',
    title: 'Debug a pod',
    message: saying('nowhere'),
  });
  homePage: () => Promise<Message | undefined> = async () => undefined;
  submitAnswer: () => Promise<SubmitAnswer> = async () => ({ kind: 'taken' });

  command(origin: Origin, words: string): Promise<Answer> {
    this.commands.push({ origin, words });
    return this.answer();
  }

  action(click: Click): Promise<Answer> {
    this.clicks.push(click);
    return this.answer();
  }

  alert(click: AlertClick): Promise<Answer> {
    this.alerts.push(click);
    return this.answer();
  }

  submit(submission: Submission): Promise<SubmitAnswer> {
    this.submissions.push(submission);
    return this.submitAnswer();
  }

  shortcut(shortcut: Shortcut): Promise<Answer> {
    this.shortcuts.push(shortcut);
    return this.answer();
  }

  search(query: SearchQuery): Promise<readonly Option[]> {
    this.searches.push(query);
    return this.options(query);
  }

  change(change: FormChange): Promise<Form | undefined> {
    this.changes.push(change);
    return this.changed(change);
  }

  invited(invitation: Actor): Promise<Welcome> {
    this.invitations.push(invitation);
    return this.welcome();
  }

  globalShortcut(use: GlobalShortcut): ReturnType<Inbox['globalShortcut']> {
    this.globalShortcuts.push(use);
    return this.anywhere();
  }

  home(visitor: Actor): Promise<Message | undefined> {
    this.visits.push(visitor);
    return this.homePage();
  }

  async refused(refused: RefusedAtDoor): Promise<void> {
    this.refusals.push(refused);
  }

  /** How often each method was called that takes something. */
  get taken(): Readonly<Record<Exclude<keyof Inbox, 'refused'>, number>> {
    const { commands, clicks, submissions, shortcuts, searches, changes } = this;
    const { invitations, visits, globalShortcuts, alerts } = this;
    return {
      command: commands.length,
      action: clicks.length,
      alert: alerts.length,
      submit: submissions.length,
      shortcut: shortcuts.length,
      search: searches.length,
      change: changes.length,
      invited: invitations.length,
      home: visits.length,
      globalShortcut: globalShortcuts.length,
    };
  }

  forget(): void {
    const { commands, clicks, submissions, shortcuts, searches, changes } = this;
    const { invitations, visits, globalShortcuts, refusals, alerts } = this;
    for (const list of [commands, clicks, submissions, shortcuts, searches, changes]) list.length = 0;
    for (const list of [invitations, visits, globalShortcuts, refusals, alerts]) list.length = 0;
  }
}

/** What `taken` says before anything was taken. */
export const NOBODY: FakeInbox['taken'] = {
  command: 0,
  action: 0,
  alert: 0,
  submit: 0,
  shortcut: 0,
  search: 0,
  change: 0,
  invited: 0,
  home: 0,
  globalShortcut: 0,
};

export const saying = (summary: string): Message => ({
  summary,
  tone: 'neutral',
  parts: [{ kind: 'paragraph', spans: [text(summary)] }],
});

export const NOTHING: Answer = { kind: 'nothing' };
export const says = (summary: string): Answer => ({ kind: 'message', message: saying(summary) });

export interface World {
  readonly metrics: ReturnType<typeof createMetrics>;
  readonly local: LocalSlack;
  readonly slack: Slack;
  readonly inbox: FakeInbox;
  readonly log: RecordingLog;
  stop(): Promise<void>;
}

/** The real adapter against a fresh local Slack. */
export async function startWorld(
  kind: 'http' | 'socket',
  options: LocalSlackOptions & Pick<SlackOptions, 'isNamed'> & { readonly clock?: Clock } = {},
): Promise<World> {
  const clock = options.clock ?? realClock;
  const local = await startLocalSlack({ ...options, now: () => clock.now() });
  const log = new RecordingLog();
  const inbox = new FakeInbox();
  const metrics = createMetrics({ clock, ofProcess: false });
  const transport =
    kind === 'http'
      ? ({ kind, signingSecret: local.signingSecret, port: 0 } as const)
      : ({ kind, appToken: local.appToken } as const);
  const slack = createSlack({
    botToken: local.botToken,
    transport,
    apiUrl: local.apiUrl,
    log,
    clock,
    metrics,
    ...defined({ isNamed: options.isNamed, command: options.command }),
  });
  try {
    await slack.start(inbox);
  } catch (thrown) {
    await slack.stop();
    await local.stop();
    throw thrown;
  }
  if (kind === 'http') local.requestUrl = `http://127.0.0.1:${slack.port()}/slack/events`;
  return {
    metrics,
    local,
    slack,
    inbox,
    log,
    async stop() {
      await slack.stop();
      await local.stop();
    },
  };
}
