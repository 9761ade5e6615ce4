import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import {
  createServer as createHttp,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttps } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  /** Every header line by itself: a repeated header stays apart. */
  readonly headerLines: NodeJS.Dict<string[]>;
  readonly body: unknown;
}

/** What is done with one request; `response` is the server's own. */
export type Answer = (request: SeenRequest, response: ServerResponse) => void;

/** An API server that answers each request by the next answer of its script, and fails a test that asks for more. */
export class ScriptedApiServer {
  readonly requests: SeenRequest[] = [];
  readonly unexpected: string[] = [];
  readonly #script: { readonly match: RegExp; readonly answer: Answer; readonly isLasting: boolean }[] = [];
  readonly #server: Server;
  readonly #directory = mkdtempSync(join(tmpdir(), 'kdebug-api-'));
  readonly #scheme: 'http' | 'https';

  constructor(tls?: { readonly key: string; readonly cert: string }) {
    const listener = (request: IncomingMessage, response: ServerResponse) => void this.#answer(request, response);
    this.#server = tls ? createHttps(tls, listener) : createHttp(listener);
    this.#scheme = tls ? 'https' : 'http';
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    rmSync(this.#directory, { recursive: true });
  }

  get url(): string {
    const address = this.#server.address();
    return `${this.#scheme}://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  }

  file(name: string, content: string): string {
    const path = join(this.#directory, name);
    writeFileSync(path, content);
    return path;
  }

  /** Writes a kubeconfig for this server; `user` and `cluster` in YAML flow style. */
  kubeconfig(user = '{ token: secret }', cluster = 'insecure-skip-tls-verify: true'): string {
    return this.file(
      'config',
      `clusters: [{ name: c, cluster: { server: "${this.url}", ${cluster} } }]
users: [{ name: bot, user: ${user} }]
contexts: [{ name: c, context: { cluster: c, user: bot } }]
current-context: c
`,
    );
  }

  /** The next request whose "METHOD /path" matches gets this answer. */
  once(match: RegExp, answer: Answer): void {
    this.#script.push({ match, answer, isLasting: false });
  }

  /** Every request that matches and has no answer of its own gets this one. */
  always(match: RegExp, answer: Answer): void {
    this.#script.push({ match, answer, isLasting: true });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const seen = await readRequest(request);
    this.requests.push(seen);
    const line = `${seen.method} ${seen.path}`;
    const fitting = this.#script.filter(({ match }) => match.test(line));
    const chosen = fitting.find(({ isLasting }) => !isLasting) ?? fitting[0];
    if (!chosen) {
      this.unexpected.push(line);
      response.writeHead(599).end();
      return;
    }
    if (!chosen.isLasting) this.#script.splice(this.#script.indexOf(chosen), 1);
    chosen.answer(seen, response);
  }
}

async function readRequest(request: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const url = new URL(request.url ?? '', 'http://server');
  const text = Buffer.concat(chunks).toString();
  return {
    method: request.method ?? '',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: request.headers,
    headerLines: request.headersDistinct,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

/** An answer with a JSON body. */
export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };

/** A meta/v1 Status, as the API server sends it for a refusal. */
export const refusal = (code: number, reason: string, details: unknown = { name: 'web', kind: 'pods' }): Answer =>
  json(code, { kind: 'Status', status: 'Failure', message: `because of ${reason}`, reason, details, code });

/** The connection breaks before there is an answer. */
export const reset: Answer = (_request, response) => {
  response.socket?.destroy();
};

/** A pod in the API's own JSON. */
export const rawPod = (
  name: string,
  more: { uid?: string; version?: string; spec?: object; labels?: object; status?: object } = {},
) => ({
  metadata: {
    name,
    namespace: 'shop',
    uid: more.uid ?? `uid-${name}`,
    resourceVersion: more.version ?? '1',
    labels: more.labels ?? {},
  },
  spec: { containers: [{ name: 'app', image: 'app:1' }], ...more.spec },
  status: { phase: 'Running', ...more.status },
});
