import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { usageOf } from '../play/cluster/programs/workloads.ts';
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
}

/** The built program in a process of its own, and its files; the local Slack knows where it listens. */
export class RunningApp {
  /** From the start of the process to its own word that it is ready. */
  readonly readyMs: number;
  readonly #opsPort: number;
  readonly #child: ChildProcess;
  readonly #directory: string;

  constructor(child: ChildProcess, directory: string, ready: { readonly ms: number; readonly opsPort: number }) {
    this.#child = child;
    this.#directory = directory;
    this.readyMs = ready.ms;
    this.#opsPort = ready.opsPort;
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

  async stop(): Promise<void> {
    await ended(this.#child, 'SIGTERM');
    rmSync(this.#directory, { recursive: true, force: true });
  }
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
  process.once('exit', () => child.kill('SIGKILL'));
  try {
    const { port, opsPort } = await readiness(child);
    config.slack.requestUrl = `http://127.0.0.1:${port}/slack/events`;
    return new RunningApp(child, directory, { ms: performance.now() - startMs, opsPort });
  } catch (error) {
    await ended(child, 'SIGKILL');
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

/** As in `npm start`; `BENCH_NODE_FLAGS` adds others, `--cpu-prof` for instance. */
const nodeFlags = (): readonly string[] => [
  '--enable-source-maps',
  ...(process.env.BENCH_NODE_FLAGS ?? '').split(' ').filter((flag) => flag !== ''),
];

function envOf({ slack, kubeconfig, policy }: AppConfig, directory: string): NodeJS.ProcessEnv {
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
    KDEBUG_KEY: randomBytes(32).toString('base64'),
    KDEBUG_POLICY: policyPath,
    KUBECONFIG: kubeconfigPath,
  };
}

/** Reads the program's own log for ever, so that it never waits for us; resolves when it says that it is ready. */
function readiness(child: ChildProcess): Promise<{ readonly port: number; readonly opsPort: number }> {
  return new Promise((resolve, reject) => {
    const last: string[] = [];
    const fail = (why: string): void => reject(new Error(`${why}\n${last.join('\n')}`));
    const timer = setTimeout(() => fail(`not ready within ${READY_MS} ms`), READY_MS);
    child.once('exit', (code) => fail(`the application ended with ${code}`));
    if (!child.stdout) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      last.push(line);
      if (last.length > 10) last.shift();
      if (!line.includes('"ready"')) return;
      clearTimeout(timer);
      resolve(JSON.parse(line) as { port: number; opsPort: number });
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
