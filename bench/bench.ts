import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { build } from './app.ts';
import { type Row, rowText } from './figures.ts';
import { kubectlVersion } from './kubectl.ts';
import { type BenchOptions, type RowName, readOptions, USAGE } from './options.ts';
import { acknowledge } from './rows/acknowledge.ts';
import { batch } from './rows/batch.ts';
import { crowd } from './rows/crowd.ts';
import { growth } from './rows/growth.ts';
import { logDrain } from './rows/log-drain.ts';
import { oneRun } from './rows/one-run.ts';
import { others } from './rows/others.ts';
import { recovery } from './rows/recovery.ts';
import { startAndIdle } from './rows/start-and-idle.ts';
import { turns } from './rows/turns.ts';

const ROWS: Readonly<Record<RowName, (options: BenchOptions) => AsyncGenerator<Row>>> = {
  start: startAndIdle,
  acknowledge,
  run: oneRun,
  log: logDrain,
  turns,
  recovery,
  batch,
  crowd,
  others,
  growth,
};

/** Measures and prints; returns the exit code: 0 when everything could be measured, whatever the figures; 1 when a target was not met and `--strict` asks for it; 2 for wrong options. */
export async function bench(words: readonly string[]): Promise<number> {
  let options: BenchOptions;
  try {
    options = readOptions(words);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    return 2;
  }
  const rows = await measured(options);
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(rows, undefined, 2)}\n`);
  const misses = rows.flatMap(({ targets }) => targets).filter(({ met }) => met === false).length;
  console.log(misses === 0 ? 'every target met' : `${misses} targets NOT met`);
  return options.strict && misses > 0 ? 1 : 0;
}

async function measured(options: BenchOptions): Promise<readonly Row[]> {
  const version = await kubectlVersion();
  console.log(
    `Node ${process.version}, ${cpus().length} CPUs, kubectl ${version ?? 'is not on this machine: nothing to compare with'}`,
  );
  // Figures of a busy machine say little: its load stands beside them.
  console.log(`load average ${loadavg()[0]?.toFixed(1)}\n`);
  await build();
  const rows: Row[] = [];
  for (const name of options.rows) {
    for await (const row of ROWS[name](options)) {
      rows.push(row);
      console.log(rowText(row));
    }
  }
  return rows;
}
