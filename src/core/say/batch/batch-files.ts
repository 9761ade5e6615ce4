import { formatCount } from '../../../lib/duration.ts';
import type { Batch, BatchPod, PodResult } from '../../batch/batch.ts';
import { runIdOf } from '../../batch/new-batch.ts';
import { resultOfPod } from '../../batch/pod-result.ts';
import {
  type Counts,
  columnsOf,
  countPods,
  REASON_OF_SKIP,
  skipReasonOf,
  stateOf,
  statusOf,
} from '../../batch/pod-state.ts';
import { containerName } from '../../container/build.ts';
import { REASONS } from '../../errors.ts';
import { cleanText } from '../../redact/clean-text.ts';
import type { BatchRun } from '../../run/life-cycle.ts';
import { comparisonText } from './compare-parts.ts';

/** Writes the files of a batch as pieces of text, so that the caller can stream them and no file is whole in memory. */

export type BatchFile = 'txt' | 'csv' | 'files';

/** `files`: the archive of what the pods brought back, with a folder a pod. */
export const batchFileName = ({ id }: Pick<BatchRun, 'id'>, kind: BatchFile): string =>
  kind === 'files' ? `kdebug-${id}-files.tar.gz` : `kdebug-batch-${id}.${kind}`;

/** The folder of one container's files in the archive: its pod, and its number where the pod got several. */
export function folderOf({ batch }: BatchRun, index: number, container: number): string {
  const pod = batch.pods[index];
  const isOneOfMany = (batch.variants[pod?.variant ?? -1]?.length ?? 1) > 1;
  return `${pod?.name ?? index}${isOneOfMany ? `/container-${container + 1}` : ''}`;
}

/** Files of all containers: in the archive, and missing. */
export function countFiles({ pods }: Batch): { readonly whole: number; readonly missing: number } {
  const results = pods.flatMap(({ results: each = [] }) => each.filter((result) => result !== null));
  return {
    whole: results.reduce((sum, { files = 0 }) => sum + files, 0),
    missing: results.reduce((sum, { filesMissing = 0 }) => sum + filesMissing, 0),
  };
}

/** Always one line: text from a cluster or a person must not start a line or a section of its own. */
const line = (text: string): string => cleanText(text).replace(/\s+/g, ' ').trim();

/**
 * The start of the text file: the command, the counts, and an index with one line per pod. The logs follow, each under
 * its `podHead`. `lostBy`: the code of the failure that lost some of the logs.
 */
export function* indexText(run: BatchRun, lostBy?: string): Generator<string> {
  const { id, batch, plan, commandLine, origin } = run;
  const counts = countPods(batch);
  yield `Batch ${id}: ${statusOf(batch, counts)}\n`;
  yield `Command ${line(commandLine)}\n`;
  yield `Cluster ${line(plan.cluster)}, namespace ${plan.namespace}, requested by ${origin.requesterId}\n`;
  yield `${countsLine(counts)}\n\n`;
  yield* comparisonText(run);
  if (lostBy !== undefined) yield `Some logs are missing (${lostBy}): the logs after the index end early.\n\n`;
  yield `${INDEX_TITLES.join('\t')}\n`;
  for (const pod of batch.pods) yield `${indexLine(batch, pod)}\n`;
  yield '\n';
}

const INDEX_TITLES = ['No', 'Pod', 'Node', 'State', 'Exit code', 'Reason', 'Findings', 'Message'] as const;

function countsLine(counts: Counts): string {
  const { match, succeed, failed, running, waiting } = columnsOf(counts);
  return `match ${match}, succeeded ${succeed}, failed ${failed}, running ${running}, waiting ${waiting}, skipped ${counts.skipped}, cancelled ${counts.cancelled}`;
}

function indexLine(batch: Batch, pod: BatchPod): string {
  const { exitCode, findings, message } = resultOfPod(pod.results) ?? {};
  const cells = [
    pod.index + 1,
    pod.name,
    pod.node,
    stateOf(batch, pod),
    exitCode,
    reasonOf(batch, pod),
    findings?.join(','),
    message,
  ];
  return cells.map((cell) => (cell === undefined || cell === '' ? '-' : line(String(cell)))).join('\t');
}

/** The reason of the result, or why the pod was skipped. */
function reasonOf(batch: Batch, pod: BatchPod): string | undefined {
  return skipReasonOf(batch, pod) ?? resultOfPod(pod.results)?.reason;
}

/** The files that one container of a batch brought back. */
export interface PodFiles {
  readonly whole: number;
  readonly missing: readonly string[];
}

const fileWords = ({ whole, missing }: PodFiles = { whole: 0, missing: [] }): readonly string[] => [
  ...(whole === 0 ? [] : [formatCount(whole, 'file')]),
  ...(missing.length === 0 ? [] : [`no ${missing.join(', no ')}`]),
];

/**
 * The head of one container's log. It gives the number of log bytes that follow, so that a line of a log that looks
 * like a head cannot pass for one.
 */
export function podHead(
  { id, batch, plan }: BatchRun,
  index: number,
  log: {
    readonly container?: number;
    readonly bytes: number;
    readonly leftOut?: boolean;
    /** The doubt about the log, if the container's result does not state it yet. */
    readonly doubt?: string | undefined;
    /** Files in the archive, and the others with the reason: `cpu.svg (some of it did not arrive)`. */
    readonly files?: PodFiles;
  },
): string {
  const pod = batch.pods[index];
  if (!pod) return '';
  const { container = 0, bytes, leftOut = false } = log;
  const result = pod.results?.[container];
  const doubt = log.doubt ?? result?.logDoubt;
  // With several containers, the state of the pod may not be final yet.
  const isOneOfMany = (pod.results?.length ?? 1) > 1;
  const words = [
    `${pod.index + 1} ${plan.namespace}/${pod.name}`,
    ...(isOneOfMany ? [`container ${container + 1}`] : []),
    (isOneOfMany && result?.outcome) || stateOf(batch, pod),
    ...(result?.exitCode === undefined ? [] : [`exit code ${result.exitCode}`]),
    ...(result?.reason === undefined ? [] : [result.reason]),
    `run ${runIdOf(id, pod.uid, container)}`,
    ...(doubt === undefined ? [] : [`log ${doubt}`]),
    ...fileWords(log.files),
    leftOut ? 'its log is left out: this file is full' : `${bytes} bytes of log follow`,
  ];
  const message = result?.message === undefined ? '' : `message: ${line(result.message)}\n`;
  return `===== ${words.map(line).join(' | ')}\n${message}`;
}

interface Row {
  readonly index: number;
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  readonly node: string;
  readonly state: string;
  readonly outcome: string;
  readonly exitCode: number | null;
  readonly reason: string;
  readonly message: string;
  readonly findings: readonly string[];
  readonly logBytes: number | null;
  readonly logDoubt: string;
  readonly container: string;
  readonly launchedAt: string;
  readonly startedAt: string;
  readonly endedAt: string;
}

/** One row per container, and one for a pod that got none. */
function rowsOf({ id, batch, plan }: BatchRun, pod: BatchPod): readonly Row[] {
  const results: readonly (PodResult | null)[] = pod.results ?? [null];
  return results.map((result, container) => ({
    index: pod.index + 1,
    namespace: plan.namespace,
    pod: pod.name,
    uid: pod.uid,
    node: pod.node,
    state: stateOf(batch, pod),
    outcome: result?.outcome ?? '',
    exitCode: result?.exitCode ?? null,
    reason: result?.reason ?? skipReasonOf(batch, pod) ?? '',
    message: result?.message ?? skipWords(batch, pod),
    findings: result?.findings ?? [],
    logBytes: result?.logBytes ?? null,
    logDoubt: result?.logDoubt ?? '',
    container: result ? containerName(runIdOf(id, pod.uid, container), pod.uid) : '',
    launchedAt: timestamp(pod.launchedAtMs),
    startedAt: timestamp(pod.startedAtMs),
    endedAt: timestamp(pod.endedAtMs),
  }));
}

function skipWords(batch: Batch, pod: BatchPod): string {
  const reason = skipReasonOf(batch, pod);
  return reason ? REASONS[REASON_OF_SKIP[reason]].title : '';
}

const timestamp = (ms: number | undefined): string => (ms === undefined ? '' : new Date(ms).toISOString());

const COLUMNS = [
  'index',
  'namespace',
  'pod',
  'uid',
  'node',
  'state',
  'outcome',
  'exitCode',
  'reason',
  'message',
  'findings',
  'logBytes',
  'logDoubt',
  'container',
  'launchedAt',
  'startedAt',
  'endedAt',
] as const satisfies readonly (keyof Row)[];

/** The outcomes as CSV (RFC 4180) in UTF-8, one row per container. */
export function* csvText(run: BatchRun): Generator<string> {
  yield `${COLUMNS.join(',')}\r\n`;
  for (const pod of run.batch.pods) {
    for (const row of rowsOf(run, pod)) yield `${COLUMNS.map((column) => cell(row[column])).join(',')}\r\n`;
  }
}

/**
 * Prevents formulas: a text that begins like one (OWASP, "CSV Injection": `= + - @`, tab, return) gets an apostrophe in
 * front. Numbers, also negative ones, stay numbers.
 */
function cell(value: Row[keyof Row]): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = typeof value === 'string' ? line(value) : value.map(line).join(' ');
  const harmless = /^[=+\-@\t\r＝＋－＠]/.test(text) ? `'${text}` : text;
  return /[",\r\n;']/.test(harmless) || harmless !== text ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
