import { execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';

/** Of the kubectl on the path; undefined: there is none. */
export const kubectlVersion: string | undefined = versionOfKubectl();

export interface Reply {
  readonly status: number;
  readonly text: string;
  readonly warnings: readonly string[];
}

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Something that goes on: what it has said so far, and its end. */
export interface Running {
  text(): string;
  isOver(): boolean;
  stop(): Promise<Said>;
}

/** A cluster named by a kubeconfig, reached in the same two ways whichever it is: kubectl and plain requests. */
export class Target {
  readonly #config = new KubeConfig();
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #home = mkdtempSync(join(tmpdir(), 'kdebug-recorded-'));

  constructor(kubeconfig: string) {
    this.#config.loadFromFile(kubeconfig);
    this.#env = { PATH: process.env.PATH, HOME: this.#home, KUBECONFIG: kubeconfig };
  }

  close(): void {
    rmSync(this.#home, { recursive: true, force: true });
  }

  async api(method: string, path: string, body?: string, type = 'application/json'): Promise<Reply> {
    const answer = await this.#send(method, path, body, type);
    let text = '';
    for await (const chunk of answer) text += String(chunk);
    return { status: answer.statusCode ?? 0, text, warnings: warningsOf(answer) };
  }

  /** The lines of a stream (a watch) as they come, until it ends, the caller stops reading, or `signal` aborts. */
  async *lines(path: string, signal: AbortSignal): AsyncGenerator<string> {
    const answer = await this.#send('GET', path);
    const end = () => answer.destroy();
    signal.addEventListener('abort', end);
    let rest = '';
    try {
      for await (const chunk of answer) {
        const parts = (rest + String(chunk)).split('\n');
        rest = parts.pop() ?? '';
        yield* parts;
      }
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
    } finally {
      end();
    }
  }

  kubectl(words: readonly string[], stdin = ''): Promise<Said> {
    return new Promise((resolve) => {
      const child = execFile('kubectl', [...words], { env: this.#env, timeout: 60_000 }, (error, out, err) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, err });
      });
      child.stdin?.end(stdin);
    });
  }

  start(words: readonly string[]): Running {
    const child = spawn('kubectl', [...words], { env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk) => {
      out += String(chunk);
    });
    child.stderr.on('data', (chunk) => {
      err += String(chunk);
    });
    const ended = new Promise<Said>((resolve) =>
      child.on('close', () => resolve({ code: child.exitCode ?? 0, out, err })),
    );
    return {
      text: () => out,
      isOver: () => child.exitCode !== null,
      stop: () => {
        if (child.exitCode === null) child.kill('SIGTERM');
        return ended;
      },
    };
  }

  async #send(method: string, path: string, body?: string, type?: string): Promise<IncomingMessage> {
    const options: RequestOptions = { method, headers: { accept: 'application/json' } };
    await this.#config.applyToHTTPSOptions(options);
    if (body !== undefined) options.headers = { ...options.headers, 'content-type': type };
    const url = new URL((this.#config.getCurrentCluster()?.server ?? '') + path);
    const open = url.protocol === 'http:' ? httpRequest : request;
    return new Promise((resolve, reject) => {
      const sent = open(url, options, resolve);
      sent.on('error', reject);
      sent.end(body);
    });
  }
}

function warningsOf({ headers }: IncomingMessage): readonly string[] {
  const { warning } = headers;
  return warning === undefined ? [] : [warning];
}

function versionOfKubectl(): string | undefined {
  const { status, stdout } = spawnSync('kubectl', ['version', '--client', '-o', 'json'], { encoding: 'utf8' });
  if (status !== 0) return undefined;
  return /"gitVersion": "(v\d+\.\d+)/.exec(stdout)?.[1];
}
