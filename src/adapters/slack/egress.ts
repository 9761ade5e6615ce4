import type { Socket } from 'node:net';
import { buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool, fetch as undiciFetch } from 'undici';

/** An HTTP proxy between kdebug and Slack, which lets CONNECT pass; TLS to Slack goes through it unread. */
export interface SlackProxy {
  /** http:// or https://; may hold a user and a password, percent-encoded. Never to be logged. */
  readonly url: string;
  /** Hosts that are asked directly, as in NO_PROXY: names, which include those below them, with or without a port; `*` is all. */
  readonly noProxy: string;
}

/** The one way out to Slack: Web API, uploads, files, response URLs, and the lines of Socket Mode. Without a proxy: undici's own. */
export interface Egress {
  readonly fetch: typeof fetch;
  /** For undici's `request`, to be spread into its options. */
  readonly through: { readonly dispatcher?: Dispatcher };
  /** A way of its own for one line of Socket Mode; undefined: the library's own. */
  forLine(): LineEgress | undefined;
  /** The proxy as it may be shown. */
  readonly shown: string | undefined;
  close(): Promise<void>;
}

export interface LineEgress {
  readonly dispatcher: Dispatcher;
  /** Ends the line's connection whatever state it is in: Slack may leave one open after a close (node-slack-sdk issue 2752). */
  destroy(): void;
}

const DIRECT: Egress = {
  // Looked up at each call: tests put another in its place.
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
    // undici's own fetch: the one of Node is of another version, and takes no agent of this one.
    fetch: ((input: string, init: object) => undiciFetch(input, { ...init, dispatcher })) as unknown as typeof fetch,
    through: { dispatcher },
    forLine: () => lineEgress(proxy),
    shown: shownOf(proxy.url),
    close: () => dispatcher.close(),
  };
}

/** Nothing is read from the environment here: what is given is all. */
const agentOf = ({ url, noProxy }: SlackProxy, more: EnvHttpProxyAgent.Options = {}): EnvHttpProxyAgent =>
  new EnvHttpProxyAgent({ ...more, httpProxy: url, httpsProxy: url, noProxy });

/** The socket is hidden from whoever holds the WebSocket, so it is noted when it is opened: to the proxy, or past it. */
function lineEgress(proxy: SlackProxy): LineEgress {
  const sockets = new Set<Socket>();
  const noting =
    (connect: buildConnector.connector): buildConnector.connector =>
    (options, callback) =>
      connect(options, (...result) => {
        const [, socket] = result;
        if (socket !== null) sockets.add(socket);
        callback(...result);
      });
  const dispatcher = agentOf(proxy, {
    connect: noting(buildConnector({})),
    clientFactory: (origin, options) => new Pool(origin, { ...options, connect: noting(connectorOf(options)) }),
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
