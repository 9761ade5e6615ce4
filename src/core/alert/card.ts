import { formatCount } from '../../lib/duration.ts';
import { defined } from '../../lib/object.ts';
import { shorten } from '../../lib/text.ts';
import type { ReasonCode } from '../errors.ts';
import { sha256 } from '../hash.ts';
import type { RunId } from '../ids.ts';
import { redactText } from '../redact/redact-text.ts';
import type { Alert, AlertLinks, AlertNotification } from './notification.ts';

/**
 * A group of alerts as the run that it started has it: what its card says, and which alerts it knows. Its texts are redacted and bounded.
 * Stored records use these field names.
 */
export interface AlertCard {
  /** The policy's name of the source. */
  readonly source: string;
  /** The alert's name. */
  readonly name: string;
  readonly severity?: string;
  readonly summary?: string;
  /** The card's first words: the target in the words of its labels (`shop/web-1`), or the topic of a shared card. */
  readonly subject: string;
  readonly links: AlertLinks;
  /** Since when it fires, or fired; of several alerts the first. */
  readonly sinceMs: number;
  /** Since when none of them fires. */
  readonly resolvedAtMs?: number;
  /** The number of times that the group began to fire. */
  readonly times: number;
  /** The number of alerts of the group that fire, with those that the source left out. */
  readonly firing: number;
  /** The number of its pods that a limit kept from being looked at, with the alerts that the source left out. */
  readonly skipped: number;
  /** Why nothing is looked at; `subject` is the word that is wrong. */
  readonly problem?: { readonly code: ReasonCode; readonly subject: string };
  /** Whose card's thread this card is in: of the node that is out of order, or of the many alerts that came at once. */
  readonly joined?: { readonly to: 'node'; readonly name: string } | { readonly to: 'storm' };
  /**
   * The alerts that were told of already (`alertKey`), the newest last; of a storm, the runs of the cards that joined. Texts of many, with
   * blanks between (`keysOf`): as a text each, those of a group of 500 would take most of the memory of a card.
   */
  readonly seen: readonly string[];
  /** Rises with each change: Slack must show the newest. */
  readonly version: number;
  /** When the newest signed notification of it was sent: an older one is a repeat, of whoever. */
  readonly sentAtMs?: number;
  /** Until then, alerts of the same group belong to this card. */
  readonly openUntilMs: number;
}

/** Cards and looks of alerts that one channel may have in a minute, beside those in the thread of a shared card. */
export const ALERTS_A_MINUTE = 4;

/** Longer than the four hours after which Alertmanager repeats, and than a day of an alert that comes and goes. */
export const OPEN_MS = 25 * 3_600_000;
/** Of one group; one notification has at most 500. */
const MAX_SEEN = 1_000;
const MAX_NAME = 100;
const MAX_SUMMARY = 300;

/** The same for each notification of one alert, and another one when it fires anew. */
export const alertKey = ({ fingerprint, startsAtMs }: Pick<Alert, 'fingerprint' | 'startsAtMs'>): string =>
  sha256(`${fingerprint}\n${startsAtMs}`).slice(0, 16);

export const keysOf = ({ seen }: Pick<AlertCard, 'seen'>): readonly string[] => seen.flatMap((keys) => keys.split(' '));

const seenOf = (keys: readonly string[]): AlertCard['seen'] =>
  keys.length === 0 ? [] : [keys.slice(-MAX_SEEN).join(' ')];

/** The alerts that fire and that the card does not know. */
export const freshAlerts = (alerts: readonly Alert[], card: Pick<AlertCard, 'seen'> | undefined): readonly Alert[] => {
  const seen = new Set(card && keysOf(card));
  return alerts.filter((alert) => alert.isFiring && !seen.has(alertKey(alert)));
};

export interface CardParts {
  readonly source: string;
  /** Only the alerts that the policy asks for; at least one fires. */
  readonly notification: AlertNotification;
  /** The alert that the card is about. */
  readonly alert: Alert;
  readonly subject: string;
  readonly problem?: AlertCard['problem'];
  readonly skipped: number;
  /** Those of its alerts that it is told of afterwards. */
  readonly later: ReadonlySet<Alert>;
  readonly receivedAtMs: number;
  /** The policy's patterns of secrets. */
  readonly redact: readonly string[];
}

/** The card of a group's first notification. */
export function newAlertCard({ notification, alert, redact, receivedAtMs, later, ...rest }: CardParts): AlertCard {
  const { alerts, truncated } = notification;
  const { labels, annotations, links } = alert;
  const clean = (words: string | undefined, length: number): string | undefined => {
    const line = redactText(words?.replace(/\s+/g, ' ').trim() ?? '', redact);
    return line === '' ? undefined : shorten(line, length);
  };
  const firing = alerts.filter((one) => one.isFiring);
  const { problem, subject, ...known } = rest;
  const cleanSubject = (words: string): string => clean(words, MAX_NAME) ?? '';
  return {
    ...known,
    subject: cleanSubject(subject),
    ...defined({ problem: problem && { ...problem, subject: cleanSubject(problem.subject) } }),
    name: clean(labels.alertname, MAX_NAME) ?? 'Alert',
    ...defined({
      severity: clean(labels.severity, 30),
      summary: clean(annotations.summary ?? annotations.message ?? annotations.description, MAX_SUMMARY),
    }),
    links: linksOf(links, redact),
    sinceMs: Math.min(...firing.map(({ startsAtMs }) => startsAtMs)),
    times: 1,
    firing: firing.length + truncated,
    seen: seenOf(firing.filter((one) => !later.has(one)).map(alertKey)),
    version: 1,
    ...defined({ sentAtMs: notification.sentAtMs }),
    openUntilMs: receivedAtMs + OPEN_MS,
  };
}

/** The card of a node that is out of order: the cards of its pods' alerts are in its thread. */
export const newNodeCard = ({
  source,
  node,
  how,
  atMs,
}: {
  readonly source: string;
  /** As the cluster has it. */
  readonly node: string;
  readonly how: string;
  readonly atMs: number;
}): AlertCard => ({
  source,
  name: `Node ${how}`,
  subject: node,
  problem: { code: 'alert_of_dead_node', subject: node },
  ...sharedSince(atMs),
});

export interface StormPart {
  readonly source: string;
  /** As people call it. */
  readonly channel: string;
  /** The run of the card that joins. */
  readonly id: RunId;
  readonly atMs: number;
}

/** The card of more alerts than a channel's pace allows, with one more: their own cards are in its thread. The same card: it counts already. */
export function stormCard({ source, channel, id, atMs }: StormPart, before?: AlertCard): AlertCard {
  if (before && keysOf(before).includes(id)) return before;
  const since = before ?? { source, name: 'Many alerts at once', ...sharedSince(atMs), firing: 0, version: 0 };
  const firing = since.firing + 1;
  const minutes = Math.max(1, Math.ceil((atMs - since.sinceMs) / 60_000));
  return {
    ...since,
    subject: `${formatCount(firing, 'more alert')} in ${channel} within ${minutes === 1 ? 'a minute' : formatCount(minutes, 'minute')}`,
    problem: { code: 'alert_storm', subject: '' },
    firing,
    seen: seenOf([...keysOf(since), id]),
    version: since.version + 1,
  };
}

const sharedSince = (atMs: number) => ({
  links: {},
  sinceMs: atMs,
  ...{ times: 1, firing: 1, skipped: 0, seen: [], version: 1 },
  openUntilMs: atMs + OPEN_MS,
});

/** In characters of a message, with `&`, `<` and `>` escaped. Longer addresses would together leave no room for the words of the card. */
const MAX_LINK_WEIGHT = 1_200;

/** Drops a link that is no address, is too long, or has a secret: cut or redacted, it would lead elsewhere. */
function linksOf(links: AlertLinks, redact: readonly string[]): AlertLinks {
  const isShown = (url: string): boolean =>
    /^https?:\/\//.test(url) &&
    url.replaceAll(/[&<>]/g, '&amp;').length <= MAX_LINK_WEIGHT &&
    redactText(url, redact) === url;
  return Object.fromEntries(Object.entries(links).filter(([, url]) => isShown(url)));
}

/** The card after another notification of its group. The same card: nothing is new. */
export function updatedCard(
  card: AlertCard,
  { alerts, truncated, sentAtMs }: AlertNotification,
  { skipped, nowMs }: { readonly skipped: number; readonly nowMs: number },
): AlertCard {
  const firing = alerts.filter(({ isFiring }) => isFiring);
  const fresh = freshAlerts(firing, card);
  if (fresh.length === 0 && sentAtMs !== undefined && isNewer(card, sentAtMs)) return card;
  const isFiring = firing.length > 0;
  const begins = isFiring && card.resolvedAtMs !== undefined;
  const ends = !isFiring && endsNow(alerts, card, nowMs);
  if (!isFiring && !ends) return card;
  const count = firing.length === 0 ? 0 : firing.length + truncated;
  if (fresh.length === 0 && !begins && !ends && count === card.firing) return card;
  const { resolvedAtMs: _, ...open } = card;
  return {
    ...(isFiring ? open : card),
    ...(ends ? { resolvedAtMs: endOf(alerts, nowMs) } : {}),
    ...(begins ? { times: card.times + 1, sinceMs: Math.min(...firing.map(({ startsAtMs }) => startsAtMs)) } : {}),
    firing: count,
    skipped: card.skipped + skipped,
    seen: seenOf([...keysOf(card), ...fresh.map(alertKey)]),
    version: card.version + 1,
    ...defined({ sentAtMs }),
  };
}

const isNewer = (card: AlertCard, thanMs: number): boolean => (card.sentAtMs ?? 0) > thanMs;

/** An end from before this card began comes late, for example from the other one of a pair: it says nothing of now. */
const endsNow = (alerts: readonly Alert[], { resolvedAtMs, sinceMs }: AlertCard, nowMs: number): boolean =>
  resolvedAtMs === undefined && alerts.some(({ endsAtMs = nowMs }) => endsAtMs >= sinceMs);

/** Grafana and Alertmanager give the end of each alert; a time that has not come is none. */
function endOf(alerts: readonly Alert[], nowMs: number): number {
  const ends = alerts.flatMap(({ endsAtMs }) => (endsAtMs === undefined || endsAtMs > nowMs ? [] : [endsAtMs]));
  return ends.length === 0 ? nowMs : Math.max(...ends);
}
