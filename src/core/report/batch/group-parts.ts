import type { ResultGroup } from '../../batch/group-results.ts';
import { formatCount } from '../duration.ts';
import { code, type Part, type Span, strong, text } from '../message.ts';
import { shorten } from '../shorten.ts';
import { groupText, shownName } from './batch-text.ts';

/** Groups that a message shows; the files have all. */
const SHOWN_GROUPS = 8;
/** A group of at most this many is an outlier: all its pods are named. */
const OUTLIERS = 5;
/** Pods that a larger group names, unless it is the largest. */
const EXAMPLES = 3;

/**
 * Equal results in one line each, the largest first; the pods of small groups are named. In size bounded however many pods
 * and groups there are. `isPrivate`: nothing that a container wrote is shown.
 */
export function groupsPart(groups: readonly ResultGroup[], isPrivate = false): readonly Part[] {
  if (groups.length === 0) return [];
  const rest = groups.slice(SHOWN_GROUPS);
  const others = rest.reduce((sum, { count }) => sum + count, 0);
  const items: readonly (readonly Span[])[] = groups
    .slice(0, SHOWN_GROUPS)
    .map((group, at) => lineOf(group, at === 0, isPrivate));
  const more: readonly (readonly Span[])[] =
    rest.length === 0
      ? []
      : [[text(`${formatCount(others, 'pod')} more in ${formatCount(rest.length, 'other group')}: see the file`)]];
  return [{ kind: 'list', items: [...items, ...more] }];
}

/** In characters: five of them in each of eight groups are still one message. */
const LONGEST_VERDICT = 100;

function lineOf(group: ResultGroup, isLargest: boolean, isPrivate: boolean): readonly Span[] {
  const named = group.count <= OUTLIERS ? group.examples : isLargest ? [] : group.examples.slice(0, EXAMPLES);
  const left = group.count - named.length;
  return [
    strong(formatCount(group.count, 'pod')),
    text(` ${groupText(group)}`),
    ...named.flatMap(({ name, verdict }, index) => [
      text(index === 0 ? ' · ' : ' '),
      code(shownName(name)),
      ...(verdict === undefined || isPrivate ? [] : [text(` (${shorten(verdict, LONGEST_VERDICT)})`)]),
    ]),
    ...(named.length > 0 && left > 0 ? [text(` and ${left} more`)] : []),
  ];
}
