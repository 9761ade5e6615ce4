import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

/** What is measured and how long, from the command line. */
export interface BenchOptions {
  /** Rows to measure, by name. */
  readonly rows: readonly RowName[];
  /** The text of a real cluster's kubeconfig: then only the row of one run is measured, on it. */
  readonly kubeconfig: string | undefined;
  /** Where the rows are also written as JSON. */
  readonly json: string | undefined;
  /** Of each acknowledge load. */
  readonly seconds: number;
  readonly runs: number;
  readonly kubectlRuns: number;
  /** Runs against a kubelet with real delays. */
  readonly delayedRuns: number;
  readonly logBytes: number;
  /** How often each log is read by each side; the best counts. */
  readonly logReadings: number;
  /** Runs in flight when a replica is killed, and when one is told to go. */
  readonly flights: number;
  readonly drained: number;
  /** Sizes of the batches that are measured. */
  readonly batchPods: readonly number[];
  /** Pods of the batch whose containers take a second. */
  readonly heldPods: number;
  /** Hostile texts for each function whose growth is measured: pairs of what its expressions name, and longer chains. */
  readonly texts: { readonly pairs: number; readonly chains: number };
  /** Whether a target that is not met is a failure. */
  readonly strict: boolean;
}

export const ROW_NAMES = [
  'start',
  'acknowledge',
  'run',
  'log',
  'turns',
  'recovery',
  'batch',
  'crowd',
  'others',
  'growth',
] as const;
export type RowName = (typeof ROW_NAMES)[number];

const QUICK = {
  seconds: 5,
  runs: 20,
  kubectlRuns: 4,
  delayedRuns: 4,
  logBytes: 128 * 1024 ** 2,
  logReadings: 1,
  flights: 9,
  drained: 20,
  batchPods: [200],
  heldPods: 30,
  texts: { pairs: 8, chains: 3 },
};
const FULL = {
  seconds: 20,
  runs: 50,
  kubectlRuns: 15,
  delayedRuns: 15,
  logBytes: 1024 ** 3,
  logReadings: 2,
  flights: 30,
  drained: 100,
  batchPods: [1_000],
  heldPods: 100,
  texts: { pairs: 200, chains: 60 },
};

export const USAGE = `npm run bench -- [--quick] [--only start,acknowledge,run,log,turns,recovery,batch,crowd,others,growth] [--pods N] [--seconds N] [--runs N] [--kubeconfig FILE] [--json FILE] [--strict]
  --quick            about two minutes, with smaller numbers; default: about ten minutes
  --seconds N        of each acknowledge load (default 20)
  --runs N           sequential runs (default 50)
  --pods N           of the batch (default 1000; up to 10000)
  --kubeconfig FILE  measures one run on a real cluster, in a namespace of its own
  --json FILE        writes the rows there as well
  --strict           exits with 1 when a target is not met
  KUBECTL=PATH       another kubectl than the one on the PATH to compare with`;

/** @throws Error with the usage when an option is wrong */
export function readOptions(words: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...words],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      seconds: { type: 'string' },
      runs: { type: 'string' },
      pods: { type: 'string' },
      kubeconfig: { type: 'string' },
      json: { type: 'string' },
      strict: { type: 'boolean', default: false },
    },
  });
  const sizes = values.quick ? QUICK : FULL;
  const onReal = values.kubeconfig !== undefined;
  return {
    ...sizes,
    rows: onReal ? ['run'] : rowsOf(values.only),
    kubeconfig: onReal ? readFileSync(values.kubeconfig ?? '', 'utf8') : undefined,
    json: values.json,
    strict: values.strict,
    batchPods: values.pods === undefined ? sizes.batchPods : [count(values.pods, 1, 10_000)],
    seconds: count(values.seconds, sizes.seconds),
    runs: count(values.runs, onReal ? sizes.kubectlRuns : sizes.runs),
  };
}

function count(word: string | undefined, fallback: number, most = 1_000): number {
  const value = word === undefined ? fallback : Number(word);
  if (!Number.isInteger(value) || value < 1 || value > most) throw new Error(`not a number from 1 to ${most}: ${word}`);
  return value;
}

function rowsOf(only: string | undefined): readonly RowName[] {
  if (only === undefined) return ROW_NAMES;
  const asked = only.split(',');
  const unknown = asked.find((name) => !ROW_NAMES.some((row) => row === name));
  if (unknown !== undefined) throw new Error(`no row is called ${unknown}; there are ${ROW_NAMES.join(', ')}`);
  return ROW_NAMES.filter((row) => asked.includes(row));
}
