import { request as httpRequest, type IncomingMessage } from 'node:http';
import { startPatientBed } from '../../../../test/support/patient-bed.ts';
import type { Bed } from '../../../app/bed.ts';
import { EXAMPLES } from '../../../app/examples.ts';
import { ALERT_SOURCE, playPolicy } from '../../../app/policy.ts';
import { type LocalCluster, openBackoffice, openShop, startLocalCluster } from '../../../cluster/index.ts';
import type { Deed, DeedAnswer, PageChange, Snapshot } from '../../../page/contract.ts';
import { type Page, startPage } from '../../../page/server/page.ts';

export const SHOP = 'C0SHOP';

export interface Asked {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** The real application on the local cluster, with its page and a browser's side of it. */
export interface PageBed {
  readonly bed: Bed;
  readonly cluster: LocalCluster;
  readonly page: Page;
  readonly token: string;
  readonly port: number;
  /** With the token, as our own page asks. */
  get(path: string): Promise<Response>;
  do(deed: Deed): Promise<DeedAnswer>;
  /** Types as Roy in the shop's channel unless said otherwise. @throws Error the page's sentence */
  type(text: string, more?: Partial<Extract<Deed, { kind: 'type' }>>): Promise<void>;
  snapshot(): Promise<Snapshot>;
  stream(): Promise<Stream>;
  /** Any request whatever, headers too. */
  raw(path: string, options?: { method?: string; headers?: Record<string, string>; body?: string }): Promise<Asked>;
  stop(): Promise<void>;
}

export async function openPage(): Promise<PageBed> {
  const cluster = await startLocalCluster({ kubeletDelayMs: 100 });
  openShop(cluster);
  openBackoffice(cluster);
  const bed = await startPatientBed({
    kubeconfig: cluster.kubeconfig,
    policy: playPolicy('local'),
    alerts: ALERT_SOURCE,
  });
  const page = await startPage({
    ...bed,
    cluster,
    examples: EXAMPLES,
    bundle: { script: 'export {};', style: 'body {}' },
  });
  const { port, searchParams } = new URL(page.url);
  const token = searchParams.get('token') ?? '';
  const origin = `http://127.0.0.1:${port}`;
  const get = (path: string): Promise<Response> => fetch(`${origin}${path}`, { headers: { 'x-play-token': token } });
  const act = async (deed: Deed): Promise<DeedAnswer> => {
    const headers = { 'content-type': 'application/json', 'x-play-token': token };
    const response = await fetch(`${origin}/deeds`, { method: 'POST', headers, body: JSON.stringify(deed) });
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    return (await response.json()) as DeedAnswer;
  };
  const stream = async () => Stream.of(await get('/events'));
  return {
    bed,
    cluster,
    page,
    token,
    port: Number(port),
    get,
    do: act,
    async type(text, more = {}) {
      const answer = await act({ kind: 'type', user: 'U0ROY', channel: SHOP, text, ...more });
      if (!answer.ok) throw new Error(answer.error);
    },
    async snapshot() {
      const opened = await stream();
      await opened.close();
      return opened.snapshot;
    },
    stream,
    raw: (path, options = {}) => rawRequest(Number(port), path, options),
    async stop() {
      await page.stop();
      await bed.stop();
      await cluster.stop();
    },
  };
}

function rawRequest(
  port: number,
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string },
): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest(
      { host: '127.0.0.1', port, path, method: options.method ?? 'GET', headers: options.headers },
      async (response) => {
        let text = '';
        for await (const chunk of response) text += String(chunk);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      },
    );
    asked.on('error', reject);
    asked.end(options.body);
  });
}

/** An open event stream, read as a browser reads it. */
export class Stream {
  readonly snapshot: Snapshot;
  readonly changes: PageChange[] = [];
  readonly #reader: Events;

  private constructor(reader: Events, snapshot: Snapshot) {
    this.#reader = reader;
    this.snapshot = snapshot;
  }

  static async of(response: Response): Promise<Stream> {
    if (response.body === null) throw new Error('no body');
    const reader = new Events(response.body.getReader());
    const first = await reader.next();
    if (first.event !== 'snapshot') throw new Error(`it began with ${first.event}`);
    return new Stream(reader, first.data as Snapshot);
  }

  /** The next change that fits; those before it are kept in `changes`. */
  async until<T extends PageChange>(fits: (change: PageChange) => change is T): Promise<T>;
  async until(fits: (change: PageChange) => boolean): Promise<PageChange>;
  async until(fits: (change: PageChange) => boolean): Promise<PageChange> {
    for (;;) {
      const { event, data } = await this.#reader.next();
      if (event !== 'change') throw new Error(`after the snapshot came ${event}`);
      const change = data as PageChange;
      this.changes.push(change);
      if (fits(change)) return change;
    }
  }

  close(): Promise<void> {
    return this.#reader.close();
  }
}

class Events {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = '';

  constructor(reader: ReadableStreamDefaultReader<Uint8Array>) {
    this.#reader = reader;
  }

  async next(): Promise<{ event: string; data: unknown }> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end >= 0) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        const found = /^event: (\w+)\ndata: ([^\n]*)$/.exec(block);
        if (found) return { event: found[1] ?? '', data: JSON.parse(found[2] ?? '') };
        continue;
      }
      const { value, done } = await this.#reader.read();
      if (done) throw new Error('the stream has ended');
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  close(): Promise<void> {
    return this.#reader.cancel();
  }
}
