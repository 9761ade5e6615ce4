import { Agent, request } from 'undici';
import type { LocalCluster } from '../../cluster/index.ts';

export interface Reply {
  readonly status: number;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field, whatever their kind
  readonly json: any;
  /** The `Warning` headers, one each. */
  readonly warnings: readonly string[];
}

/** A plain HTTP client of a local cluster; `waitFor` polls nothing faster than the cluster changes. */
export class Client {
  readonly #cluster: LocalCluster;
  readonly #agent: Agent;
  #token: string;

  constructor(cluster: LocalCluster) {
    this.#cluster = cluster;
    this.#token = cluster.adminToken;
    this.#agent = new Agent({ connect: { ca: cluster.caPem } });
  }

  as(token: string): this {
    this.#token = token;
    return this;
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string | string[]> = {},
  ): Promise<Reply> {
    const answer = await request(`${this.#cluster.url}${path}`, {
      method: method as 'GET',
      dispatcher: this.#agent,
      headers: { ...(this.#token === '' ? {} : { authorization: `Bearer ${this.#token}` }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    const isJson = String(answer.headers['content-type']).includes('json') && !path.includes('watch=');
    const warnings = [answer.headers.warning ?? []].flat();
    return { status: answer.statusCode, text, json: isJson ? JSON.parse(text) : undefined, warnings };
  }

  get(path: string, headers: Record<string, string | string[]> = {}): Promise<Reply> {
    return this.call('GET', path, undefined, headers);
  }

  /** Adds ephemeral containers as a strategic merge. */
  launch(
    pod: string,
    containers: readonly object[],
    more: { metadata?: object; query?: string; namespace?: string } = {},
  ): Promise<Reply> {
    const path = `/api/v1/namespaces/${more.namespace ?? 'default'}/pods/${pod}/ephemeralcontainers?fieldManager=kdebug${more.query ?? ''}`;
    const body = { ...(more.metadata ? { metadata: more.metadata } : {}), spec: { ephemeralContainers: containers } };
    return this.call('PATCH', path, body, { 'content-type': 'application/strategic-merge-patch+json' });
  }

  log(pod: string, container: string, query = '', namespace = 'default'): Promise<Reply> {
    return this.get(`/api/v1/namespaces/${namespace}/pods/${pod}/log?container=${container}${query}`);
  }

  /** The body of a stream, chunk by chunk; end it by `abort`. */
  async stream(path: string, signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
    const answer = await request(`${this.#cluster.url}${path}`, {
      dispatcher: this.#agent,
      headers: { authorization: `Bearer ${this.#token}` },
      signal,
    });
    return answer.body;
  }

  /** The status of a container, once `isWanted` of it. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  async until(pod: string, container: string, isWanted: (status: any) => boolean, namespace = 'default'): Promise<any> {
    const version = (await this.get(`/api/v1/namespaces/${namespace}/pods?limit=1`)).json.metadata.resourceVersion;
    const found = statusOf((await this.get(`/api/v1/namespaces/${namespace}/pods/${pod}`)).json, container);
    if (found && isWanted(found)) return found;
    const stop = new AbortController();
    const path = `/api/v1/namespaces/${namespace}/pods?watch=true&fieldSelector=metadata.name=${pod}&resourceVersion=${version}`;
    try {
      for await (const event of lines(await this.stream(path, stop.signal))) {
        const status = statusOf(JSON.parse(event).object, container);
        if (status && isWanted(status)) return status;
      }
    } finally {
      stop.abort();
    }
    throw new Error('the watch ended');
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

export async function* lines(stream: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = '';
  try {
    for await (const chunk of stream) {
      const parts = (rest + chunk.toString()).split('\n');
      rest = parts.pop() ?? '';
      yield* parts;
    }
  } catch (thrown) {
    if (!(thrown instanceof Error) || thrown.name !== 'AbortError') throw thrown;
  }
  if (rest !== '') yield rest;
}

// biome-ignore lint/suspicious/noExplicitAny: as above
function statusOf(pod: any, container: string): any {
  const all = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.ephemeralContainerStatuses ?? [])];
  return all.find(({ name }) => name === container);
}

export const isTerminated = (status: { state: { terminated?: object } }): boolean =>
  status.state.terminated !== undefined;
