import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';

const PROGRAM = ['/usr/bin/redis-server', '/usr/local/bin/redis-server'].find((path) => existsSync(path));
const START_LIMIT_MS = 10_000;

export const hasRedis = PROGRAM !== undefined;

/** A real Redis of one bench row, empty, without persistence. */
export interface RedisServer {
  readonly url: string;
  /** `FLUSHALL`. */
  empty(): Promise<void>;
  stop(): Promise<void>;
}

export async function startRedis(): Promise<RedisServer> {
  if (PROGRAM === undefined) throw new Error('there is no redis-server on this machine');
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'kdebug-redis-'));
  const words = `--port ${port} --bind 127.0.0.1 --appendonly no --maxmemory-policy noeviction --dir ${directory}`;
  const server = spawn(PROGRAM, [...words.split(' '), '--save', ''], { stdio: 'ignore' });
  const kill = (): boolean => server.kill('SIGKILL');
  process.once('exit', kill);
  server.once('exit', () => process.off('exit', kill));
  const untilMs = performance.now() + START_LIMIT_MS;
  while (!(await accepts(port))) {
    if (performance.now() > untilMs) throw new Error('redis-server did not start');
    await pause(10);
  }
  const url = `redis://127.0.0.1:${port}`;
  return {
    url,
    empty: async () => {
      const client = new Redis(url);
      await client.flushall();
      client.disconnect();
    },
    stop: async () => {
      const gone = once(server, 'exit');
      server.kill('SIGKILL');
      await gone;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address ? address.port : 0;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket
      .once('connect', () => {
        socket.destroy();
        resolve(true);
      })
      .once('error', () => resolve(false));
  });
}
