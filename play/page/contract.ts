/**
 * What the page and its server say to each other. One address, one token: the page is opened as `/?token=…`, and every
 * further request carries it as `?token=` (event stream, downloads) or `x-play-token` (deeds).
 *
 *   GET  /                       made by the server: `<div id="root">`, and links to /app.css and /app.js (what esbuild makes of app/main.tsx)
 *   GET  /events                 server-sent events: one `snapshot` (of everything, after every reconnect too), then one `change` each
 *   POST /deeds                  one Deed; answers a DeedAnswer once the deed was delivered
 *   GET  /files/ID               the bytes of a file, as an attachment; `?preview` gives the first 16 KiB as plain text,
 *                                `?picture` a .png as an image that an <img> shows
 *   GET  /logs?namespace=&pod=&container=   the container's log as it grows, plain text; begins with its newest 2,000 lines; ends with the container
 *   GET  /requests/ID            one request of the bot, whole: RequestDetail
 *
 * Refusals: 401 without the token, 403 from a foreign host or origin, 404 (for a picture of what is none, too), 409 for a log that cannot be read now; their
 * body is one sentence as plain text. A deed that cannot be done is a DeedAnswer `{ok: false}` with status 200.
 */
import type { Notification, StoredFile, StoredMessage, StoredView } from '../slack/state/message.ts';
import type { Team } from '../slack/state/team.ts';

/** Everything, as it is now. The page needs nothing else to draw itself; what is typed or open stays in the browser. */
export interface Snapshot {
  /** Of this start of the server: when it changes, open threads and drafts of the former world are forgotten. */
  readonly world: string;
  readonly team: Team;
  readonly botUserId: string;
  /** All channels', oldest first; replies carry `threadTs`. */
  readonly messages: readonly StoredMessage[];
  /** All people's; `visibleTo` says whose. */
  readonly ephemerals: readonly StoredMessage[];
  /** What Slack notified people of, all people's, oldest first. */
  readonly notified: readonly Notification[];
  readonly files: readonly PageFile[];
  /** Open ones of all people. */
  readonly views: readonly StoredView[];
  /** Not the local one: it is looked at through its API, left alone, and what the bot asks of it is not seen. */
  readonly isRealCluster: boolean;
  readonly pods: readonly PagePod[];
  /** Newest last, at most 200. */
  readonly events: readonly PageEvent[];
  /** Newest last, at most 500. */
  readonly requests: readonly RequestLine[];
  /** Words to complete in the composer, made from the bot's own grammar and from the policy. */
  readonly completion: Completion;
  readonly examples: readonly Example[];
  readonly troubles: readonly Trouble[];
  /** Deeds done to the cluster that are undone by another deed: `node-away`, `api-slow`, … */
  readonly troublesOn: readonly string[];
  /** Callback ids of the message shortcuts of the app's manifest, with their names. */
  readonly shortcuts: readonly { readonly callbackId: string; readonly name: string }[];
  /** Those of the composer, which belong to no message. */
  readonly globalShortcuts: Snapshot['shortcuts'];
  readonly hasHome: boolean;
}

/** Each carries the whole new state of its thing, so applying one twice is harmless. */
export type PageChange =
  | { readonly kind: 'message'; readonly message: StoredMessage }
  | { readonly kind: 'message-gone'; readonly channel: string; readonly ts: string }
  | { readonly kind: 'ephemeral'; readonly message: StoredMessage }
  | { readonly kind: 'ephemeral-gone'; readonly channel: string; readonly ts: string }
  | { readonly kind: 'notified'; readonly notification: Notification }
  | { readonly kind: 'file'; readonly file: PageFile }
  | { readonly kind: 'view'; readonly view: StoredView }
  | { readonly kind: 'team'; readonly team: Team }
  | { readonly kind: 'pod'; readonly pod: PagePod }
  | { readonly kind: 'pod-gone'; readonly namespace: string; readonly name: string }
  | { readonly kind: 'event'; readonly event: PageEvent }
  | { readonly kind: 'request'; readonly request: RequestLine }
  | { readonly kind: 'troubles-on'; readonly on: readonly string[] };

export type PageFile = Pick<StoredFile, 'id' | 'name' | 'title' | 'size' | 'snippetType' | 'altText' | 'state'>;

const MAX_PICTURE_BYTES = 8 * 1024 * 1024;

/** Whether the page shows a file as a picture: a flame graph, as the image `profile` brings it back. Slack shows no .svg, so this does not. */
export const isPicture = ({ name, size }: Pick<PageFile, 'name' | 'size'>): boolean =>
  name.endsWith('.png') && size <= MAX_PICTURE_BYTES;

export interface PagePod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly phase: string;
  readonly deleting: boolean;
  readonly containers: readonly PageContainer[];
}

export interface PageContainer {
  readonly name: string;
  readonly image: string;
  readonly kind: 'container' | 'debug';
  readonly state: 'waiting' | 'running' | 'terminated';
  /** The kubelet's word: `CrashLoopBackOff`, `Completed`, `OOMKilled` … */
  readonly reason?: string;
  readonly exitCode?: number;
  readonly restarts: number;
  /** Absent until it has started. */
  readonly startedAtMs?: number;
  /** Of a debug container: the run in its environment, and its target. */
  readonly run?: string;
  readonly target?: string;
}

export interface PageEvent {
  readonly uid: string;
  readonly atMs: number;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly namespace: string;
  readonly pod: string;
  readonly count: number;
}

/** One request of the bot, in a list. */
export interface RequestLine {
  readonly id: string;
  readonly to: 'slack' | 'kubernetes';
  readonly atMs: number;
  /** `chat.update`, or `PATCH pods/ephemeralcontainers shop/pod-1234`. */
  readonly what: string;
  /** HTTP status; 0 while unanswered or when cut. */
  readonly status: number;
  readonly error?: string;
}

/** The request's own words; tokens left out. */
export interface RequestDetail extends RequestLine {
  readonly request: unknown;
  readonly response?: unknown;
}

export interface Completion {
  readonly verbs: readonly Word[];
  readonly flags: readonly (Word & { readonly values?: readonly string[] })[];
  readonly images: readonly Word[];
  readonly namespaces: readonly string[];
}

export interface Word {
  readonly word: string;
  readonly does: string;
}

/** One step of the guided start: fills the composer of `channel` as `user`. */
export interface Example {
  readonly id: string;
  readonly title: string;
  readonly story: string;
  readonly user: string;
  readonly channel: string;
  readonly text: string;
  /** What to do or to watch for after sending. */
  readonly then: string;
}

export interface Trouble {
  readonly id: string;
  readonly where: 'cluster' | 'slack';
  readonly title: string;
  /** One sentence on what the bot should be seen to do. */
  readonly watch: string;
  /** The deed needs a pod (and takes its first container unless one is named). */
  readonly needsPod: boolean;
  /** It lasts until the same deed is done again. */
  readonly lasts: boolean;
  /** What ends it, in place of `End: TITLE`. */
  readonly end?: string;
}

/** What a person does on the page. `user` is who. */
export type Deed =
  /** The composer: a `/kdebug` command, `/invite @somebody`, a `@kdebug` mention or plain words, as they were typed. */
  | {
      readonly kind: 'type';
      readonly user: string;
      readonly channel: string;
      readonly text: string;
      readonly threadTs?: string;
    }
  | {
      readonly kind: 'press';
      readonly user: string;
      readonly channel: string;
      readonly ts: string;
      readonly blockId: string;
      readonly actionId: string;
      /** For menus and boxes: all that is chosen now, values of options or ids of people and channels. */
      readonly chosen?: readonly string[];
    }
  /** A button of an attachment, by its label. */
  | {
      readonly kind: 'press-attachment';
      readonly user: string;
      readonly channel: string;
      readonly ts: string;
      readonly label: string;
    }
  | {
      readonly kind: 'press-in-view';
      readonly user: string;
      readonly viewId: string;
      readonly blockId: string;
      readonly actionId: string;
      readonly chosen?: readonly string[];
      /** What stands in all inputs now, as in `submit`. */
      readonly values?: Record<string, unknown>;
    }
  /** Types into a search menu of a view. The answer carries what may be picked. */
  | {
      readonly kind: 'suggest';
      readonly user: string;
      readonly viewId: string;
      readonly blockId: string;
      readonly actionId: string;
      readonly typed: string;
    }
  /** `values` as in Slack's `view.state.values`. */
  | {
      readonly kind: 'submit';
      readonly user: string;
      readonly viewId: string;
      readonly values: Record<string, unknown>;
    }
  | { readonly kind: 'close-view'; readonly user: string; readonly viewId: string }
  | {
      readonly kind: 'shortcut';
      readonly user: string;
      readonly callbackId: string;
      readonly channel?: string;
      readonly ts?: string;
    }
  | {
      readonly kind: 'react';
      readonly user: string;
      readonly channel: string;
      readonly ts: string;
      readonly name: string;
    }
  /** Opens the direct message with the bot. */
  | { readonly kind: 'open-direct'; readonly user: string }
  /** Opens the app's Home tab, or its Messages tab. */
  | { readonly kind: 'open-home'; readonly user: string; readonly tab: 'home' | 'messages' }
  | {
      readonly kind: 'trouble';
      readonly id: string;
      readonly namespace?: string;
      readonly pod?: string;
      readonly container?: string;
    };

export type DeedAnswer =
  | { readonly ok: true; readonly channel?: string; readonly options?: readonly Record<string, unknown>[] }
  | { readonly ok: false; readonly error: string };
