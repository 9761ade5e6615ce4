import type { Trouble } from './trouble.ts';

/** What somebody read. */
export interface Answered {
  /** The lines that are read first: at most two. */
  readonly head: readonly string[];
  /** All lines of ours: without the foreign lines that are quoted as evidence. */
  readonly lines: readonly string[];
  /** A green tick, or what it stands for. */
  readonly isWell: boolean;
  /** From the question until the head was as it is. */
  readonly seconds?: number;
}

export interface Judgement {
  readonly trouble: Trouble;
  /** Of a trouble: its cause is in the head. Of a control: it says what it must. */
  readonly isNamed: boolean;
  /** Of a trouble. */
  readonly isCalledWell: boolean;
  /** Lines that must not be there. */
  readonly falseLines: readonly string[];
  /** Lines that send the reader to what a reader of Slack does not have. */
  readonly sentAway: readonly string[];
  readonly seconds?: number;
}

const ELSEWHERE = /kubectl|\b(check|see|look at|read) (the|its) (pod.s )?events\b/i;
const WELL = /✅|no problems found|nothing is failing|\bis healthy\b/i;

export function judge(trouble: Trouble, { head, lines, isWell, seconds }: Answered): Judgement {
  const text = head.join('\n');
  const isTicked = !trouble.healthy || trouble.tick === 'either' || trouble.tick === isWell;
  const seemsWell = isWell || WELL.test(text);
  return {
    trouble,
    isNamed: trouble.says.every((pattern) => pattern.test(text)) && isTicked,
    isCalledWell: !trouble.healthy && seemsWell,
    falseLines: lines.filter((line) => trouble.never.some((pattern) => pattern.test(line))),
    sentAway: lines.filter((line) => ELSEWHERE.test(line)),
    ...(seconds !== undefined && { seconds }),
  };
}

/** One line for all: `troubles named 69 of 69, sick called well 0, …`; controls count where they are judged wrongly. */
export function summaryOf(judgements: readonly Judgement[]): string {
  const sick = judgements.filter(({ trouble }) => !trouble.healthy);
  const count = (holds: (judgement: Judgement) => boolean) => judgements.filter(holds).length;
  const seconds = sick.flatMap((one) => (one.isNamed ? (one.seconds ?? []) : [])).sort((a, b) => a - b);
  const median = seconds[Math.floor(seconds.length / 2)];
  return [
    `troubles named ${sick.filter(({ isNamed }) => isNamed).length} of ${sick.length}`,
    `sick called well ${count(({ isCalledWell }) => isCalledWell)}`,
    `false causes ${count(({ falseLines }) => falseLines.length > 0)}`,
    `sent to kubectl ${count(({ sentAway }) => sentAway.length > 0)}`,
    ...(median === undefined ? [] : [`median ${median.toFixed(1)} s`]),
  ].join(', ');
}
