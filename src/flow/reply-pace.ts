import type { Run } from '../core/run/run.ts';

/** Pauses between two looks at a running container, ever longer: nobody reads a tail that changes each second for long. */
const TAIL_EVERY_MS = [1_000, 2_000, 4_000, 8_000, 15_000];
/** While nothing moves by itself. */
const IDLE_MS = 60_000;
/** Pauses between tries while Slack does not take what must be said. */
const RETRY_MS = [1_000, 2_000, 5_000, 15_000, 30_000, 60_000];

/** How long to wait for news after the n-th look without any. */
export const lookAgainMs = ({ state }: Run, looks: number): number =>
  state === 'running' || state === 'collecting' ? step(TAIL_EVERY_MS, looks) : IDLE_MS;

/** How long to leave Slack alone after the n-th failure in a row. */
export const retryMs = (failures: number): number => step(RETRY_MS, failures - 1);

const step = (steps: readonly number[], index: number): number => steps[Math.min(index, steps.length - 1)] ?? 0;
