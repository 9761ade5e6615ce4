import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Json } from '../../../play/slack/state/message.ts';

/** What the other people of the channel do all the while: in a process of their own, so that only the bot can make them wait. */
export interface OthersPlan {
  readonly livezUrl: string;
  readonly eventsUrl: string;
  readonly signingSecret: string;
  /** A `/kdebug help` as Slack sends it. */
  readonly help: Json;
}

/** The longest waits since `begin`, a wait that goes on counted as far as it has come. */
export interface Waits {
  readonly livezMs: number;
  readonly helpMs: number;
  readonly asked: number;
  /** How often there was no answer at all, or not 200. */
  readonly unanswered: number;
}

const PROGRAM = fileURLToPath(new URL('others-main.ts', import.meta.url));

export class Others {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(plan: OthersPlan): Promise<Others> {
    const child = fork(PROGRAM, [JSON.stringify(plan)], { execArgv: ['--import', 'tsx'], stdio: 'inherit' });
    await once(child, 'message');
    return new Others(child);
  }

  async begin(): Promise<void> {
    await this.#ask('begin');
  }

  async end(): Promise<Waits> {
    return (await this.#ask('end')) as Waits;
  }

  stop(): void {
    this.#child.kill('SIGKILL');
  }

  async #ask(word: 'begin' | 'end'): Promise<unknown> {
    const answer = once(this.#child, 'message');
    this.#child.send(word);
    return (await answer)[0];
  }
}
