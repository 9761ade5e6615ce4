import { formatCount } from '../../../lib/duration.ts';
import { groupOfPod, outliersOf, resultOfPod, withoutOutput } from '../../batch/pod-result.ts';
import type { BatchRun } from '../../run/life-cycle.ts';
import { message, note, paragraph, table } from '../message/line.ts';
import { code, type Message, strong } from '../message/message.ts';
import { groupText, shownName } from './batch-facts.ts';

/** Rows of the table; the file has all pods. */
const MAX_ROWS = 40;

/**
 * The pods of a batch whose result differs from that of most others, each with its reason. `isHidden`: show nothing that a container wrote.
 */
export function outliersMessage({ id, batch: given }: BatchRun, isHidden: boolean): Message {
  const batch = isHidden ? withoutOutput(given) : given;
  const { pods, most } = outliersOf(batch);
  const isEqual = pods.length === 0;
  const equal = most ? ` ${countText(most.count, isEqual)}: ${groupText(most)}.` : '';
  const headline = isEqual ? 'All pods have the same result' : `${formatCount(pods.length, 'pod')} ended differently`;
  const rows = pods.slice(0, MAX_ROWS).map((pod) => {
    const result = resultOfPod(pod.results);
    return [code(shownName(pod.name)), groupText(groupOfPod(batch, pod)), result?.message];
  });
  const left = pods.length - rows.length;
  return message({ tone: 'neutral' }, [
    paragraph`${strong(`${headline}.`)}${equal}`,
    rows.length > 0 && table(['Pod', 'Result', 'What it says'], rows),
    note`${left > 0 && `${formatCount(left, 'more pod')}: see the files of the batch · `}batch ${id}`,
  ]);
}

const countText = (count: number, isEqual: boolean): string =>
  isEqual ? formatCount(count, 'pod') : count === 1 ? 'The other pod' : `The other ${formatCount(count, 'pod')}`;
