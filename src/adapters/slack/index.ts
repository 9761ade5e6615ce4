import { App } from '@slack/bolt';
import type { ModalView } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import { KdebugError } from '../../core/errors.ts';
import { plainName } from '../../core/say/message/typed-text.ts';
import { DEFAULT_NAMES, type ShownNames } from '../../core/shown-names.ts';
import type { Directory } from '../../flow/ports/directory.ts';
import type { Log, Metrics } from '../../flow/ports/machine.ts';
import type { Inbox, Thread, TokenState } from '../../flow/ports/slack.ts';
import type { Clock } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import {
  type AroundCall,
  ClockCheck,
  clientOptions,
  createClient,
  libraryLogger,
  SLACK_API_URL,
  timed,
} from './client.ts';
import { createDirectory } from './directory.ts';
import { createEgress, type Egress, type SlackProxy } from './egress.ts';
import { callSlack } from './errors.ts';
import { register } from './handlers.ts';
import { type Identity, learnIdentity } from './identity.ts';
import type { OpenedView } from './listeners/gate.ts';
import { readSharedFile } from './listeners/message-content.ts';
import { HttpReceiver } from './receiving/http-receiver.ts';
import { InFlight } from './receiving/in-flight.ts';
import { SocketReceiver } from './receiving/socket-receiver.ts';
import { createThread } from './thread/thread.ts';
import { TokenWatch } from './token-watch.ts';
import { inboxInNames, threadInNames } from './views/in-names.ts';

export type { Identity } from './identity.ts';
export { createSlackProbe } from './probe.ts';

export type Transport =
  | { readonly kind: 'http'; readonly signingSecret: string; readonly port: number }
  | { readonly kind: 'socket'; readonly appToken: string };

export interface SlackOptions {
  readonly botToken: string;
  readonly transport: Transport;
  readonly apiUrl?: string;
  readonly proxy?: SlackProxy;
  /** The slash command's name, where nothing else says which one a person knows. Default: that of slack-app.yml. */
  readonly command?: string;
  readonly log: Log;
  readonly clock: Clock;
  /** Called once Slack has accepted our token, and whenever that changes. */
  readonly onToken?: (isAccepted: boolean) => void;
  /** The policy names the channel. Default: no. */
  readonly isNamed?: (channelId: string) => boolean;
  readonly metrics?: Pick<Metrics, 'apiCall' | 'rateLimited' | 'observe' | 'requestRefused'>;
  /** For one call, in real milliseconds. Default: 10 s for a Web API call, 30 s of silence for an upload; tests shorten it. */
  readonly timeoutMs?: number;
}

/** Slack in both directions. `thread` works at once; `directory` and deliveries to the inbox from `start` on. */
export interface Slack {
  readonly thread: Thread;
  readonly directory: Directory;
  readonly token: TokenState;
  /**
   * Reads our identity and starts to deliver to `inbox`. Call it once.
   * @throws KdebugError slack_token_rejected, slack_scopes_missing, slack_org_install, slack_unreachable, slack_refused,
   * slack_port_unavailable
   */
  start(inbox: Inbox): Promise<Identity>;
  ready(): boolean;
  port(): number | undefined;
  /** Over HTTP: one line on what became of Slack's requests, for people. */
  requests(): readonly string[];
  /** Socket Mode: closes the connections, so that Slack uses the other replicas. Over HTTP the load balancer does that. */
  leave(): Promise<void>;
  /** Fails every queued and every later call as not sent (`slack_unanswered`). */
  failPending(): void;
  /** Refuses new requests with an answer, waits at most 5 s for open ones, then closes. Repeatable. */
  stop(): Promise<void>;
}

type Receiving = HttpReceiver | SocketReceiver;

export function createSlack(options: SlackOptions): Slack {
  const { botToken, log, clock } = options;
  const apiUrl = options.apiUrl ?? SLACK_API_URL;
  const clockCheck = new ClockCheck(clock, log);
  const onDate = (date: string | null): void => clockCheck.learn(date);
  const egress = createEgress(options.proxy);
  const token = new TokenWatch({
    clock,
    log,
    ask: () => client.auth.test(),
    ...defined({ onChange: options.onToken }),
  });
  const watched: AroundCall = (method, call) => token.watched(call, method);
  const { metrics } = options;
  const around = metrics ? timed(watched, clock, metrics) : watched;
  const client = createClient(botToken, apiUrl, log, {
    timeoutMs: options.timeoutMs,
    onDate,
    send: egress.fetch,
    around,
  });
  const receiver = receiverOf(options, apiUrl, egress);
  const background = new InFlight();
  let identity: Identity | undefined;
  let hasStarted = false;
  let stopping: Promise<void> | undefined;
  const directory = createDirectory({ client, clock, identity: () => identity });
  const patience = options.timeoutMs === undefined ? {} : { silenceMs: options.timeoutMs };
  const nameOf = (userId: string) => plainName(directory.knownName(userId));
  const names = (): ShownNames => ({ ...namesOf(identity, options.command), nameOf });
  const speaking = createThread({
    client,
    apiUrl,
    clock,
    log,
    ourselves: () => identity,
    through: egress.through,
    ...patience,
  });
  const { announce, waiting, close } = speaking;
  const thread = threadInNames(speaking.thread, names);
  metrics?.observe('queue_length', () => ({ slack: waiting() }));
  if (receiver instanceof SocketReceiver) metrics?.observe('slack_sockets', () => receiver.connected);

  const stop = async (): Promise<void> => {
    if (hasStarted) await receiver.stop();
    await background.drained(clock, 1_000);
    close();
    // Not awaited: each call has its own deadline.
    void egress.close();
    token.stop();
  };

  return {
    thread,
    directory,
    token,
    ready: () => hasStarted && stopping === undefined && receiver.isReady(),
    port: () => (receiver instanceof HttpReceiver ? receiver.port() : undefined),
    requests: () => (receiver instanceof HttpReceiver ? receiver.requests() : []),
    async start(inbox) {
      if (identity || stopping)
        throw new KdebugError('internal_error', { detail: 'Slack is already started or stopped' });
      if (egress.shown !== undefined) log.info('using a proxy for Slack', { proxy: egress.shown });
      const learnt = await learnIdentity(client, log).catch((thrown: unknown) => throughProxy(thrown, egress));
      identity = learnt;
      token.start();
      register(appOn(receiver, learnt, options, egress), {
        inbox: inboxInNames(inbox, names()),
        names: names(),
        thread,
        directory,
        identity: learnt,
        clock,
        log,
        openView: (trigger_id, view) => openView(client, trigger_id, view),
        updateView: async ({ id, ...hash }, view) =>
          void (await callSlack(() => client.views.update({ view_id: id, ...hash, view }))),
        announce,
        publishHome: async (user_id, view) => void (await callSlack(() => client.views.publish({ user_id, view }))),
        readFile: (file) => readSharedFile(file, { botToken, apiUrl, send: egress.fetch }),
        isNamed: options.isNamed ?? (() => false),
        isStopping: () => stopping !== undefined,
        inBackground: (work) => void background.track(work),
      });
      await receiver.start();
      hasStarted = true;
      return learnt;
    },
    failPending: close,
    async leave() {
      if (receiver instanceof SocketReceiver) await receiver.stop();
    },
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

async function openView(client: WebClient, trigger_id: string, view: ModalView): Promise<OpenedView> {
  const { view: opened } = await callSlack(() => client.views.open({ trigger_id, view }));
  return { id: opened?.id ?? '', hash: opened?.hash ?? '' };
}

const namesOf = (identity: Identity | undefined, command = DEFAULT_NAMES.command): ShownNames => ({
  command,
  bot: identity?.botName === undefined ? DEFAULT_NAMES.bot : `@${identity.botName}`,
});

function throughProxy(thrown: unknown, { shown }: Egress): never {
  const isUnreachable = thrown instanceof KdebugError && thrown.code === 'slack_unreachable' && shown !== undefined;
  if (!isUnreachable) throw thrown;
  throw new KdebugError('slack_unreachable', { detail: `through the proxy ${shown}`, cause: thrown });
}

function receiverOf({ transport, log, clock, metrics }: SlackOptions, apiUrl: string, egress: Egress): Receiving {
  if (transport.kind === 'http') {
    const { signingSecret, port } = transport;
    return new HttpReceiver({ signingSecret, port, log, clock, ...defined({ metrics }) });
  }
  return new SocketReceiver({ appToken: transport.appToken, apiUrl, egress, log, clock });
}

function appOn(
  receiver: Receiving,
  { botId, botUserId }: Identity,
  { botToken, apiUrl, log }: SlackOptions,
  egress: Egress,
): App {
  return new App({
    receiver,
    authorize: async () => ({ botToken, botId, botUserId }),
    clientOptions: clientOptions(apiUrl ?? SLACK_API_URL, log, egress.fetch),
    logger: libraryLogger(log),
    convoStore: false,
  });
}
