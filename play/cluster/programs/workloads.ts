import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The small programs that stand for a pod's real work (`play/cluster/workloads`). */
export type Workload = 'web' | 'leak' | 'burn' | 'close-wait' | 'hang' | 'deadlock';

/** No JVM is here to lock itself up; for autodiagnose, a server that accepts nobody looks the same. */
const STANDS_FOR: Partial<Record<Workload, Workload>> = { deadlock: 'hang' };

/** One real local process. */
export interface LocalProcess {
  readonly pid: number;
  stop(): void;
}

/**
 * Real processes behind pods, started when somebody looks and not before. Each has bounded memory, ends with this
 * process (its standard input closes) and at `stopAll`.
 */
export class Workloads {
  readonly #running = new Map<string, { child: ChildProcess; ready: Promise<LocalProcess | undefined> }>();

  /** The process of `key`, started now if need be; nothing where it cannot be. `onExit` is called if it ends by itself. */
  ensure(key: string, workload: Workload, onExit: () => void): Promise<LocalProcess | undefined> {
    const known = this.#running.get(key);
    if (known) return known.ready;
    const script = fileURLToPath(new URL(`../workloads/${STANDS_FOR[workload] ?? workload}.mjs`, import.meta.url));
    const child = spawn(process.execPath, ['--max-old-space-size=48', script], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: {},
    });
    const ready = new Promise<LocalProcess | undefined>((resolve) => {
      child.once('error', () => resolve(undefined));
      child.stdout.once('data', () =>
        resolve(child.pid === undefined ? undefined : { pid: child.pid, stop: () => this.stop(key) }),
      );
      child.once('exit', () => {
        resolve(undefined);
        if (this.#running.get(key)?.child !== child) return;
        this.#running.delete(key);
        onExit();
      });
    });
    child.stdin.on('error', () => undefined);
    this.#running.set(key, { child, ready });
    return ready;
  }

  stop(key: string): void {
    const found = this.#running.get(key);
    this.#running.delete(key);
    found?.child.kill('SIGKILL');
  }

  stopAll(): void {
    for (const key of [...this.#running.keys()]) this.stop(key);
  }
}

/** What the kernel counts of a process: resident bytes, CPU time in microseconds, threads. Linux only. */
export function usageOf(pid: number): { residentBytes: number; cpuMicros: number; threads: number } | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
      .map(Number);
    const [utime = 0, stime = 0] = fields.slice(11, 13);
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    return { residentBytes: pages * 4096, cpuMicros: (utime + stime) * 10_000, threads: fields[17] ?? 1 };
  } catch {
    return undefined;
  }
}
