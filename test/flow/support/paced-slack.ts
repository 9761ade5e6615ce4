import { WebAPIRateLimitedError, type WebClient } from '@slack/web-api';
import { METHODS } from '../../../play/slack/api/methods.ts';
import { Rates } from '../../../play/slack/serve/rates.ts';
import { createThread } from '../../../src/adapters/slack/thread/thread.ts';
import type { Thread } from '../../../src/flow/ports/slack.ts';
import type { FakeClock } from '../../support/fake-clock.ts';

/** A post as Slack took it. */
interface Taken {
  readonly channel: string;
  readonly thread_ts?: string;
  readonly text: string;
  readonly atMs: number;
}

type Args = Readonly<Record<string, unknown>>;

/** The bot's own way to Slack with its lanes and paces, in front of a Slack that keeps the real limits, all on the clock of the test. */
export class PacedSlack {
  readonly posts: Taken[] = [];
  readonly edits: Taken[] = [];
  readonly thread: Thread;
  readonly #rates: Rates;
  readonly #clock: FakeClock;

  constructor(clock: FakeClock) {
    this.#clock = clock;
    this.#rates = new Rates({}, () => clock.now());
    const client = {
      chat: {
        postMessage: (args: Args) => this.#post(args),
        update: async (args: Args) => {
          this.edits.push(this.#taken('chat.update', args));
          return { ok: true };
        },
        getPermalink: async () => ({ ok: true, permalink: 'https://local.slack.com/archives/C0SHOP/p1' }),
      },
    };
    this.thread = createThread({
      client: client as unknown as WebClient,
      apiUrl: 'https://local.slack.com/api/',
      clock,
      log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
      through: {},
      ourselves: () => undefined,
    }).thread;
  }

  /** The messages of the channel itself. */
  get roots(): readonly Taken[] {
    return this.posts.filter(({ thread_ts }) => thread_ts === undefined);
  }

  async #post(args: Args): Promise<object> {
    const taken = this.#taken('chat.postMessage', args);
    this.posts.push(taken);
    const { channel, thread_ts } = taken;
    return { ok: true, channel, ts: `${this.posts.length}.0`, message: { thread_ts } };
  }

  #taken(name: string, args: Args): Taken {
    const wait = this.#rates.take(METHODS.get(name)!, args as never);
    if (wait !== undefined) throw new WebAPIRateLimitedError(wait);
    return { ...(args as unknown as Taken), atMs: this.#clock.now() };
  }
}
