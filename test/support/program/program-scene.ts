import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tagOf } from '../../../play/app/our-posts.ts';
import {
  describeMessage,
  type LocalSlack,
  type LocalSlackOptions,
  type StoredMessage,
  startLocalSlack,
} from '../../../play/slack/index.ts';
import { RedisServer } from '../../adapters/store/redis/redis-server.ts';
import { waitLonger } from '../patient-bed.ts';
import { BotProcess } from './bot-process.ts';
import type { BuiltProgram } from './built-program.ts';

export const CHANNEL = 'C0SHOP';

export interface ProgramSceneOptions {
  readonly program: BuiltProgram;
  readonly kubeconfig: string;
  readonly policy: string;
  readonly transport?: 'http' | 'socket';
  /** Default: a Redis of the scene's own. */
  readonly store?: 'redis' | 'memory';
  readonly slack?: LocalSlackOptions;
  /** Further variables of the bot's environment; they win. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Real processes of the built program, any number of them, between a local Slack, a real Redis and a cluster. */
export class ProgramScene {
  readonly slack: LocalSlack;
  readonly redis: RedisServer | undefined;
  readonly bots: BotProcess[] = [];
  readonly #options: ProgramSceneOptions;
  readonly #directory = mkdtempSync(join(tmpdir(), 'kdebug-program-'));
  readonly #key = randomBytes(32).toString('base64');

  private constructor(options: ProgramSceneOptions, slack: LocalSlack, redis: RedisServer | undefined) {
    this.#options = options;
    this.slack = slack;
    this.redis = redis;
    this.writePolicy(options.policy);
    writeFileSync(join(this.#directory, 'kubeconfig'), options.kubeconfig, { mode: 0o600 });
  }

  /** For all processes; they read it again within two seconds. */
  writePolicy(text: string): void {
    writeFileSync(join(this.#directory, 'policy.yaml'), text);
  }

  static async open(options: ProgramSceneOptions): Promise<ProgramScene> {
    const [slack, redis] = await Promise.all([
      startLocalSlack(options.slack),
      options.store === 'memory' ? undefined : RedisServer.start(),
    ]);
    waitLonger(slack);
    return new ProgramScene(options, slack, redis);
  }

  /** Starts one more process. Over HTTP, Slack sends to the first that was started, until told otherwise (`sendTo`). */
  async boot(): Promise<BotProcess> {
    const { slack } = this;
    const socket = this.#options.transport === 'socket';
    const bot = await BotProcess.start(this.#options.program.main, {
      SLACK_BOT_TOKEN: slack.botToken,
      ...(socket ? { SLACK_APP_TOKEN: slack.appToken } : { SLACK_SIGNING_SECRET: slack.signingSecret }),
      SLACK_API_URL: slack.apiUrl,
      PORT: '0',
      OPS_PORT: '0',
      KDEBUG_KEY: this.#key,
      KDEBUG_POLICY: join(this.#directory, 'policy.yaml'),
      KUBECONFIG: join(this.#directory, 'kubeconfig'),
      ...(this.redis && { REDIS_URL: this.redis.url }),
      ...this.#options.env,
    });
    this.bots.push(bot);
    slack.requestUrl ??= bot.url;
    return bot;
  }

  sendTo(bot: BotProcess): void {
    this.slack.requestUrl = bot.url;
  }

  type(words: string, channel = CHANNEL) {
    return this.slack.deliver.command({ user: 'U0ROY', channel, text: words });
  }

  press(user: string, actionId: string, ts: string) {
    return this.slack.deliver.action({ user, channel: CHANNEL, ts, actionId });
  }

  /** Posts of ours, in all channels and threads. */
  posts(kind: 'anchor' | 'result'): readonly StoredMessage[] {
    const all = [...this.slack.state.messages.values()].flatMap((channel) => [...channel.values()]);
    return all.filter((message) => tagOf(this.slack.state, message)?.kind === kind);
  }

  textOf(message: StoredMessage | undefined): string {
    return message ? describeMessage(this.slack.state, message, { times: false }).join('\n') : '';
  }

  async close(): Promise<void> {
    await Promise.all(this.bots.map((bot) => bot.kill()));
    await Promise.all([this.slack.stop(), this.redis?.stop()]);
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
