import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** The scripts of the test cluster. */
export const CLUSTER = join(ROOT, '../shared/cluster');
/** Where the test cluster has its sockets, logs and certificates. */
export const STATE = process.env.KDEBUG_CLUSTER_DIR ?? '/run/kdebug-cluster';
const TOOLS = process.env.KDEBUG_TOOLS ?? join(homedir(), '.cache/kdebug-tools');
const HELM = join(TOOLS, 'helm');

/** Whether `.ci/tools` has been run; without Helm its ways are skipped. */
export const hasHelm = existsSync(HELM);
if (!hasHelm) console.warn('skipped: no helm on this machine (.ci/tools installs it)');

export interface RunOptions {
  /** For its standard input. */
  readonly input?: string;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a program to its end. Returns what it wrote on standard output. @throws Error with all it wrote, unless it exits with 0 */
export async function run(program: string, words: readonly string[], options: RunOptions = {}): Promise<string> {
  const { input = '', cwd = ROOT, env } = options;
  const child = spawn(program, words, { cwd, env: { ...process.env, ...env }, stdio: 'pipe' });
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (piece: Buffer) => out.push(piece));
  child.stderr.on('data', (piece: Buffer) => err.push(piece));
  // A program that ends without reading is told apart by its exit code.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  const said = Buffer.concat(out).toString();
  if (code === 0) return said;
  throw new Error(`${program} ${words.join(' ')}: exit code ${code}\n${said}\n${Buffer.concat(err).toString()}`);
}

export const kubectl = (words: readonly string[], options?: RunOptions): Promise<string> =>
  run(join(CLUSTER, 'kubectl'), words, options);

export const helm = (words: readonly string[], options?: RunOptions): Promise<string> => run(HELM, words, options);

/** Sends a signal to the main process of a container, as its node's kernel would. `id`: as in the pod's status. */
export async function signalContainer(id: string, signal: NodeJS.Signals): Promise<void> {
  const bare = id.replace('containerd://', '');
  const tasks = await run('ctr', ['--address', join(STATE, 'containerd.sock'), '-n', 'k8s.io', 'tasks', 'list']);
  const line = tasks.split('\n').find((one) => one.startsWith(bare));
  const pid = Number(line?.split(/\s+/)[1]);
  if (!(pid > 1)) throw new Error(`containerd knows no process of ${id}`);
  process.kill(pid, signal);
}
