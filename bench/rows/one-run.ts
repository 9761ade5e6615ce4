import { atLeast, atMost, median, ms, type Row, shown, spreadOf, times } from '../figures.ts';
import { kubectlVersion } from '../kubectl.ts';
import type { BenchOptions } from '../options.ts';
import { type Series, type Timed, timeRuns } from '../runs.ts';
import { localScene, realScene, type Scene } from '../scene.ts';

/** Ephemeral containers stay in their pod for ever and make it larger: a few in each. */
const RUNS_OF_A_POD = 5;
const RATIO_LIMIT = 10;
const ADDED_LIMIT_MS = 40;
const CALLS_LIMIT = 2.05;
const SLACK_CALLS_LIMIT = 3;
const REAL_CPU_LIMIT_MS = 10;

/** A command until the last word about it stands in the thread, beside the shell loop on the same API server. */
export async function* oneRun(options: BenchOptions): AsyncGenerator<Row> {
  const kubectlRuns = (await kubectlVersion()) === undefined ? 0 : options.kubectlRuns;
  if (options.kubeconfig !== undefined) {
    const { runs, kubeconfig } = options;
    yield realRow(
      await onScene(() => realScene(kubeconfig, 1 + runs / RUNS_OF_A_POD), { runs, kubectlRuns, mostPauseMs: 1_000 }),
    );
    return;
  }
  const { runs, delayedRuns } = options;
  const pods = 1 + runs / RUNS_OF_A_POD;
  yield quickRow(await onScene(() => localScene(0, pods), { runs, kubectlRuns, mostPauseMs: 0 }));
  yield delayedRow(
    await onScene(() => localScene(1_000, pods), { runs: delayedRuns, kubectlRuns: 0, mostPauseMs: 1_000 }),
  );
}

async function onScene(open: () => Promise<Scene>, options: Parameters<typeof timeRuns>[1]): Promise<Series> {
  const scene = await open();
  try {
    return await timeRuns(scene, options);
  } finally {
    await scene.close();
  }
}

const spreadText = (values: readonly number[]): string => {
  const { count, p50, p99, max } = spreadOf(values);
  return `p50 ${ms(p50)}, p99 ${ms(p99)}, max ${ms(max)} (${count} runs)`;
};
const totalsOf = (runs: readonly Timed[]): readonly number[] => runs.map((run) => run.ms);
const addedOf = (runs: readonly Timed[]): readonly number[] => runs.map((run) => run.ms - run.clusterMs);
/** By the kernel's ticks only the mean of many says anything. */
const cpuOf = (runs: readonly Timed[]): number => runs.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / runs.length;
const callsText = (calls: number | undefined): string => (calls === undefined ? 'not counted' : shown(calls));

function quickRow({ own, kubectl, ...calls }: Series): Row {
  const ratio = median(totalsOf(kubectl)) / median(totalsOf(own));
  return {
    name: 'one run, no kubelet delay',
    figures: {
      kdebug: `${spreadText(totalsOf(own))}, ${ms(cpuOf(own))} CPU`,
      ...(kubectl.length > 0 && {
        'debug; wait; logs': `${spreadText(totalsOf(kubectl))}, ${ms(cpuOf(kubectl))} CPU`,
        'kubectl / kdebug': times(ratio),
      }),
      'API calls a run': `kdebug ${callsText(calls.ownCalls)} (and ${callsText(calls.sharedCalls)} once), kubectl ${callsText(calls.kubectlCalls)}`,
      'Slack calls a run': `${shown(calls.slackCalls)} (and ${shown(calls.slackLookups)} for channels it had not seen)`,
    },
    targets: [
      { text: `≥ ${RATIO_LIMIT} × faster than kubectl`, met: atLeast(ratio, RATIO_LIMIT) },
      { text: `API calls ≤ ${CALLS_LIMIT}`, met: atMost(calls.ownCalls ?? Number.NaN, CALLS_LIMIT) },
      { text: `Slack calls ≤ ${SLACK_CALLS_LIMIT}`, met: atMost(calls.slackCalls, SLACK_CALLS_LIMIT) },
    ],
  };
}

function delayedRow({ own }: Series): Row {
  const added = spreadOf(addedOf(own));
  return {
    name: 'one run, kubelet of 1 s at a random phase',
    figures: {
      kdebug: spreadText(totalsOf(own)),
      "added to the kubelet's own time": spreadText(addedOf(own)),
    },
    targets: [{ text: `added p99 ≤ ${ADDED_LIMIT_MS} ms`, met: atMost(added.p99, ADDED_LIMIT_MS) }],
  };
}

function realRow({ own, kubectl, slackCalls }: Series): Row {
  const added = median(addedOf(own));
  return {
    name: 'one run on a real cluster',
    figures: {
      kdebug: `${spreadText(totalsOf(own))}, ${ms(cpuOf(own))} CPU`,
      "added to the kubelet's own time": spreadText(addedOf(own)),
      ...(kubectl.length > 0 && {
        'debug; wait; logs': `${spreadText(totalsOf(kubectl))}, ${ms(cpuOf(kubectl))} CPU`,
        'kubectl added': spreadText(addedOf(kubectl)),
        'kubectl / kdebug': `${times(median(totalsOf(kubectl)) / median(totalsOf(own)))} time, ${times(cpuOf(kubectl) / cpuOf(own))} CPU`,
      }),
      'Slack calls a run': shown(slackCalls),
    },
    targets: [
      { text: `added ≤ ${ADDED_LIMIT_MS} ms (median)`, met: atMost(added, ADDED_LIMIT_MS) },
      { text: `client CPU ≤ ${REAL_CPU_LIMIT_MS} ms a run`, met: atMost(cpuOf(own), REAL_CPU_LIMIT_MS) },
    ],
  };
}
