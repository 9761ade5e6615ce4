import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** One record of the program's own log. */
export interface LogLine {
  readonly message: string;
  /** When this process read it, on its monotonic clock. */
  readonly seenAtMs: number;
  readonly [field: string]: unknown;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const READY_MS = 30_000;

/** The built program in a process of its own, as `npm start` starts it. */
export class BotProcess {
  readonly log: LogLine[] = [];
  readonly exited: Promise<Exit>;
  /** Whatever it wrote on standard error: must stay empty. */
  errors = '';
  readonly #child: ChildProcess;
  readonly #waiting = new Set<() => void>();

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }) as Exit);
    void this.exited.then(() => this.#look());
    child.stderr?.on('data', (piece: Buffer) => {
      this.errors += piece.toString();
    });
    if (child.stdout) createInterface({ input: child.stdout }).on('line', (line) => this.#read(line));
  }

  /** Resolves when it says that it is ready. @throws Error with its log when it ends before, or takes too long */
  static async start(main: string, env: NodeJS.ProcessEnv): Promise<BotProcess> {
    const child = spawn(process.execPath, [main], {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const kill = (): boolean => child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.off('exit', kill));
    const bot = new BotProcess(child);
    await bot.says('ready', READY_MS);
    return bot;
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Where Slack's requests go; undefined in Socket Mode. */
  get url(): string | undefined {
    const port = this.#ready.port;
    return typeof port === 'number' ? `http://127.0.0.1:${port}/slack/events` : undefined;
  }

  /** With `ALERTS_PORT`. */
  get alertsUrl(): string {
    return `http://127.0.0.1:${String(this.#ready.alertsPort)}`;
  }

  get opsUrl(): string {
    return `http://127.0.0.1:${String(this.#ready.opsPort)}`;
  }

  /** The answer of `/readyz`; 0 when nobody listens any more. */
  async readiness(): Promise<{ readonly status: number; readonly body: string }> {
    try {
      const answer = await fetch(`${this.opsUrl}/readyz`);
      return { status: answer.status, body: await answer.text() };
    } catch {
      return { status: 0, body: '' };
    }
  }

  /** The first line of its log with that message. @throws Error when it ends before, or after `withinMs` */
  says(message: string, withinMs = 20_000): Promise<LogLine> {
    return new Promise((resolve, reject) => {
      const settle = (act: () => void): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        act();
      };
      const last = (): string => JSON.stringify(this.log.slice(-10), undefined, 1);
      const look = (): void => {
        const line = this.log.find((one) => one.message === message);
        if (line) settle(() => resolve(line));
        else if (!this.isAlive)
          settle(() => reject(new Error(`it ended without saying "${message}": ${last()} ${this.errors}`)));
      };
      const timer = setTimeout(
        () => settle(() => reject(new Error(`it did not say "${message}" within ${withinMs} ms: ${last()}`))),
        withinMs,
      );
      this.#waiting.add(look);
      look();
    });
  }

  signal(name: 'SIGTERM' | 'SIGINT' | 'SIGUSR2'): void {
    this.#child.kill(name);
  }

  /** `kill -9`; resolves when the process is no more. */
  async kill(): Promise<void> {
    if (this.isAlive) this.#child.kill('SIGKILL');
    await this.exited;
  }

  /** SIGTERM, and how it ended. */
  async stop(): Promise<Exit> {
    if (this.isAlive) this.signal('SIGTERM');
    return this.exited;
  }

  get #ready(): Partial<LogLine> {
    return this.log.find(({ message }) => message === 'ready') ?? {};
  }

  #read(text: string): void {
    const line = JSON.parse(text) as Omit<LogLine, 'seenAtMs'>;
    this.log.push({ ...line, message: String(line.message), seenAtMs: performance.now() });
    this.#look();
  }

  #look(): void {
    for (const look of [...this.#waiting]) look();
  }
}
