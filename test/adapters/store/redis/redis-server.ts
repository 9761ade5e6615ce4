import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

const PROGRAM = ['/usr/bin/redis-server', '/usr/local/bin/redis-server'].find((path) => existsSync(path));

/** Whether the tests of this folder can run; says so once when they cannot. */
export const hasRedis = PROGRAM !== undefined;
if (!hasRedis) console.warn('skipped: no redis-server on this machine (Debian: apt-get install redis-server)');

/** A real Redis of one test file, empty, without persistence. */
export class RedisServer {
  readonly port: number;
  readonly tlsPort: number;
  readonly #args: readonly string[];
  readonly #directory: string;
  #process: ChildProcess | undefined;

  private constructor(port: number, tlsPort: number, args: readonly string[]) {
    this.port = port;
    this.tlsPort = tlsPort;
    this.#args = args;
    this.#directory = mkdtempSync(join(tmpdir(), 'kdebug-redis-'));
  }

  /** `args`: further words of its command line; they win. */
  static async start(args: readonly string[] = [], tls = false): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), tls ? await freePort() : 0, args);
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const base = `--port ${this.port} --bind 127.0.0.1 --appendonly no --maxmemory-policy noeviction --dir ${this.#directory}`;
    const tls = this.tlsPort ? ['--tls-port', String(this.tlsPort), '--tls-auth-clients', 'no'] : [];
    this.#process = spawn(PROGRAM ?? '', [...base.split(' '), '--save', '', ...tls, ...this.#args], {
      stdio: 'ignore',
    });
    await until(() => accepts(this.port));
  }

  /** A client without any of the store's options. */
  client(): Redis {
    return new Redis(this.url);
  }

  freeze(): void {
    this.#process?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#process?.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    const process = this.#process;
    if (!process) return;
    this.#process = undefined;
    const gone = once(process, 'exit');
    process.kill('SIGKILL');
    await gone;
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** A condition that takes longer hangs. */
const HANGS_AFTER_MS = 120_000;

/** Asks again and again, without a pause of its own but a turn of the loop, until it is so. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  const endsAt = performance.now() + HANGS_AFTER_MS;
  while (!(await condition())) {
    if (performance.now() > endsAt) throw new Error('it never came to be');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address ? address.port : 0;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
