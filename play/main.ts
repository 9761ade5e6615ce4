import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { type Answer, ask } from './app/conversation.ts';
import { Narrator } from './app/narrator.ts';
import { openStage, type Stage } from './app/stage.ts';

const USAGE = `npm run play                                   the main job, then type more commands
npm run play -- --once '/kdebug pod-1234'      one command; exits 0 when it was answered with a success, else 1
npm run play -- --kubeconfig FILE              on a cluster of your own instead of the local one
      --socket          Socket Mode instead of signed HTTP
      --user U0ROY      who types          --channel C0SHOP    where
      --verbose         the bot's own log on standard error`;

const MAIN_JOB = '/kdebug pod-1234 --image=autodiagnose';

const HELP = `Type a command as in Slack, for example
  /kdebug nginx-pod-1234 --image=autodiagnose
  /kdebug neato-5thn0 --image=debian --target=neato -- cat /proc/1/root/etc/resolv.conf
  /kdebug help
  as U0BOB /kdebug list          somebody else types it
  people · pods · quit`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      once: { type: 'string' },
      kubeconfig: { type: 'string' },
      user: { type: 'string', default: 'U0ROY' },
      channel: { type: 'string', default: 'C0SHOP' },
      socket: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const stage = await openStage({
    ...(values.kubeconfig !== undefined && { kubeconfig: readFileSync(values.kubeconfig, 'utf8') }),
    transport: values.socket ? 'socket' : 'http',
    ...(values.verbose && { logTo: (line: string) => process.stderr.write(line) }),
  });
  const narrator = new Narrator(stage.bed.slack, (paragraph) => console.log(`${paragraph}\n`));
  const player = new Player(stage, values.user, values.channel);
  try {
    if (values.once !== undefined) return (await player.type(values.once)) ? 0 : 1;
    console.log(`${stage.banner}\n`);
    await player.type(MAIN_JOB);
    console.log(`${HELP}\n`);
    await player.interact();
    return 0;
  } finally {
    narrator.close();
    await stage.close();
  }
}

/** A person at the keyboard. */
class Player {
  readonly #stage: Stage;
  #user: string;
  readonly #channel: string;

  constructor(stage: Stage, user: string, channel: string) {
    this.#stage = stage;
    this.#user = user;
    this.#channel = channel;
  }

  /** Sends one command; resolves with whether it came to a good end. */
  async type(line: string): Promise<boolean> {
    const { slack } = this.#stage.bed;
    const words = line.trim().replace(/^\/kdebug\b\s*/, '');
    console.log(
      `> ${slack.team.users[this.#user]?.real_name ?? this.#user} types in #${slack.team.channels[this.#channel]?.name ?? this.#channel}: /kdebug ${words}\n`,
    );
    const answer = await ask(slack, { user: this.#user, channel: this.#channel, words });
    return isSuccess(answer);
  }

  /** Takes commands from standard input until it ends or says quit. */
  async interact(): Promise<void> {
    for await (const line of createInterface({ input: process.stdin })) {
      const said = line.trim();
      if (said === 'quit' || said === 'exit') return;
      if (said !== '') await this.#obey(said).catch((error: unknown) => console.log(String(error)));
    }
  }

  async #obey(said: string): Promise<void> {
    const other = /^as\s+(\S+)\s+(\/kdebug\b.*)$/.exec(said);
    if (other?.[1] !== undefined && other[2] !== undefined) {
      const before = this.#user;
      this.#user = other[1];
      await this.type(other[2]).finally(() => {
        this.#user = before;
      });
    } else if (said.startsWith('/kdebug')) await this.type(said);
    else if (said === 'people')
      for (const { id, real_name } of Object.values(this.#stage.bed.slack.team.users))
        console.log(`${id}  ${real_name}`);
    else if (said === 'pods') console.log(this.#stage.pods());
    else console.log(HELP);
  }
}

/** A thread whose anchor says so, or a private answer that is not a refusal. */
const isSuccess = (answer: Answer): boolean =>
  answer.kind === 'thread' ? answer.anchor.includes('Succeeded') : !/Not started|Nothing was started/.test(answer.text);

process.exitCode = await main();
process.exit();
