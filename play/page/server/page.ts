import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { loadPolicy } from '../../../src/config/load-policy.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import type { AlertsPort } from '../../app/alert.ts';
import { LocalCluster } from '../../cluster/index.ts';
import type { LocalSlack } from '../../slack/index.ts';
import type { Example, PageChange, Snapshot } from '../contract.ts';
import { readJson, sendFile, sendJson, sendLog, sendPicture, sendPreview, sendText } from './answers.ts';
import { ApiSide } from './api-side.ts';
import { type Bundle, buildBundle, documentOf } from './bundle.ts';
import { type ClusterSide, LocalSide } from './cluster-side.ts';
import { completionOf, namespacesOf } from './completion.ts';
import { DeedShape } from './deed-shape.ts';
import { Deeds } from './deeds.ts';
import { Guard, protect, Refusal } from './guard.ts';
import { Hub } from './hub.ts';
import { readManifest } from './manifest.ts';
import { PageAlerts } from './page-alerts.ts';
import { RequestBook } from './request-book.ts';
import { shownChange, slackNow } from './slack-side.ts';
import { Troubles } from './troubles.ts';

export interface PageOptions {
  readonly slack: LocalSlack;
  /** The local cluster, or the text of the kubeconfig of a real one. */
  readonly cluster: LocalCluster | { readonly kubeconfig: string };
  /** The policy file in force. */
  readonly policyPath: string;
  readonly examples: readonly Example[];
  /** Where alerts of the page are told to kdebug itself; absent: none are. */
  readonly alerts?: AlertsPort;
  /** Default: any free port of 127.0.0.1. */
  readonly port?: number;
  /** What the browser gets; default: made now from play/page/app. */
  readonly bundle?: Bundle | Promise<Bundle>;
}

export interface Page {
  /** The address to open; it holds the token. */
  readonly url: string;
  /** Whether a browser has looked since the start. */
  readonly hasBeenWatched: () => boolean;
  /** How many browsers have it open. */
  readonly watchers: () => number;
  stop(): Promise<void>;
}

/**
 * Starts the page for browsers of this machine. Its token is fresh at every start, and whoever holds it may do what any
 * person of the local workspace may.
 */
export async function startPage(options: PageOptions): Promise<Page> {
  const bundle = await (options.bundle ?? buildBundle());
  const token = randomBytes(24).toString('base64url');
  const server = createServer();
  const port = await listen(server, options.port ?? 0);
  const page = new PageServer(options, { bundle, token, guard: new Guard(token, port) });
  server.on('request', (request, response) => void page.serve(request, response));
  return {
    url: `http://127.0.0.1:${port}/?token=${token}`,
    hasBeenWatched: () => page.hub.hasBeenWatched,
    watchers: () => page.hub.watchers,
    async stop() {
      page.close();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address ? address.port : port;
}

interface Secrets {
  readonly bundle: Bundle;
  readonly token: string;
  readonly guard: Guard;
}

/** One request at a time: checked, then answered. */
class PageServer {
  readonly hub = new Hub();
  readonly #options: PageOptions;
  readonly #secrets: Secrets;
  readonly #world = randomUUID();
  readonly #manifest = readManifest();
  readonly #side: ClusterSide;
  readonly #book: RequestBook;
  readonly #troubles: Troubles;
  readonly #deeds: Deeds;
  readonly #unhear: () => void;
  #policy: Policy;

  constructor(options: PageOptions, secrets: Secrets) {
    const { slack, cluster, policyPath } = options;
    this.#options = options;
    this.#secrets = secrets;
    const first = loadPolicy(policyPath);
    if (first.kind === 'invalid') throw new Error(first.problems.join('\n'));
    this.#policy = first.policy;
    const tell = (change: PageChange): void => this.hub.tell(change);
    const local = cluster instanceof LocalCluster ? cluster : undefined;
    this.#side = local ? new LocalSide(local, tell) : new ApiSide(cluster.kubeconfig, namespacesOf(this.#policy), tell);
    this.#book = new RequestBook(slack, local, tell);
    this.#troubles = new Troubles({ slack, cluster: local, alerts: new PageAlerts(slack, options.alerts), tell });
    this.#deeds = new Deeds({ slack, manifest: this.#manifest, troubles: this.#troubles });
    const hear = (change: Parameters<typeof shownChange>[0]): void => {
      const shown = shownChange(change);
      if (shown) tell(shown);
    };
    slack.changes.on('change', hear);
    this.#unhear = () => slack.changes.off('change', hear);
  }

  close(): void {
    this.#unhear();
    this.#side.close();
    this.#book.close();
    this.#troubles.close();
    this.hub.close();
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    protect(response);
    try {
      const url = new URL(request.url ?? '/', 'http://page');
      this.#secrets.guard.check(request, url);
      await this.#route(request, response, url);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else if (error instanceof Refusal) sendText(response, 'text/plain', error.message, error.status);
      else sendText(response, 'text/plain', `The page’s server failed: ${String(error)}`, 500);
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const { bundle, token } = this.#secrets;
    const [, area = '', id = ''] = url.pathname.split('/');
    switch (`${request.method} ${area}`) {
      case 'GET ':
        return sendText(response, 'text/html', documentOf(token));
      case 'GET app.js':
        return sendText(response, 'text/javascript', bundle.script);
      case 'GET app.css':
        return sendText(response, 'text/css', bundle.style);
      case 'GET events':
        return this.hub.connect(response, this.#snapshot());
      case 'POST deeds':
        return this.#deed(request, response);
      case 'GET files':
        return this.#file(response, id, url.searchParams);
      case 'GET logs':
        return sendLog(response, this.#side, url.searchParams);
      case 'GET requests':
        return this.#request(response, id);
      default:
        throw new Refusal(404, 'There is nothing here.');
    }
  }

  async #deed(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const deed = DeedShape.safeParse(await readJson(request));
    if (!deed.success) throw new Refusal(400, 'This is no deed.');
    sendJson(response, await this.#deeds.do(deed.data));
  }

  #file(response: ServerResponse, id: string, query: URLSearchParams): Promise<void> {
    const file = this.#options.slack.state.files.get(id);
    if (query.has('picture')) return sendPicture(response, file);
    return query.has('preview') ? sendPreview(response, file) : sendFile(response, file);
  }

  #request(response: ServerResponse, id: string): void {
    const detail = this.#book.detail(id);
    if (detail === undefined) throw new Refusal(404, 'This request is no longer kept.');
    sendJson(response, detail);
  }

  #snapshot(): Snapshot {
    return {
      world: this.#world,
      ...slackNow(this.#options.slack),
      isRealCluster: !(this.#options.cluster instanceof LocalCluster),
      pods: this.#side.pods(),
      events: this.#side.events(),
      requests: this.#book.lines(),
      completion: completionOf(this.#policyNow()),
      examples: this.#options.examples,
      troubles: this.#troubles.list(),
      troublesOn: this.#troubles.on(),
      shortcuts: this.#manifest.shortcuts,
      globalShortcuts: this.#manifest.globalShortcuts,
      hasHome: this.#manifest.hasHome,
    };
  }

  /** As it was last good: a broken file is the bot's to complain about. */
  #policyNow(): Policy {
    const loaded = loadPolicy(this.#options.policyPath);
    if (loaded.kind === 'ok') this.#policy = loaded.policy;
    return this.#policy;
  }
}
