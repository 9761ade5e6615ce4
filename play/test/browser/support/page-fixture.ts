import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Deed, DeedAnswer, PageChange, Snapshot } from '../../../page/contract.ts';
import { buildBundle, documentOf } from '../../../page/server/bundle.ts';

const TOKEN = 'fixture';
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'";

/** A server of the page whose world the test writes: it says what the test says, and remembers the deeds. */
export class PageFixture {
  snapshot: Snapshot;
  readonly deeds: Deed[] = [];
  answer: (deed: Deed) => DeedAnswer = () => ({ ok: true });
  /** Bodies by path, of logs, files and requests; a log without one cannot be read. */
  texts: Readonly<Record<string, string>> = {};
  readonly #listeners = new Set<ServerResponse>();
  #server: Server | undefined;
  #port = 0;
  #bundle: { script: string; style: string } = { script: '', style: '' };

  constructor(snapshot: Snapshot) {
    this.snapshot = snapshot;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/?token=${TOKEN}`;
  }

  /** Again on the same port after a stop. */
  async start(): Promise<void> {
    if (this.#bundle.script === '') this.#bundle = await buildBundle();
    const server = createServer((request, response) => void this.#serve(request, response));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.#listeners.clear();
    const closed = new Promise((resolve) => this.#server?.close(resolve));
    this.#server?.closeAllConnections();
    await closed;
  }

  /** Another world for who comes next. */
  reset(snapshot: Snapshot): void {
    this.snapshot = snapshot;
    this.deeds.length = 0;
    this.answer = () => ({ ok: true });
    this.texts = {};
  }

  tell(...changes: PageChange[]): void {
    const words = changes.map((change) => `event: change\ndata: ${JSON.stringify(change)}\n\n`).join('');
    for (const listener of this.#listeners) listener.write(words);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://page');
    response.setHeader('content-security-policy', POLICY);
    const say = (type: string, body: string): void => {
      response.setHeader('content-type', `${type}; charset=utf-8`);
      response.end(body);
    };
    if (pathname === '/') return say('text/html', documentOf(TOKEN));
    if (pathname === '/app.js') return say('text/javascript', this.#bundle.script);
    if (pathname === '/app.css') return say('text/css', this.#bundle.style);
    const text = this.texts[pathname];
    if (text !== undefined && searchParams.has('picture')) return say('image/svg+xml', text);
    if (text !== undefined) return say(pathname.startsWith('/requests/') ? 'application/json' : 'text/plain', text);
    if (pathname.startsWith('/files/')) return say('text/plain', FILE_TEXT);
    if (pathname === '/deeds') return say('application/json', JSON.stringify(await this.#deed(request)));
    if (pathname !== '/events') {
      response.statusCode = 409;
      return say('text/plain', 'Not in this fixture.');
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`event: snapshot\ndata: ${JSON.stringify(this.snapshot)}\n\n`);
    this.#listeners.add(response);
    response.on('close', () => this.#listeners.delete(response));
  }

  async #deed(request: IncomingMessage): Promise<DeedAnswer> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const deed = JSON.parse(body) as Deed;
    this.deeds.push(deed);
    return this.answer(deed);
  }
}

const FILE_TEXT = Array.from({ length: 20 }, (_, index) => `line ${index + 1} <b>of</b> the file`).join('\n');
