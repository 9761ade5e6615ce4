import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Resources } from '../objects/pod.ts';
import { usageOf } from './workloads.ts';

const PERIOD_MICROS = 100_000;
const NO_PRESSURE = ['some', 'full'].map((kind) => `${kind} avg10=0.00 avg60=0.00 avg300=0.00 total=0`).join('\n');
const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
};

/** A memory quantity in bytes, a CPU quantity in cores; nothing when it is absent. */
export function quantity(text: string | undefined): number | undefined {
  const found = /^(\d+(?:\.\d+)?)(m|k|M|G|Ki|Mi|Gi)?$/.exec(text ?? '');
  if (!found) return undefined;
  return found[2] === 'm' ? Number(found[1]) / 1000 : Number(found[1]) * (UNITS[found[2] ?? ''] ?? 1);
}

/**
 * A folder with the cgroup v2 files of a container, derived from a real process and the pod's limits, for a diagnosis to
 * read. `refresh` brings the numbers up to date; `remove` takes the folder away.
 */
export class SimulatedCgroup {
  readonly path: string;
  readonly #pid: number;
  readonly #limits: { readonly memory: number | undefined; readonly cpu: number | undefined };
  #peak = 0;
  #seen: { readonly at: number; readonly cpuMicros: number } | undefined;
  /** In microseconds, but for the two numbers of periods, which are whole. */
  readonly #held = { periods: 100, throttledPeriods: 0, throttled: 0 };
  /** The period that is not over yet: how much of it has passed, and whether it used more than its quota. */
  #running = { part: 0, isOver: false };

  constructor(pid: number, resources: Resources | undefined) {
    this.#pid = pid;
    this.#limits = { memory: quantity(resources?.limits?.memory), cpu: quantity(resources?.limits?.cpu) };
    this.path = mkdtempSync(join(tmpdir(), 'kdebug-cgroup-'));
    mkdirSync(this.path, { recursive: true });
    this.refresh();
  }

  refresh(): void {
    const usage = usageOf(this.#pid) ?? { residentBytes: 0, cpuMicros: 0, threads: 1 };
    this.#peak = Math.max(this.#peak, usage.residentBytes);
    const max = (value: number | undefined) => (value === undefined ? 'max' : String(Math.round(value)));
    this.#write('memory.current', String(usage.residentBytes));
    this.#write('memory.max', max(this.#limits.memory));
    this.#write('memory.high', 'max');
    this.#write('memory.peak', String(this.#peak));
    this.#write('memory.events', 'low 0\nhigh 0\nmax 0\noom 0\noom_kill 0');
    this.#write('memory.stat', `anon ${usage.residentBytes}\nfile 0\ninactive_file 0`);
    this.#write('memory.swap.current', '0');
    this.#write('pids.current', String(usage.threads));
    this.#write('pids.max', '512');
    this.#write(
      'cpu.max',
      this.#limits.cpu === undefined ? `max ${PERIOD_MICROS}` : `${this.#limits.cpu * PERIOD_MICROS} ${PERIOD_MICROS}`,
    );
    this.#holdBack(usage.cpuMicros);
    this.#write('cpu.stat', this.#cpuStat(usage.cpuMicros));
    for (const resource of ['cpu', 'memory', 'io']) this.#write(`${resource}.pressure`, NO_PRESSURE);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  /** Nothing slows the process down: periods in which it used more than its quota count as throttled. */
  #holdBack(cpuMicros: number): void {
    const now = Date.now();
    const elapsed = this.#seen ? (now - this.#seen.at) * 1000 : 0;
    const used = this.#seen ? cpuMicros - this.#seen.cpuMicros : 0;
    this.#seen = { at: now, cpuMicros };
    const cores = this.#limits.cpu;
    if (cores === undefined) return;
    const over = Math.max(0, used - elapsed * cores);
    this.#held.throttled += over;
    const part = this.#running.part + elapsed / PERIOD_MICROS;
    const isOver = this.#running.isOver || over > 0;
    const ended = Math.floor(part);
    this.#held.periods += ended;
    if (isOver) this.#held.throttledPeriods += ended;
    this.#running = { part: part - ended, isOver: isOver && ended === 0 };
  }

  #cpuStat(usedMicros: number): string {
    const isLimited = this.#limits.cpu !== undefined;
    const lines = {
      usage_usec: usedMicros,
      user_usec: usedMicros,
      system_usec: 0,
      nr_periods: isLimited ? this.#held.periods : 0,
      nr_throttled: this.#held.throttledPeriods,
      throttled_usec: this.#held.throttled,
    };
    return Object.entries(lines)
      .map(([name, value]) => `${name} ${Math.floor(value)}`)
      .join('\n');
  }

  #write(name: string, text: string): void {
    // Put in place whole: a diagnosis may read at any moment.
    const unfinished = join(this.path, 'unfinished');
    writeFileSync(unfinished, `${text}\n`);
    renameSync(unfinished, join(this.path, name));
  }
}
