import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { LocalSlack } from '../play/slack/index.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const READY_MS = 20_000;
const STOP_MS = 15_000;

/** `npm run build`: what is measured is what is shipped. */
export async function build(): Promise<void> {
  await promisify(execFile)(process.execPath, [...process.execArgv, 'scripts/build.ts'], { cwd: ROOT });
}

export interface AppConfig {
  readonly slack: LocalSlack;
  /** The text of each. */
  readonly kubeconfig: string;
  readonly policy: string;
  /** For several processes that share their runs. */
  readonly shared?: { readonly redisUrl: string; readonly key: string };
  /** The secret of the policy's source of alerts, in `ALERTS_SECRET`; absent: it has none. */
  readonly alertsSecret?: string;
}

/** One record of the program's own log, and when it was read (`performance.now()`). */
export interface Said {
  readonly message: string;
  readonly atMs: number;
}

/** The built program in a process of its own, and its files; the local Slack knows where it listens. */
export class RunningApp {
  /** From the start of the process to its own word that it is ready. */
  readonly readyMs: number;
  readonly url: string;
  readonly alertsUrl: string;
  /** What it has said so far, in order. */
  readonly said: readonly Said[];
  readonly #opsPort: number;
  readonly #child: ChildProcess;
  readonly #directory: string;

  constructor(child: ChildProcess, directory: string, ready: Ready & { readonly ms: number }) {
    this.#child = child;
    this.#directory = directory;
    this.readyMs = ready.ms;
    this.url = `http://127.0.0.1:${ready.port}/slack/events`;
    this.alertsUrl = `http://127.0.0.1:${ready.alertsPort}/alerts`;
    this.#opsPort = ready.opsPort;
    this.said = ready.said;
  }

  /** CPU time since the start; NaN where the kernel does not tell (other than Linux). Counted in ticks of 10 ms. */
  get cpuMs(): number {
    return (usageOf(this.#child.pid ?? 0)?.cpuMicros ?? Number.NaN) / 1000;
  }

  /** Resident memory in bytes; NaN like `cpuMs`. */
  get rssBytes(): number {
    return usageOf(this.#child.pid ?? 0)?.residentBytes ?? Number.NaN;
  }

  /** How many commands were answered so, from its own metrics. */
  async commands(result: string): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${this.#opsPort}/metrics`);
    const found = new RegExp(`^kdebug_commands_total\\{result="${result}"\\} (\\d+)`, 'm').exec(await answer.text());
    return Number(found?.[1] ?? 0);
  }

  /** SIGTERM; resolves with the exit code: null when it had to be killed. */
  async stop(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  /** `kill -9`. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    await ended(this.#child, signal);
    rmSync(this.#directory, { recursive: true, force: true });
    return this.#child.exitCode;
  }
}

interface Ready {
  readonly port: number;
  readonly opsPort: number;
  readonly alertsPort: number | undefined;
  readonly said: readonly Said[];
}

/** Starts `dist/main.js` as `npm start` does, configured by environment and files. @throws Error with its last words */
export async function startApp(config: AppConfig): Promise<RunningApp> {
  const directory = mkdtempSync(join(tmpdir(), 'kdebug-bench-'));
  const startMs = performance.now();
  const child = spawn(process.execPath, [...nodeFlags(), 'dist/main.js'], {
    cwd: ROOT,
    env: envOf(config, directory),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = (): boolean => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  try {
    const ready = await readiness(child);
    const app = new RunningApp(child, directory, { ...ready, ms: performance.now() - startMs });
    config.slack.requestUrl = app.url;
    return app;
  } catch (error) {
    await ended(child, 'SIGKILL');
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

/** As in `npm start`; `BENCH_NODE_FLAGS` adds others, `--cpu-prof` for instance. */
const nodeFlags = (): readonly string[] =>
  (process.env.BENCH_NODE_FLAGS ?? '').split(' ').filter((flag) => flag !== '');

function envOf({ slack, kubeconfig, policy, shared, alertsSecret }: AppConfig, directory: string): NodeJS.ProcessEnv {
  const policyPath = join(directory, 'policy.yaml');
  const kubeconfigPath = join(directory, 'kubeconfig');
  writeFileSync(policyPath, policy);
  writeFileSync(kubeconfigPath, kubeconfig, { mode: 0o600 });
  return {
    PATH: process.env.PATH,
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_SIGNING_SECRET: slack.signingSecret,
    SLACK_API_URL: slack.apiUrl,
    PORT: '0',
    OPS_PORT: '0',
    KDEBUG_KEY: shared?.key ?? newKey(),
    ...(shared && { REDIS_URL: shared.redisUrl }),
    ...(alertsSecret === undefined ? {} : { ALERTS_PORT: '0', ALERTS_SECRET: alertsSecret }),
    KDEBUG_POLICY: policyPath,
    KUBECONFIG: kubeconfigPath,
  };
}

export const newKey = (): string => randomBytes(32).toString('base64');

/** Reads the program's own log for ever, so that it never waits for us; resolves when it says that it is ready. */
function readiness(child: ChildProcess): Promise<Ready> {
  return new Promise((resolve, reject) => {
    const last: string[] = [];
    const said: Said[] = [];
    const fail = (why: string): void => reject(new Error(`${why}\n${last.join('\n')}`));
    const timer = setTimeout(() => fail(`not ready within ${READY_MS} ms`), READY_MS);
    child.once('exit', (code) => fail(`the application ended with ${code}`));
    if (!child.stdout) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      last.push(line);
      if (last.length > 10) last.shift();
      const { message, ...rest } = JSON.parse(line) as Said & Ready;
      said.push({ message, atMs: performance.now() });
      if (message !== 'ready') return;
      clearTimeout(timer);
      resolve({ port: rest.port, opsPort: rest.opsPort, alertsPort: rest.alertsPort, said });
    });
  });
}

async function ended(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  child.kill(signal);
  await exited;
  clearTimeout(timer);
}

/** What the kernel counts of a process: resident bytes, CPU time in microseconds. Linux only. */
function usageOf(pid: number): { residentBytes: number; cpuMicros: number } | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
      .map(Number);
    const [utime = 0, stime = 0] = fields.slice(11, 13);
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    return { residentBytes: pages * 4096, cpuMicros: (utime + stime) * 10_000 };
  } catch {
    return undefined;
  }
}
