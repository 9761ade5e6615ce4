import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Args, isJson } from '../api/args.ts';
import type { Json } from '../state/message.ts';
import { type Fault, type FaultKind, isFaultKind } from './faults.ts';

/** An answer before it is written. */
export interface Answer {
  readonly status: number;
  readonly body: Json | string;
  readonly headers?: Readonly<Record<string, string>>;
}

const BODY_LIMIT = 8 * 1024 * 1024;

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > BODY_LIMIT) throw new Error('request body over 8 MiB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export const isJsonType = (contentType: string): boolean => contentType.startsWith('application/json');

/**
 * A form, or JSON. Never a token from the address: "Tokens may no longer be passed in the query string for apps created after Feb 24, 2021".
 * @returns undefined for JSON that is none (Slack: `invalid_json`)
 */
export function parseArgs(contentType: string, body: string, query: URLSearchParams): Args | undefined {
  if (!isJsonType(contentType)) {
    const { token: _inAddress, ...asked } = Object.fromEntries(query);
    return { ...asked, ...Object.fromEntries(new URLSearchParams(body)) };
  }
  try {
    const value: unknown = JSON.parse(body);
    return isJson(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function send(response: ServerResponse, answer: Answer): void {
  if (response.destroyed) return;
  const isText = typeof answer.body === 'string';
  const body = Buffer.from(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
  response.writeHead(answer.status, {
    'content-type': isText ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
    'content-length': String(body.length),
    ...answer.headers,
  });
  response.end(body);
}

/** What `serve` did with the request, for the log: 0 when nothing was answered. */
export type Outcome = Answer | { readonly status: 0; readonly body: string };

interface Work {
  /** The real answer; running it commits. */
  readonly run: () => Promise<Answer>;
  /** How this address says "no" with an error word. */
  readonly refuse: (error: string) => Answer;
}

const nothing = (why: string): Outcome => ({ status: 0, body: why });

/** Answers one request, through the fault that was queued for it. */
export async function answer(response: ServerResponse, fault: Fault | undefined, work: Work): Promise<Outcome> {
  if (fault === undefined) return sent(response, await work.run());
  const { kind } = fault;
  if (!isFaultKind(kind)) return sent(response, work.refuse(kind));
  if (kind === 'hang') return nothing(kind);
  if (kind === 'reset_before') return reset(response, kind);
  if (kind === 'ratelimited') return sent(response, rateLimited(fault.retryAfterSeconds ?? 1));
  if (kind.startsWith('http_')) return sent(response, { status: Number(kind.slice(5)), body: 'fault on request' });
  if (kind === 'slow') await sleep(fault.ms ?? 1000, undefined, { ref: false });
  return afterCommit(response, kind, await work.run());
}

function afterCommit(response: ServerResponse, kind: FaultKind, done: Answer): Outcome {
  if (kind === 'hang_after_commit') return nothing(kind);
  if (kind === 'reset_after_commit') return reset(response, kind);
  return sent(response, kind === 'truncated_json' ? half(done) : done);
}

function half(done: Answer): Answer {
  const whole = typeof done.body === 'string' ? done.body : JSON.stringify(done.body);
  const headers = { 'content-type': 'application/json; charset=utf-8', ...done.headers };
  return { status: done.status, body: whole.slice(0, Math.floor(whole.length / 2)), headers };
}

export function rateLimited(seconds: number): Answer {
  return { status: 429, body: { ok: false, error: 'ratelimited' }, headers: { 'retry-after': String(seconds) } };
}

function sent(response: ServerResponse, done: Answer): Answer {
  send(response, done);
  return done;
}

function reset(response: ServerResponse, why: string): Outcome {
  response.socket?.resetAndDestroy();
  return nothing(why);
}
