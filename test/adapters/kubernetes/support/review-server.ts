import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whose right a review was about, and who sent it. */
interface Review {
  readonly path: string;
  readonly user: string;
  readonly groups: readonly string[];
  readonly slackUser: string;
  /** As a rule has it: `patch pods/ephemeralcontainers`. */
  readonly right: string;
  readonly namespace: string;
  readonly name: string;
}

export interface AllowRule {
  readonly user?: string;
  readonly group?: string;
  readonly rights: readonly string[];
  readonly names?: readonly string[];
}

export const ALL_RIGHTS = ['patch pods/ephemeralcontainers', 'get pods/log', 'get pods'];

/** An API server that knows access reviews alone. The bot is `bot`; everything stands in the namespace `shop`. */
export class ReviewServer {
  readonly #server: Server;
  readonly #directory = mkdtempSync(join(tmpdir(), 'kdebug-reviews-'));
  readonly kubeconfigPath = join(this.#directory, 'config');
  rules: readonly AllowRule[] = [];
  reviews: Review[] = [];
  /** What the next request gets instead of an answer: a status, or a broken connection. */
  fault: number | 'reset' | undefined;
  /** Refuses a request by the kind and name that a 403 would have in its details. */
  forbids: (review: Review) => { group?: string; kind: string; name?: string } | undefined = () => undefined;

  constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const server = `{ name: c, cluster: { server: "http://127.0.0.1:${port}", insecure-skip-tls-verify: true } }`;
    const context = '{ name: c, context: { cluster: c, user: bot } }';
    writeFileSync(
      this.kubeconfigPath,
      `clusters: [${server}]\nusers: [{ name: bot, user: { token: t } }]\ncontexts: [${context}]\ncurrent-context: c\n`,
    );
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    rmSync(this.#directory, { recursive: true });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const review = await readReview(request);
    this.reviews.push(review);
    const fault = this.fault;
    this.fault = undefined;
    if (fault === 'reset') return void request.socket.destroy();
    const details = this.forbids(review);
    const status = fault ?? (details ? 403 : 201);
    const body = status === 201 ? { status: { allowed: this.#allows(review) } } : { message: 'no', details };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  #allows({ user, groups, right, namespace, name }: Review): boolean {
    return this.rules.some(
      (rule) =>
        namespace === 'shop' &&
        (rule.user === user || (rule.group !== undefined && groups.includes(rule.group))) &&
        rule.rights.includes(right) &&
        (!rule.names || rule.names.includes(name)),
    );
  }
}

async function readReview(request: IncomingMessage): Promise<Review> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { spec } = JSON.parse(Buffer.concat(chunks).toString());
  const { verb, resource, subresource, namespace, name = '' } = spec.resourceAttributes;
  const { headersDistinct } = request;
  const impersonated = headersDistinct['impersonate-user']?.[0];
  const groups = [...(headersDistinct['impersonate-group'] ?? []), 'system:authenticated'];
  return {
    path: request.url?.split('/').at(-1) ?? '',
    user: spec.user ?? impersonated ?? 'bot',
    groups: spec.groups ?? groups,
    slackUser: headersDistinct['impersonate-extra-slack-user']?.[0] ?? '',
    right: `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`,
    namespace,
    name,
  };
}
