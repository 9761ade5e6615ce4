import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atLeast, atMost, mib, type Row, shown, times } from '../figures.ts';
import { kubectlVersion, readLog } from '../kubectl.ts';
import type { BenchOptions } from '../options.ts';
import { contextOf } from '../policy.ts';
import type { LogReading } from '../workers/log-reader.ts';
import type { LogToWrite } from '../workers/log-server.ts';
import { runWorker, startWorker } from '../workers/worker.ts';

const SPEED_LIMIT = 150;
const MEMORY_LIMIT_BYTES = 64 * 1024 ** 2;
const LOOP_LIMIT_MS = 50;
const SMALL_BYTES = 10 * 1024 ** 2;
const NUMBER_BYTES = 8;
const FILE_BYTES = 24 * 1024 ** 2;
const WORDS = ' level=info msg="request served" method=GET path=/cart/items/4711 status=200 duration_ms=12 trace=7f3a';

/** So many bytes of ordinary text. */
const textOf = (bytes: number): string => WORDS.repeat(Math.ceil(bytes / WORDS.length)).slice(0, bytes);

const SHAPES = [
  { name: 'lines of 100 bytes', bytes: 100, end: '\n' },
  { name: 'lines of 8 KiB', bytes: 8 * 1024, end: '\n' },
  { name: 'one line', bytes: 8 * 1024, end: '' },
] as const;
type Shape = (typeof SHAPES)[number];

const logOf = (pod: string, shape: Shape, bytes: number): LogToWrite => ({
  pod,
  text: textOf(shape.bytes - NUMBER_BYTES - shape.end.length) + shape.end,
  repetitions: Math.floor(bytes / shape.bytes),
});

/**
 * A finished container's log, read as production reads it (filter, excerpt, spool with SHA-256), in a process of its own, beside
 * `kubectl logs` into nothing from the same server. The best of some readings each.
 */
export async function* logDrain(options: BenchOptions): AsyncGenerator<Row> {
  const withKubectl = (await kubectlVersion()) !== undefined;
  for (const shape of SHAPES) yield await drain(shape, options, withKubectl);
  for (const name of ['capture.pcap', 'threads.txt']) yield await fileRow(name, options);
}

async function drain(shape: Shape, { logBytes, logReadings }: BenchOptions, withKubectl: boolean): Promise<Row> {
  const logs = [logOf('small', shape, SMALL_BYTES), logOf('large', shape, logBytes)];
  const server = await startWorker('log-server', { logs });
  const directory = mkdtempSync(join(tmpdir(), 'kdebug-bench-'));
  try {
    const { kubeconfig } = server.result;
    const kubeconfigPath = join(directory, 'kubeconfig');
    writeFileSync(kubeconfigPath, kubeconfig, { mode: 0o600 });
    const place = { kubeconfigPath, cacheDirectory: join(directory, 'cache'), namespace: 'default' };
    const read = (pod: string): Promise<LogReading> =>
      runWorker('log-reader', { kubeconfigPath, context: contextOf(kubeconfig), pod });
    const small = await read('small');
    const own: LogReading[] = [];
    const kubectlMs: number[] = [];
    if (withKubectl) await readLog(place, 'small');
    for (let reading = 0; reading < logReadings; reading += 1) {
      own.push(await read('large'));
      if (withKubectl) kubectlMs.push(await readLog(place, 'large'));
    }
    return rowOf({ shape, small, own, kubectlMs, expectedBytes: bytesOf(logs[1]) });
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A file that an image hands back through its log: base64, hash, and redaction of a text. The best of some readings. */
async function fileRow(name: string, { logReadings }: BenchOptions): Promise<Row> {
  const readings: LogReading[] = [];
  for (let reading = 0; reading < logReadings; reading += 1)
    readings.push(await runWorker('file-reader', { name, bytes: FILE_BYTES }));
  const msTaken = Math.min(...readings.map(({ ms }) => ms));
  const delay = Math.max(...readings.map(({ loopDelayP99Ms }) => loopDelayP99Ms));
  const grown = Math.max(...readings.map(({ rssPeak, rssBefore }) => rssPeak - rssBefore));
  const isEqual = readings.every(({ complete }) => complete);
  return {
    name: `file through the log, ${name} of ${mib(FILE_BYTES)}`,
    figures: {
      kdebug: `${shown(msTaken / 1000, 's')}, ${shown(megabytesPerSecond(FILE_BYTES, msTaken), 'MB/s')}, equal: ${isEqual ? 'yes' : 'NO'}`,
      'memory over before': mib(grown),
      'event loop delay': `p99 ${shown(delay, 'ms')}`,
    },
    targets: [
      { text: 'equal, within 1 s', met: isEqual && msTaken <= 1_000 },
      { text: `memory ≤ ${mib(MEMORY_LIMIT_BYTES)} more than before`, met: atMost(grown, MEMORY_LIMIT_BYTES) },
      { text: `event loop delay p99 ≤ ${LOOP_LIMIT_MS} ms`, met: atMost(delay, LOOP_LIMIT_MS) },
    ],
  };
}

/** `seq` puts its text between the numbers and a newline at the end. */
const bytesOf = (log: LogToWrite | undefined): number =>
  log ? log.repetitions * (NUMBER_BYTES + log.text.length) - log.text.length + 1 : Number.NaN;

interface Drained {
  readonly shape: Shape;
  readonly small: LogReading;
  readonly own: readonly LogReading[];
  readonly kubectlMs: readonly number[];
  readonly expectedBytes: number;
}

const megabytesPerSecond = (bytes: number, ms: number): number => bytes / ms / 1000;

function rowOf({ shape, small, own, kubectlMs, expectedBytes }: Drained): Row {
  const speed = Math.max(...own.map(({ bytes, ms }) => megabytesPerSecond(bytes, ms)));
  const kubectl = kubectlMs.length === 0 ? Number.NaN : megabytesPerSecond(expectedBytes, Math.min(...kubectlMs));
  const grown = Math.max(...own.map(({ rssPeak, rssBefore }) => rssPeak - rssBefore));
  const delay = Math.max(...own.map(({ loopDelayP99Ms }) => loopDelayP99Ms));
  const cpuSeconds = Math.min(...own.map(({ cpuMs }) => cpuMs)) / 1000;
  const isWhole = own.every(({ bytes, complete }) => complete && bytes === expectedBytes);
  return {
    name: `log drain, ${mib(expectedBytes)} in ${shape.name}`,
    figures: {
      kdebug: `${shown(speed, 'MB/s')}, ${shown(cpuSeconds, 's')} CPU, every byte: ${isWhole ? 'yes' : 'NO'}`,
      ...(kubectlMs.length > 0 && {
        'kubectl logs': shown(kubectl, 'MB/s'),
        'kdebug / kubectl': times(speed / kubectl),
      }),
      'memory over before': `${mib(small.rssPeak - small.rssBefore)} at 10 MiB, ${mib(grown)} now (${mib(own[0]?.rssBefore ?? Number.NaN)} before)`,
      'event loop delay': `p99 ${shown(delay, 'ms')}`,
    },
    targets: [
      { text: `≥ ${SPEED_LIMIT} MB/s with SHA-256, every byte`, met: isWhole && speed >= SPEED_LIMIT },
      { text: 'as fast as kubectl logs', met: atLeast(speed / kubectl, 1) },
      { text: `memory ≤ ${mib(MEMORY_LIMIT_BYTES)} more than before`, met: atMost(grown, MEMORY_LIMIT_BYTES) },
      { text: `event loop delay p99 ≤ ${LOOP_LIMIT_MS} ms`, met: atMost(delay, LOOP_LIMIT_MS) },
    ],
  };
}
