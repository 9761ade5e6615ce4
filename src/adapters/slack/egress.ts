import type { Socket } from 'node:net';
import { buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool, fetch as undiciFetch } from 'undici';

/** An HTTP proxy that allows CONNECT; it cannot read the TLS traffic to Slack. */
export interface SlackProxy {
  /** http:// or https://, optionally with percent-encoded user and password. Never log it. */
  readonly url: string;
  /** Hosts to call directly, as in NO_PROXY: names with their subdomains, with or without a port; `*` for all. */
  readonly noProxy: string;
}

/** All connections to Slack: Web API, uploads, files, response URLs and Socket Mode. Without a proxy: undici's own. */
export interface Egress {
  readonly fetch: typeof fetch;
  readonly through: { readonly dispatcher?: Dispatcher };
  /** The proxy for one Socket Mode connection; undefined: the library connects directly. */
  forLine(): LineEgress | undefined;
  /** The proxy without user and password. */
  readonly shown: string | undefined;
  close(): Promise<void>;
}

export interface LineEgress {
  readonly dispatcher: Dispatcher;
  /** Closes the connection in any state: Slack may leave one open after a close (node-slack-sdk issue 2752). */
  destroy(): void;
}

const DIRECT: Egress = {
  // Looked up at each call, because tests replace it.
  fetch: (input, init) => fetch(input, init),
  through: {},
  forLine: () => undefined,
  shown: undefined,
  close: async () => undefined,
};

export function createEgress(proxy: SlackProxy | undefined): Egress {
  if (proxy === undefined) return DIRECT;
  const dispatcher = agentOf(proxy);
  return {
    // Node's own fetch rejects this agent: its undici is another version.
    fetch: ((input: string, init: object) => undiciFetch(input, { ...init, dispatcher })) as unknown as typeof fetch,
    through: { dispatcher },
    forLine: () => lineEgress(proxy),
    shown: shownOf(proxy.url),
    close: () => dispatcher.close(),
  };
}

/** Reads nothing from the environment. */
const agentOf = ({ url, noProxy }: SlackProxy, more: EnvHttpProxyAgent.Options = {}): EnvHttpProxyAgent =>
  new EnvHttpProxyAgent({ ...more, httpProxy: url, httpsProxy: url, noProxy });

/** A WebSocket hides its socket, so we record each socket when it opens, to the proxy or directly. */
function lineEgress(proxy: SlackProxy): LineEgress {
  const sockets = new Set<Socket>();
  const recording =
    (connect: buildConnector.connector): buildConnector.connector =>
    (options, callback) =>
      connect(options, (...result) => {
        const [, socket] = result;
        if (socket !== null) sockets.add(socket);
        callback(...result);
      });
  const dispatcher = agentOf(proxy, {
    connect: recording(buildConnector({})),
    clientFactory: (origin, options) => new Pool(origin, { ...options, connect: recording(connectorOf(options)) }),
  });
  return {
    dispatcher,
    destroy() {
      for (const socket of sockets) socket.destroy();
      dispatcher.destroy().catch(() => undefined);
    },
  };
}

const connectorOf = (options: object): buildConnector.connector =>
  'connect' in options && typeof options.connect === 'function'
    ? (options.connect as buildConnector.connector)
    : buildConnector({});

function shownOf(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
