import { formatCount } from '../../../lib/duration.ts';
import {
  type ContainerStatus,
  isSidecar,
  type Pod,
  type PodCondition,
  type PodContainer,
  type PodEvent,
} from '../../container/pod.ts';
import { ago, spanOf } from '../../diagnosis/reading/phrases.ts';
import { isOfDebugContainer } from '../../diagnosis/reading/pod-containers.ts';
import { endingOf } from '../../diagnosis/rules/endings.ts';
import { foreignLine } from '../../redact/clean-text.ts';
import type { Run } from '../../run/run.ts';
import { dotted, line, list, paragraph, type Shown } from '../message/line.ts';
import { code, link, person, type Span, strong } from '../message/message.ts';
import { describeOutcome, STATE_TEXT } from './outcome-text.ts';

/** The context that the parts of a pod share: the findings that the message names already, and the time. */
export interface PodContext {
  readonly named: readonly string[];
  /** One of them is why the pod does not work. */
  readonly isExplained: boolean;
  readonly nowMs: number;
}

const MAX_CONTAINERS = 8;
const MAX_EVENTS = 5;
const MAX_EARLIER = 5;
const MAX_NAME = 63;
const MAX_IMAGE = 120;

/** A title and its list; nothing for an empty list. Names how many items are left out. */
function listPart(title: string, items: readonly (readonly Span[])[], max: number): Shown {
  const more = items.length > max && `… ${(items.length - max).toLocaleString('en-US')} more`;
  return items.length > 0 && [paragraph`${strong(title)}`, list([...items.slice(0, max), more])];
}

interface ShownContainer {
  readonly container: PodContainer;
  readonly status: ContainerStatus | undefined;
  readonly role: 'init' | 'sidecar' | 'main';
}

/** The containers, those with trouble first. */
export function containersPart(pod: Pod, context: PodContext): Shown {
  const { containers, initContainers } = pod.spec;
  const statuses = [...pod.status.containerStatuses, ...pod.status.initContainerStatuses];
  const statusOf = (name: string) => statuses.find((status) => status.name === name);
  const shown = [
    ...containers.map((container): ShownContainer => ({ container, status: statusOf(container.name), role: 'main' })),
    ...initContainers.map((container): ShownContainer => {
      const role = isSidecar(container) ? 'sidecar' : 'init';
      return { container, status: statusOf(container.name), role };
    }),
  ];
  const sorted = shown.toSorted((a, b) => Number(isFine(a)) - Number(isFine(b)));
  const items = sorted.map((each) => containerSpans(each, context));
  return listPart(formatCount(shown.length, 'container'), items, MAX_CONTAINERS);
}

const isFine = ({ status, role }: ShownContainer): boolean =>
  role === 'init' ? status?.terminated?.exitCode === 0 : status?.ready === true;

function containerSpans(shown: ShownContainer, { named, nowMs }: PodContext): readonly Span[] {
  const { container, status, role } = shown;
  const name = foreignLine(container.name, MAX_NAME);
  const ending = status && endingOf(status, nowMs);
  const ended = status?.terminated ?? status?.lastTermination;
  const age = ended && ago(nowMs - Date.parse(ended.finishedAt));
  // A finding that says when it ended says how.
  const isNamed = age !== undefined && named.some((words) => words.includes(container.name) && words.includes(age));
  const facts = [
    stateWords(status, role),
    ...(ending === undefined || isNamed || isDone(shown) ? [] : [ending]),
    ...resourceWords(container, named),
  ];
  const kind = role !== 'main' && ` (${role})`;
  return line`${code(name)}${kind} ${dotted([...facts, imageSpan(container.image)])}`;
}

const imageSpan = (image: string): Span => code(foreignLine(image, MAX_IMAGE) || 'no image');

const isDone = ({ status, role }: ShownContainer): boolean => role === 'init' && status?.terminated?.exitCode === 0;

function stateWords(status: ContainerStatus | undefined, role: ShownContainer['role']): string {
  if (status?.running) return role === 'init' ? 'running' : `running, ${status.ready ? 'ready' : 'not ready'}`;
  if (status?.waiting) return `waiting: ${foreignLine(status.waiting.reason, MAX_NAME) || 'no reason given'}`;
  if (!status?.terminated) return 'not started';
  return status.terminated.exitCode === 0 ? 'done' : 'stopped';
}

/** Returns no part if a finding already names the unmet condition. */
function resourceWords(container: PodContainer, named: readonly string[]): readonly string[] {
  const { name, cpuLimit, cpuRequest, memoryLimit, memoryRequest } = container;
  const ranges = [rangeWords('CPU', cpuRequest, cpuLimit), rangeWords('memory', memoryRequest, memoryLimit)];
  const known = ranges.filter((words) => words !== '');
  const isMissed = named.some((words) => words.startsWith(`${name} requests no`));
  return known.length > 0 || isMissed ? known : ['no requests or limits'];
}

/** Request and limit: `memory 64Mi to 128Mi`. */
function rangeWords(what: string, request: string | undefined, limit: string | undefined): string {
  const [least, most] = [request, limit].map((quantity) => quantity && foreignLine(quantity, 20));
  if (!least && !most) return '';
  if (!most) return `${what} ${least}, no limit`;
  return least === most || !least ? `${what} ${most}` : `${what} ${least} to ${most}`;
}

/** Bad conditions, without those that a finding or the state of the containers explains. */
export function conditionsPart({ status }: Pod, { named, isExplained, nowMs }: PodContext): Shown {
  const seen = new Set<string>();
  const news = (status.unmetConditions ?? []).filter(({ type, reason, message }) => {
    if (isExplained && reason === 'ContainersNotReady') return false;
    const words = foreignLine(message || reason);
    // ContainersReady repeats what Ready says.
    const isRepeated = type !== 'DisruptionTarget' && (seen.has(words) || isNamed(words, named));
    seen.add(words);
    return !isRepeated;
  });
  return listPart(
    'Conditions',
    news.map((condition) => conditionSpans(condition, nowMs)),
    MAX_EVENTS,
  );
}

/** ` for 3 min`; empty for an unknown time. */
const forWords = (ms: number): string => (Number.isFinite(ms) ? ` for ${spanOf(ms)}` : '');

const isNamed = (words: string, named: readonly string[]): boolean =>
  words !== '' && named.some((sentence) => sentence.includes(words.slice(0, 60)));

function conditionSpans({ type, reason, message, since }: PodCondition, nowMs: number): readonly Span[] {
  const why = [reason, message].map((words) => foreignLine(words)).filter((words) => words !== '');
  const state = type === 'DisruptionTarget' ? 'true' : 'not true';
  const lasts = forWords(nowMs - Date.parse(since));
  return line`${code(foreignLine(type, MAX_NAME))} ${state}${lasts}: ${why.join(': ') || 'no reason given'}`;
}

/** The newest events of the pod itself, equal ones once, without those that a finding quotes. */
export function eventsPart(events: readonly PodEvent[], { named, nowMs }: PodContext): Shown {
  const merged = new Map<string, PodEvent & { readonly count: number }>();
  for (const event of events.filter((each) => !isOfDebugContainer(each))) {
    const key = JSON.stringify([event.type, event.reason, event.message]);
    const known = merged.get(key);
    const { count = 1 } = event;
    const atMs = Math.max(known?.atMs ?? 0, event.atMs);
    merged.set(key, { ...event, atMs, count: count + (known?.count ?? 0) });
  }
  const news = [...merged.values()]
    .filter(({ type, message }) => type !== 'Warning' || !isNamed(foreignLine(message), named))
    .toSorted((a, b) => b.atMs - a.atMs);
  return listPart(
    'Events',
    news.map((event) => eventSpans(event, nowMs)),
    MAX_EVENTS,
  );
}

function eventSpans({ type, reason, message, atMs, count }: PodEvent, nowMs: number): readonly Span[] {
  const often = count !== undefined && count > 1 ? ` ${formatCount(count, 'time')},` : '';
  const words = `${often} ${ago(atMs > 0 ? nowMs - atMs : Number.NaN)}: ${foreignLine(message)}`;
  const name = foreignLine(reason, MAX_NAME) || 'no reason given';
  return line`${type === 'Warning' ? strong(`Warning ${name}`) : name}${words}`;
}

/** An earlier debug container. `run` only if it is one of this channel's, and then the link to its message. */
export interface EarlierContainer {
  readonly containerName: string;
  readonly run?: Run;
  readonly url?: string;
}

/** The debug containers that the pod still holds, the newest first. */
export function earlierPart(pod: Pod, earlier: readonly EarlierContainer[], nowMs: number): Shown {
  const items = pod.spec.ephemeralContainers.toReversed().map(({ name, image, runId }) => {
    const known = earlier.find(({ containerName }) => containerName === name);
    const state = pod.status.ephemeralContainerStatuses.find((status) => status.name === name);
    const what = stateOfDebug(state, nowMs);
    if (known?.run) return knownSpans(known.run, known.url, what);
    const whose = runId === undefined ? 'not by kdebug' : 'of a batch, or of another channel';
    return line`${imageSpan(image)} ${what}, ${whose}`;
  });
  return listPart(formatCount(items.length, 'debug container'), items, MAX_EARLIER);
}

function stateOfDebug(status: ContainerStatus | undefined, nowMs: number): string {
  const { running, terminated, waiting } = status ?? {};
  if (running) return `running${forWords(nowMs - Date.parse(running.startedAt))}`;
  if (terminated) return `ended ${ago(nowMs - Date.parse(terminated.finishedAt))}`;
  return waiting ? `waiting: ${foreignLine(waiting.reason, MAX_NAME)}` : 'not started';
}

function knownSpans(run: Run, url: string | undefined, what: string): readonly Span[] {
  const { title } =
    run.state === 'finished' && run.outcome ? describeOutcome(run.outcome) : { title: STATE_TEXT[run.state].headline };
  const id = url === undefined ? code(run.id) : link(url, run.id);
  const image = foreignLine(run.plan?.imageAlias ?? 'run');
  return line`${id} ${image} by ${person(run.origin.requesterId)}: ${foreignLine(title)}, ${what}`;
}
