import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { isJson } from '../api/args.ts';
import type { Json } from '../state/message.ts';
import type { SlackState } from '../state/state.ts';
import type { Faults } from './faults.ts';

const MAX_CONNECTIONS = 10;
const PING_MS = 5_000;
/** Undocumented: what Slack's own server was seen to take (revelrylabs/slax#614). */
const MAX_FRAME_BYTES = 20_480;
/** Interactions whose acknowledgement may carry an answer. */
const TAKES_PAYLOAD: ReadonlySet<string> = new Set(['view_submission', 'block_suggestion']);

export interface Envelope {
  readonly type: 'slash_commands' | 'interactive' | 'events_api';
  readonly payload: Json;
  /** A repeated delivery: events only, in Slack. */
  readonly retry?: { readonly attempt: number; readonly reason: string };
}

interface Waiting {
  readonly socket: WebSocket;
  readonly settle: (ack: Acknowledgement | undefined) => void;
}

export interface Acknowledgement {
  /** Absent on an acknowledgement that is an envelope's id alone. An empty object is content. */
  readonly payload?: Json;
}

/**
 * Socket Mode: one-time addresses, `hello`, envelopes to any one of at most ten connections (in turn), acknowledgements.
 * A connection that is lost takes its unacknowledged envelopes with it.
 */
export class Sockets {
  private readonly server = new WebSocketServer({ noServer: true });
  private readonly open: WebSocket[] = [];
  private readonly waiting = new Map<string, Waiting>();
  private readonly tickets = new Set<string>();
  private readonly slack: SlackState;
  private readonly faults: Faults;
  private readonly pings: NodeJS.Timeout;
  private turn = 0;
  private admitted = 0;
  /** Stops the server's pings, for the "half-open" case: clients drop the connection after 30 s. */
  pinging = true;
  /** Socket Mode is off in the app's settings: every new connection is ended with `link_disabled` instead of `hello`. */
  switchedOff = false;

  constructor(slack: SlackState, faults: Faults) {
    this.slack = slack;
    this.faults = faults;
    this.pings = setInterval(() => {
      if (this.pinging) for (const socket of this.open) socket.ping();
    }, PING_MS);
    this.pings.unref();
  }

  get count(): number {
    return this.open.length;
  }

  /** All connections that were ever let in. */
  get opened(): number {
    return this.admitted;
  }

  /** @returns the path and query of a one-time address */
  ticket(): string {
    const ticket = randomBytes(12).toString('hex');
    this.tickets.add(ticket);
    return `/link/?ticket=${ticket}&app_id=${this.slack.app.appId}`;
  }

  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    const fault = this.faults.take('socket', false);
    if (fault?.kind === 'hang') return;
    if (fault !== undefined && !fault.kind.startsWith('http_')) return void stream.destroy();
    const ticket = new URL(request.url ?? '/', 'http://local').searchParams.get('ticket') ?? '';
    const status = fault === undefined ? undefined : fault.kind.slice('http_'.length);
    if (status !== undefined || !this.tickets.delete(ticket)) {
      stream.end(`HTTP/1.1 ${status ?? 403} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    this.server.handleUpgrade(request, stream, head, (socket) => this.admit(socket));
  }

  /** Sends to the next connection in turn. Resolves with the acknowledgement, or undefined after `limitMs` or a lost connection. */
  async deliver(envelope: Envelope, limitMs: number): Promise<Acknowledgement | undefined> {
    // Not to one that is being closed.
    const usable = this.open.filter(({ readyState, OPEN }) => readyState === OPEN);
    const socket = usable[this.turn % Math.max(1, usable.length)];
    this.turn += 1;
    if (socket === undefined) return undefined;
    const id = randomUUID();
    return new Promise((resolve) => {
      const timer = setTimeout(() => settle(undefined), limitMs);
      const settle = (ack: Acknowledgement | undefined): void => {
        clearTimeout(timer);
        this.waiting.delete(id);
        resolve(ack);
      };
      this.waiting.set(id, { socket, settle });
      socket.send(JSON.stringify(this.frame(id, envelope)));
    });
  }

  /** Sends any text over the first connection, envelope or not; nothing is waited for. */
  sendRaw(text: string): void {
    this.open[0]?.send(text);
  }

  /** Slack's recycling: a `warning` first, then (after `delayMs`) `refresh_requested` and the close. All connections, or the one at `index`. */
  async refresh(delayMs = 0, index?: number): Promise<void> {
    const chosen = this.chosen(index);
    for (const socket of chosen) this.goodbye(socket, 'warning');
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    for (const socket of chosen) this.goodbye(socket, 'refresh_requested', true);
  }

  /** Only the announcement: the connection at `index` is to be replaced. */
  warn(index: number): void {
    for (const socket of this.chosen(index)) this.goodbye(socket, 'warning');
  }

  /** Socket Mode was switched off for the app. */
  disableLink(): void {
    for (const socket of this.chosen()) this.goodbye(socket, 'link_disabled', true);
  }

  /** Cuts the TCP connection without a word. */
  kill(index?: number): void {
    for (const socket of this.chosen(index)) socket.terminate();
  }

  /** Ends connections with a close code and a reason. */
  end(code: number, reason: string, index?: number): void {
    for (const socket of this.chosen(index)) socket.close(code, reason);
  }

  /** The network swallows what the app says on a connection, its pings and acknowledgements too. The returned function ends it. */
  freeze(index?: number): () => void {
    const chosen = this.chosen(index);
    for (const socket of chosen) socket.pause();
    return () => {
      for (const socket of chosen) socket.resume();
    };
  }

  stop(): void {
    clearInterval(this.pings);
    this.kill();
    for (const { settle } of [...this.waiting.values()]) settle(undefined);
    this.server.close();
  }

  private chosen(index?: number): WebSocket[] {
    return index === undefined ? [...this.open] : this.open.slice(index, index + 1);
  }

  private frame(id: string, { type, payload, retry }: Envelope): Json {
    const again = retry === undefined ? {} : { retry_attempt: retry.attempt, retry_reason: retry.reason };
    const takesPayload = type === 'slash_commands' || TAKES_PAYLOAD.has(String(payload.type));
    return { envelope_id: id, type, accepts_response_payload: takesPayload, payload, ...again };
  }

  private goodbye(socket: WebSocket, reason: string, close = false): void {
    socket.send(JSON.stringify({ type: 'disconnect', reason, debug_info: { host: 'local' } }));
    if (close) socket.close(1000);
  }

  private admit(socket: WebSocket): void {
    if (this.switchedOff) {
      this.goodbye(socket, 'link_disabled', true);
      return;
    }
    if (this.open.length >= MAX_CONNECTIONS) {
      this.goodbye(socket, 'too_many_websockets', true);
      return;
    }
    this.open.push(socket);
    this.admitted += 1;
    socket.on('message', (data) => {
      const text = String(data);
      if (Buffer.byteLength(text) <= MAX_FRAME_BYTES) this.acknowledged(text);
      else socket.close(1009, `Max frame length of ${MAX_FRAME_BYTES} has been exceeded.`);
    });
    socket.on('error', () => socket.terminate());
    socket.on('close', () => this.gone(socket));
    const debug_info = { host: 'local', build_number: 1, approximate_connection_time: 18_060 };
    const hello = { type: 'hello', num_connections: this.open.length, debug_info };
    socket.send(JSON.stringify({ ...hello, connection_info: { app_id: this.slack.app.appId } }));
    this.slack.tell({ kind: 'socket', open: this.open.length });
  }

  private gone(socket: WebSocket): void {
    this.open.splice(this.open.indexOf(socket), 1);
    for (const entry of [...this.waiting.values()]) if (entry.socket === socket) entry.settle(undefined);
    this.slack.tell({ kind: 'socket', open: this.open.length });
  }

  private acknowledged(text: string): void {
    const ack: unknown = JSON.parse(text);
    if (!isJson(ack) || typeof ack.envelope_id !== 'string') return;
    this.waiting.get(ack.envelope_id)?.settle(isJson(ack.payload) ? { payload: ack.payload } : {});
  }
}
