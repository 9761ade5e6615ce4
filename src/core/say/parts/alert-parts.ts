import { formatCount, formatDuration } from '../../../lib/duration.ts';
import type { AlertCard } from '../../alert/card.ts';
import type { Run } from '../../run/run.ts';
import { dotted, line, note, paragraph, type Shown } from '../message/line.ts';
import { code, type Span, shortTime, strong, webLink } from '../message/message.ts';
import { causeBefore, oneLine, shortName } from './headline.ts';
import type { CardHead } from './run-lines.ts';

/** `*KubePodCrashLooping* · critical · firing since 12:41`: what people look for when they know the alert. */
export const alertLine = ({ alert }: Run, nowMs: number): Shown =>
  alert && paragraph`${dotted([strong(alert.name), alert.severity, stateOf(alert, nowMs)])}`;

/**
 * The words for a lock screen. An alert without a pod has its name for a subject. While a look goes on and nothing is known
 * to be wrong, the alert comes first: Slack tells nobody of the answer that replaces these words.
 */
export function alertWords(
  { alert, state }: Run,
  subject: string,
  { headline, tone }: Pick<CardHead, 'headline' | 'tone'>,
): readonly Span[] | undefined {
  if (!alert) return undefined;
  const { name, severity } = alert;
  if (tone === 'progress' && state !== 'received')
    return line`${shortName(name)}${severity !== undefined && ` ${severity}`}: ${shortName(subject)}: looking inside; nothing wrong seen from outside yet`;
  const names = [subject, name, severity].filter((one) => one !== undefined);
  return line`${causeBefore([...new Set(names)], headline)}`;
}

function stateOf(alert: AlertCard, nowMs: number): readonly Span[] {
  const { sinceMs, resolvedAtMs, times, firing } = alert;
  const often = times > 1 ? ` for the ${ordinal(times)} time` : '';
  if (resolvedAtMs !== undefined) return line`resolved after ${formatDuration(resolvedAtMs - sinceMs)}${often}`;
  const several = firing > 1 && `${formatCount(firing, 'alert')}, `;
  return line`${several}firing${often}, since ${shortTime(sinceMs, nowMs)}`;
}

const ordinal = (count: number): string => {
  const last = count % 100 > 10 && count % 100 < 14 ? 0 : count % 10;
  return `${count}${['th', 'st', 'nd', 'rd'][last] ?? 'th'}`;
};

/** A pod in the place of a gone one, pods beyond the limit, then the alert's own words and links: foreign, so below the answer. */
export function alertDetails({ alert, request: { target }, plan }: Run): Shown {
  if (!alert) return [];
  const { summary, links, skipped } = alert;
  const goneName = target.kind === 'pod' && plan && plan.podName !== target.name ? target.name : undefined;
  return [
    goneName !== undefined &&
      paragraph`${code(goneName)} of this alert is gone; ${code(plan?.podName ?? '')} is in its place, and not ready.`,
    skipped > 0 &&
      paragraph`${formatCount(skipped, 'more pod')} of this alert ${skipped === 1 ? 'was' : 'were'} not looked at: that would be too many at once.`,
    note`${dotted([
      summary !== undefined && oneLine(summary),
      webLink(links.runbook, 'Runbook'),
      webLink(links.dashboard, 'Dashboard'),
      webLink(links.source, 'Rule'),
      webLink(links.silence, 'Silence'),
    ])}`,
  ];
}
