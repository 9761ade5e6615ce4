import type { Notification, StoredView } from '../../../slack/state/message.ts';
import type { PageChange, PageEvent, PageFile, PagePod, RequestLine, Snapshot } from '../../contract.ts';
import { type ChannelLog, EMPTY_LOG, logsOf, putInLog, putMessage, takeFromLog, withoutMessage } from './messages.ts';

/** The snapshot, arranged for drawing. Immutable: a change makes new objects only on the way to what it touches. */
export interface World extends Omit<Snapshot, 'messages' | 'files' | 'views'> {
  readonly logs: ReadonlyMap<string, ChannelLog>;
  readonly files: ReadonlyMap<string, PageFile>;
  readonly views: ReadonlyMap<string, StoredView>;
}

const MAX_EVENTS = 200;
const MAX_REQUESTS = 500;

export function worldOf({ messages, files, views, ...rest }: Snapshot): World {
  return {
    ...rest,
    logs: logsOf(messages),
    files: new Map(files.map((file) => [file.id, file])),
    views: new Map(views.map((view) => [view.id, view])),
  };
}

export const logOf = (world: World, channel: string): ChannelLog => world.logs.get(channel) ?? EMPTY_LOG;

type Of<K extends PageChange['kind']> = Extract<PageChange, { kind: K }>;
type Appliers = { readonly [K in PageChange['kind']]: (world: World, change: Of<K>) => World };

const APPLIERS: Appliers = {
  message: (world, { message }) => ({
    ...world,
    logs: new Map(world.logs).set(message.channel, putInLog(logOf(world, message.channel), message)),
  }),
  'message-gone': (world, { channel, ts }) => ({
    ...world,
    logs: new Map(world.logs).set(channel, takeFromLog(logOf(world, channel), ts)),
  }),
  ephemeral: (world, { message }) => ({ ...world, ephemerals: putMessage(world.ephemerals, message) }),
  'ephemeral-gone': (world, { ts }) => ({ ...world, ephemerals: withoutMessage(world.ephemerals, ts) }),
  notified: (world, { notification }) => ({ ...world, notified: putNotification(world.notified, notification) }),
  file: (world, { file }) => ({ ...world, files: new Map(world.files).set(file.id, file) }),
  view: (world, { view }) => ({ ...world, views: new Map(world.views).set(view.id, view) }),
  team: (world, { team }) => ({ ...world, team }),
  pod: (world, { pod }) => ({ ...world, pods: putPod(world.pods, pod) }),
  'pod-gone': (world, { namespace, name }) => ({
    ...world,
    pods: world.pods.filter((pod) => pod.namespace !== namespace || pod.name !== name),
  }),
  event: (world, { event }) => ({ ...world, events: putEvent(world.events, event) }),
  request: (world, { request }) => ({ ...world, requests: putRequest(world.requests, request) }),
  'troubles-on': (world, { on }) => ({ ...world, troublesOn: on }),
};

/** The world after one change. Applying a change twice is harmless; an unknown kind changes nothing. */
export function applyChange(world: World, change: PageChange): World {
  if (!Object.hasOwn(APPLIERS, change.kind)) return world;
  const apply = APPLIERS[change.kind] as (world: World, change: PageChange) => World;
  return apply(world, change);
}

const keyOf = ({ namespace, name }: PagePod): string => `${namespace}/${name}`;

function putPod(pods: readonly PagePod[], pod: PagePod): readonly PagePod[] {
  const index = pods.findIndex((one) => keyOf(one) === keyOf(pod));
  if (index >= 0) return pods.with(index, pod);
  return [...pods, pod].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

function putNotification(all: readonly Notification[], one: Notification): readonly Notification[] {
  const isSame = ({ user, channel, ts }: Notification): boolean =>
    user === one.user && channel === one.channel && ts === one.ts;
  const index = all.findLastIndex(isSame);
  return index >= 0 ? all.with(index, one) : [...all, one];
}

/** An event that happened again moves to the end. */
const putEvent = (events: readonly PageEvent[], event: PageEvent): readonly PageEvent[] =>
  [...events.filter(({ uid }) => uid !== event.uid), event].slice(-MAX_EVENTS);

function putRequest(requests: readonly RequestLine[], request: RequestLine): readonly RequestLine[] {
  const index = requests.findLastIndex(({ id }) => id === request.id);
  return index >= 0 ? requests.with(index, request) : [...requests, request].slice(-MAX_REQUESTS);
}
