import { type Batched, runBatch } from '../batches.ts';
import { atLeast, atMost, mib, ms, type Row, shown, times } from '../figures.ts';
import { type KubectlLoops, timeLoops } from '../kubectl-loops.ts';
import type { BenchOptions } from '../options.ts';

/** The most that a batch may have in flight (the proposal's own bound). */
const PARALLELISM = 10;
const CPU_LIMIT_MS = 1.5;
const RSS_LIMIT = 300 * 1024 ** 2;
const SLACK_LIMIT = 60;
const CALLS_LIMIT = 2.05;
const EFFICIENCY_LIMIT = 0.93;
/** A gap may be as long as a launch takes. */
const GAP_LIMIT_MS = 50;
const QPS = 100;
const REJECTED_LIMIT = 0.02;
const USED_LIMIT = 0.9;

/** Wall-time limits of design.md section 10, by how many pods. */
const WALL_LIMIT_MS: Readonly<Record<number, number>> = { 1000: 3_000, 10000: 20_000 };

/** B4, B4b, B4c: one command over many pods, beside the loops that people write. */
export async function* batch({ batchPods, kubectlRuns, heldPods }: BenchOptions): AsyncGenerator<Row> {
  const loops = await timeLoops(kubectlRuns);
  for (const pods of batchPods) yield fanOutRow(await runBatch({ pods, parallelism: PARALLELISM }), loops);
  yield widthRow(await runBatch({ pods: heldPods, parallelism: PARALLELISM, seconds: 1 }));
  yield busyRow(await runBatch({ pods: heldPods * 10, parallelism: PARALLELISM, qps: QPS }));
}

function fanOutRow(measured: Batched, loops: KubectlLoops | undefined): Row {
  const { pods, wallMs, cpuMs, rssBytes, calls, slackCalls } = measured;
  const [sequential, parallel] = [loops?.sequentialMs ?? Number.NaN, loops?.parallelMs ?? Number.NaN];
  const limitMs = WALL_LIMIT_MS[pods];
  return {
    name: `${pods.toLocaleString('en-US')} pods, ${PARALLELISM} in flight, no kubelet delay`,
    figures: {
      kdebug: `${ms(wallMs)} to the last file, ${ms(cpuMs / pods)} CPU a run, ${mib(rssBytes)} at most`,
      ...(loops && {
        'debug; wait; logs, one after another': `${ms(sequential * pods)} (of ${loops.runs} runs, in proportion)`,
        'the same by xargs -P8': `${ms(parallel * pods)} (of ${loops.runs} runs, in proportion)`,
        'kubectl / kdebug': `${times((sequential * pods) / wallMs)}, xargs ${times((parallel * pods) / wallMs)}`,
      }),
      'API calls a pod': shown(calls / pods),
      'Slack calls in all': `${slackCalls}`,
    },
    targets: [
      ...(limitMs === undefined ? [] : [{ text: `≤ ${ms(limitMs)}`, met: atMost(wallMs, limitMs) }]),
      { text: '≥ 100 × the loop', met: atLeast((sequential * pods) / wallMs, 100) },
      { text: '≥ 35 × xargs -P8', met: atLeast((parallel * pods) / wallMs, 35) },
      { text: `CPU ≤ ${ms(CPU_LIMIT_MS)} a run`, met: atMost(cpuMs / pods, CPU_LIMIT_MS) },
      { text: `memory ≤ ${mib(RSS_LIMIT)}`, met: atMost(rssBytes, RSS_LIMIT) },
      { text: `API calls ≤ ${CALLS_LIMIT} a pod`, met: atMost(calls / pods, CALLS_LIMIT) },
      { text: `Slack calls ≤ ${SLACK_LIMIT}`, met: atMost(slackCalls, SLACK_LIMIT) },
    ],
  };
}

function widthRow({ pods, workMs, peak, gapMs }: Batched): Row {
  const efficiency = (Math.ceil(pods / PARALLELISM) * 1_000) / workMs;
  return {
    name: `${pods} pods, containers of 1 s, ${PARALLELISM} in flight`,
    figures: {
      efficiency: `${shown(efficiency)} (⌈pods / parallelism⌉ × 1 s / time from the first launch to the last end)`,
      'in flight': `at most ${peak}; fewer than could be for ${ms(gapMs)} at a time`,
    },
    targets: [
      { text: `efficiency ≥ ${EFFICIENCY_LIMIT}`, met: atLeast(efficiency, EFFICIENCY_LIMIT) },
      { text: `in flight never above ${PARALLELISM}`, met: atMost(peak, PARALLELISM) },
      { text: `never below min(parallelism, left) for > ${GAP_LIMIT_MS} ms`, met: atMost(gapMs, GAP_LIMIT_MS) },
    ],
  };
}

function busyRow({ pods, succeeded, workMs, calls, rejectedLate, callsLate }: Batched): Row {
  const used = calls / (workMs / 1_000) / QPS;
  return {
    name: `${pods} pods, the API server takes ${QPS} requests a second and answers 429 to the rest`,
    figures: {
      'came to their end': `${succeeded} of ${pods}`,
      'calls a second': `${shown((calls * 1_000) / workMs)} of ${QPS}`,
      'refused after the first 5 s': `${rejectedLate} of ${callsLate}`,
    },
    targets: [
      { text: 'all succeed', met: succeeded === pods },
      { text: `≥ ${USED_LIMIT * 100} % of what is allowed is used`, met: atLeast(used, USED_LIMIT) },
      {
        text: `≤ ${REJECTED_LIMIT * 100} % refused after 5 s`,
        met: atMost(rejectedLate / callsLate, REJECTED_LIMIT),
      },
    ],
  };
}
