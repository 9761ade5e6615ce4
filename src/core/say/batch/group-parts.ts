import { formatCount } from '../../../lib/duration.ts';
import { shorten } from '../../../lib/text.ts';
import { groupResults, type ResultGroup } from '../../batch/pod-result.ts';
import type { BatchRun } from '../../run/life-cycle.ts';
import { joined, line, table, type Words } from '../message/line.ts';
import { code, type Part, strong } from '../message/message.ts';
import { groupText, shownName } from './batch-facts.ts';
import { isComparison } from './compare-parts.ts';

/** The files have all groups. */
const MAX_GROUPS = 8;
/** All pods of a group up to this size are named as outliers. */
const MAX_OUTLIERS = 5;
/** Pods named of a larger group, unless it is the largest one. */
const MAX_EXAMPLES = 3;

/** The groups shown on a batch card. For a comparison, only groups whose inspection failed. */
export function shownGroups(run: BatchRun): readonly ResultGroup[] {
  const groups = groupResults(run.batch);
  return isComparison(run) ? groups.filter(({ state }) => state !== 'succeeded') : groups;
}

interface GroupView {
  /** The group that the message has described already. */
  readonly except?: ResultGroup | undefined;
}

/**
 * Equal results in one row each, the largest group first; the pods of small groups are named. Pods that succeeded
 * without a finding are only counted in the headline. The size is bounded for any number of pods and groups.
 */
export function groupsPart(groups: readonly ResultGroup[], { except }: GroupView): readonly Part[] {
  const [largest] = groups;
  const shown = groups.filter((group) => group !== except && !isPlain(group));
  if (shown.length === 0) return [];
  const rest = shown.slice(MAX_GROUPS);
  const others = rest.reduce((sum, { count }) => sum + count, 0);
  const rows = shown.slice(0, MAX_GROUPS).map((group) => rowOf(group, group === largest));
  const more = [strong(formatCount(others, 'pod')), `in ${formatCount(rest.length, 'other group')}`];
  return [table(['Pods', 'Result', 'Names'], rest.length === 0 ? rows : [...rows, more])];
}

const isPlain = ({ state, findings }: ResultGroup): boolean => state === 'succeeded' && findings.length === 0;

/** In characters: five verdicts in each of eight groups still fit one message. */
const MAX_VERDICT_LENGTH = 100;

function rowOf(group: ResultGroup, isLargest: boolean): readonly Words[] {
  const named = group.count <= MAX_OUTLIERS ? group.examples : isLargest ? [] : group.examples.slice(0, MAX_EXAMPLES);
  const left = group.count - named.length;
  const names = named.map(({ name, verdict }) => {
    const found = verdict !== undefined && ` (${shorten(verdict, MAX_VERDICT_LENGTH)})`;
    return line`${code(shownName(name))}${found}`;
  });
  const more = named.length > 0 && left > 0 && ` and ${left.toLocaleString('en-US')} more`;
  return [strong(formatCount(group.count, 'pod')), groupText(group), line`${joined(names)}${more}`];
}
