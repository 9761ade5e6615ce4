import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, ask } from './app/conversation.ts';
import { JONAS, MAIN_JOB, ROY, THURSTON } from './app/examples.ts';
import { Narrator } from './app/narrator.ts';
import { openStage, type Stage } from './app/stage.ts';
import { type PlayOptions, readOptions, USAGE } from './options.ts';
import { type Bundle, buildBundle } from './page/server/bundle.ts';
import { type Page, startPage } from './page/server/page.ts';

const HELP = `Type a command as in Slack, for example
  ${ROY}
  ${JONAS}
  /kdebug help
  as U0BOB /kdebug list          somebody else types it
  as U0BOB click approve         presses that button of the newest card (approve, approve-grant, reject, cancel, end-grant)
  people · pods · quit`;

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if ('problem' in options) {
    console.error(`${options.problem}\n\n${USAGE}`);
    return 2;
  }
  if (!options.help) return play(options);
  console.log(USAGE);
  return 0;
}

async function play(values: PlayOptions): Promise<number> {
  const bundle = values['no-page'] || values.once !== undefined ? undefined : beginBundle();
  const stage = await openStage({
    ...(values.kubeconfig !== undefined && { kubeconfig: values.kubeconfig }),
    transport: values.socket ? 'socket' : 'http',
    ...(values.verbose && { logTo: (line: string) => process.stderr.write(line) }),
  });
  const narrator = new Narrator(stage.bed.slack, (paragraph) => console.log(`${paragraph}\n`));
  const player = new Player(stage, values.user, values.channel);
  let page: Page | undefined;
  try {
    if (values.once !== undefined) {
      await stage.begun();
      return (await player.type(values.once)) ? 0 : 1;
    }
    page = bundle && (await openPage(stage, bundle, values.port));
    const address = page ? `Open ${page.url} in a browser\n\n` : '';
    console.log(`${address}${stage.banner}\n`);
    await stage.begun();
    await tour(player, page, values.kubeconfig === undefined);
    // Once more, because the tour has moved it off the screen.
    console.log(`${HELP}\n\n${address}`.trimEnd());
    await serve(player, page);
    return 0;
  } finally {
    narrator.close();
    await page?.stop();
    await stage.close();
  }
}

/** esbuild works in a process of its own, so this goes on while the stage is built up. */
function beginBundle(): Promise<Bundle> {
  const bundle = buildBundle();
  // Told when it is awaited; until then it is no unhandled rejection.
  bundle.catch(() => undefined);
  return bundle;
}

const openPage = (stage: Stage, bundle: Promise<Bundle>, port?: string): Promise<Page> =>
  startPage({
    ...stage.bed,
    cluster: stage.cluster,
    examples: stage.examples,
    bundle,
    ...(port !== undefined && { port: Number(port) }),
  });

/** The main job, then an approval; stops once somebody has opened the page. */
async function tour(player: Player, page: Page | undefined, isLocal: boolean): Promise<void> {
  // A real cluster has other pods, and is asked nothing unbidden.
  if (!isLocal) return;
  const isTakenOver = () => page?.hasBeenWatched() ?? false;
  try {
    await player.type(MAIN_JOB);
    await pause(300);
    if (!isTakenOver()) await player.tellGovernance();
  } catch (error) {
    if (!isTakenOver()) throw error;
    console.log('The tour ends here: it goes on in your browser.\n');
  }
}

const LEFT_ALONE_SECONDS = 10;

/** Until the keyboard says quit. Without a keyboard (in a script), the page stays up while somebody has it open. */
async function serve(player: Player, page: Page | undefined): Promise<void> {
  const hasQuit = await player.interact();
  if (hasQuit || !page || process.stdin.isTTY) return;
  console.log(`There is no keyboard: this ends when nobody has had the page open for ${LEFT_ALONE_SECONDS} s.`);
  let seconds = 0;
  while (seconds < LEFT_ALONE_SECONDS) {
    await pause(1_000);
    seconds = page.watchers() > 0 ? 0 : seconds + 1;
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

  /** Presses a button of the newest card that has it. */
  async click(action: string): Promise<void> {
    const { slack } = this.#stage.bed;
    const card = slack
      .messages(this.#channel)
      .findLast(({ blocks }) => JSON.stringify(blocks).includes(`"action_id":"${action}"`));
    if (!card) throw new Error(`no card has the button ${action}`);
    console.log(`> ${slack.team.users[this.#user]?.real_name ?? this.#user} presses ${action}\n`);
    await slack.deliver.action({ user: this.#user, channel: this.#channel, ts: card.ts, actionId: action });
  }

  /** Thurston asks for more than anyone may have alone: one is refused privately, another approves, the result comes. */
  async tellGovernance(): Promise<void> {
    const { slack } = this.#stage.bed;
    const before = slack.messages(this.#channel).length;
    this.#user = 'U0THURSTON';
    const asked = this.type(THURSTON);
    const card = await slack.until(() => slack.messages(this.#channel)[before]);
    await pause(800);
    this.#user = 'U0GINGER';
    await this.click('approve');
    await slack.until(() => slack.ephemerals('U0GINGER')[0]);
    await pause(800);
    this.#user = 'U0BOB';
    await this.click('approve');
    await asked;
    await slack.until(() => slack.thread(this.#channel, card.ts).length > 0);
    await pause(300);
    this.#user = 'U0ROY';
  }

  /** Takes commands from standard input; true when it says quit, false when it ends. */
  async interact(): Promise<boolean> {
    for await (const line of createInterface({ input: process.stdin })) {
      const said = line.trim();
      if (said === 'quit' || said === 'exit') return true;
      if (said !== '') await this.#obey(said).catch((error: unknown) => console.log(String(error)));
    }
    return false;
  }

  async #obey(said: string): Promise<void> {
    const other = /^as\s+(\S+)\s+(.*)$/.exec(said);
    if (other?.[1] !== undefined && other[2] !== undefined) {
      const before = this.#user;
      this.#user = other[1];
      await this.#obey(other[2]).finally(() => {
        this.#user = before;
      });
    } else if (said.startsWith('click ')) await this.click(said.slice('click '.length).trim());
    else if (said.startsWith('/kdebug')) await this.type(said);
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
