import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Resources } from '../objects/pod.ts';
import { usageOf } from './workloads.ts';

const PERIOD_MICROS = 100_000;
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
  readonly #startedAt = Date.now();
  #peak = 0;

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
    this.#write('cpu.stat', this.#cpuStat(usage.cpuMicros));
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  /** The process is not really held back: what it used beyond its quota is told as time in which it would have been. */
  #cpuStat(usedMicros: number): string {
    const cores = this.#limits.cpu;
    const elapsed = Date.now() - this.#startedAt + 10_000;
    const periods = cores === undefined ? 0 : Math.floor((elapsed * 1000) / PERIOD_MICROS);
    const allowed = cores === undefined ? Number.POSITIVE_INFINITY : elapsed * 1000 * cores;
    const over = Math.max(0, Math.round(usedMicros - allowed));
    const throttled = over === 0 ? 0 : Math.min(periods, Math.floor(periods * 0.8));
    return `usage_usec ${usedMicros}\nuser_usec ${usedMicros}\nsystem_usec 0\nnr_periods ${periods}\nnr_throttled ${throttled}\nthrottled_usec ${over}`;
  }

  #write(name: string, text: string): void {
    writeFileSync(join(this.path, name), `${text}\n`);
  }
}
