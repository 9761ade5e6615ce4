import { formatCount } from '../../../lib/duration.ts';
import { groupOfPod, outliersOf, resultOfPod, withoutOutput } from '../../batch/pod-result.ts';
import type { BatchRun } from '../../run/life-cycle.ts';
import { code, type Message, type Part, strong, text } from '../message/message.ts';
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
    const message = resultOfPod(pod.results)?.message;
    return [[code(shownName(pod.name))], [text(groupText(groupOfPod(batch, pod)))], [text(message ?? '')]];
  });
  const left = pods.length - rows.length;
  const table: Part = {
    kind: 'table',
    columns: [{ label: 'Pod' }, { label: 'Result' }, { label: 'What it says' }],
    rows,
  };
  const more = left === 0 ? '' : `${formatCount(left, 'more pod')}: see the files of the batch · `;
  return {
    summary: `${headline}.${equal}`,
    tone: 'neutral',
    parts: [
      { kind: 'paragraph', spans: [strong(`${headline}.`), text(equal)] },
      ...(rows.length === 0 ? [] : [table]),
      { kind: 'note', spans: [text(`${more}batch ${id}`)] },
    ],
  };
}

const countText = (count: number, isEqual: boolean): string =>
  isEqual ? formatCount(count, 'pod') : count === 1 ? 'The other pod' : `The other ${formatCount(count, 'pod')}`;
