import type { Exchange, LocalCluster } from '../../cluster/index.ts';
import type { CallWatcher, LocalSlack, LoggedCall } from '../../slack/index.ts';
import type { PageChange, RequestDetail, RequestLine } from '../contract.ts';

const KEPT_LINES = 500;
/** Of each body, as JSON text. */
const KEPT_CHARACTERS = 64 * 1024;
/** Every request of the bot names itself so (design, section 3). */
const BOT_AGENT = /^kdebug\//;
/** Arguments that Slack's clients send as JSON within a string. */
const JSON_ARGUMENTS = new Set(['blocks', 'attachments', 'metadata', 'view', 'files']);

/**
 * The bot's newest 500 requests to Slack and to the local cluster, with at most 64 KiB of each body. Tokens are in
 * neither: headers are not kept, and what hands one out is blanked.
 */
export class RequestBook {
  readonly #details = new Map<string, RequestDetail>();
  readonly #ids = new WeakMap<Exchange, { readonly id: string; readonly atMs: number }>();
  readonly #tell: (change: PageChange) => void;
  readonly #undo: (() => void)[] = [];
  #count = 0;

  constructor(slack: LocalSlack, cluster: LocalCluster | undefined, tell: (change: PageChange) => void) {
    this.#tell = tell;
    this.#undo.push(slack.watchRequests((call, answer) => this.#note(detailOf(this.#nextId(), call, answer))));
    if (cluster) this.#undo.push(cluster.requests.watch((exchange) => this.#noteExchange(exchange)));
  }

  /** Newest last. */
  lines(): readonly RequestLine[] {
    return [...this.#details.values()].map(lineOf);
  }

  detail(id: string): RequestDetail | undefined {
    return this.#details.get(id);
  }

  close(): void {
    for (const undo of this.#undo) undo();
  }

  #nextId(): string {
    this.#count += 1;
    return `R${this.#count}`;
  }

  #noteExchange(exchange: Exchange): void {
    if (!BOT_AGENT.test(exchange.record.userAgent)) return;
    const known = this.#ids.get(exchange);
    if (known !== undefined && !this.#details.has(known.id)) return;
    const line = known ?? { id: this.#nextId(), atMs: Date.now() };
    this.#ids.set(exchange, line);
    this.#note(exchangeDetail(line, exchange));
  }

  #note(detail: RequestDetail): void {
    this.#details.set(detail.id, detail);
    const oldest = this.#details.keys().next();
    if (this.#details.size > KEPT_LINES && !oldest.done) this.#details.delete(oldest.value);
    this.#tell({ kind: 'request', request: lineOf(detail) });
  }
}

const lineOf = ({ request: _request, response: _response, ...line }: RequestDetail): RequestLine => line;

function detailOf(id: string, call: LoggedCall, answer: Parameters<CallWatcher>[1]): RequestDetail {
  const { method, args, atMs, status } = call;
  const isRefusal = status !== 200 && typeof answer === 'string';
  const error = call.error ?? (isRefusal ? answer : undefined);
  const unpacked = Object.entries(args).map(([name, value]) => [name, JSON_ARGUMENTS.has(name) ? json(value) : value]);
  return {
    id,
    to: 'slack',
    atMs,
    what: method,
    status,
    ...(error === undefined ? {} : { error }),
    request: bounded({ method: 'POST', to: method, arguments: Object.fromEntries(unpacked) }),
    // The address of a socket is a ticket for it.
    ...(status === 0 ? {} : { response: bounded(method === 'apps.connections.open' ? { ok: call.ok } : answer) }),
  };
}

function exchangeDetail(
  { id, atMs }: { readonly id: string; readonly atMs: number },
  { record, request, response, isOver }: Exchange,
): RequestDetail {
  const { method, url, user, groups, extra, impersonatedBy, status } = record;
  const answer = json(response);
  const error = status >= 400 ? reasonIn(answer) : isOver && status === 0 ? 'cut off' : undefined;
  const as = impersonatedBy === '' ? { user } : { user: impersonatedBy, as: { user, groups, extra } };
  return {
    id,
    to: 'kubernetes',
    atMs,
    what: wordsOf(record),
    status,
    ...(error === undefined ? {} : { error }),
    request: bounded({ method, url, ...as, ...(request === '' ? {} : { body: json(request) }) }),
    ...(response === '' ? {} : { response: bounded(answer) }),
  };
}

/** `PATCH pods/ephemeralcontainers shop/pod-1234`; a path where no object is named. */
function wordsOf({ verb, resource, subresource, namespace, name, url }: Exchange['record']): string {
  if (resource === '') return `${verb.toUpperCase()} ${url.split('?')[0]}`;
  const kind = subresource === '' ? resource : `${resource}/${subresource}`;
  const place = [namespace, name].filter((part) => part !== '').join('/');
  return `${verb.toUpperCase()} ${kind} ${place}${/[?&]dryRun=/.test(url) ? ' (dry run)' : ''}`.trim();
}

function reasonIn(answer: unknown): string {
  const isStatus = typeof answer === 'object' && answer !== null && 'message' in answer;
  return isStatus ? String(answer.message) : String(answer);
}

function json(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function bounded(value: unknown): unknown {
  const text = JSON.stringify(value) ?? '';
  if (text.length <= KEPT_CHARACTERS) return value;
  // A copy: a slice would hold on to the whole text.
  return { cut: `the first ${KEPT_CHARACTERS} of ${text.length} characters`, text: copyOf(text) };
}

const copyOf = (text: string): string => Buffer.from(text.slice(0, KEPT_CHARACTERS)).toString();
