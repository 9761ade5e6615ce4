import { random } from '../../../../bench/random.ts';
import { collectLog } from '../../../../src/adapters/kubernetes/complete-log/collect-log.ts';
import { LOG_TIMES, type LogTimes } from '../../../../src/adapters/kubernetes/complete-log/log-times.ts';
import type { LogCompleteness } from '../../../../src/core/run/run.ts';
import type { LogRequest } from '../../../../src/flow/ports/cluster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { SimulatedKubelet } from './simulated-kubelet.ts';

/** Sizes a hundredth of the real ones (a file is rotated beyond 100 KiB), durations as they are: the clock is a fake. */
export const SCENE_TIMES: LogTimes = {
  ...LOG_TIMES,
  burstBytes: 2_560,
  smallBytes: 80 * 1_024,
  rotatedBytes: 90 * 1_024,
};

export const ROTATE_BYTES = 100 * 1_024;

export interface SceneOptions {
  readonly seed?: number;
  readonly times?: LogTimes;
  readonly request?: Partial<LogRequest>;
  /** What has happened on the node before the collection begins. */
  readonly before?: (kubelet: SimulatedKubelet) => void;
}

/** A log collection over a simulated kubelet, driven by a clock that moves when the test says so. */
export class LogScene {
  readonly clock = new FakeClock();
  readonly random: () => number;
  readonly kubelet: SimulatedKubelet;
  readonly taken: Buffer[] = [];
  /** The content before `sinceMs`, each time that it was reached. */
  readonly beforeSince: string[] = [];
  readonly abort = new AbortController();
  readonly result: Promise<LogCompleteness>;
  isOver = false;
  #end: () => void = () => {};

  constructor(options: SceneOptions = {}) {
    this.random = random(options.seed ?? 1);
    this.kubelet = new SimulatedKubelet({ now: () => this.clock.now(), random: this.random });
    options.before?.(this.kubelet);
    const ended = new Promise<void>((resolve) => {
      this.#end = resolve;
    });
    const request: LogRequest = {
      pod: { namespace: 'shop', name: 'web', uid: 'u1' },
      containerName: 'kdebug-a',
      terminated: false,
      startedAtMs: this.clock.now(),
      limitBytes: 1e9,
      ended,
      signal: this.abort.signal,
      ...options.request,
    };
    const tools = { client: this.kubelet, clock: this.clock, random: this.random, times: options.times ?? SCENE_TIMES };
    this.result = collectLog(tools, request, {
      write: (chunk) => void this.taken.push(Buffer.from(chunk)),
      reachedSince: () => this.beforeSince.push(this.content),
    });
    this.result.then(
      () => {
        this.isOver = true;
      },
      () => {
        this.isOver = true;
      },
    );
  }

  get content(): string {
    return Buffer.concat(this.taken).toString('latin1');
  }

  get truth(): string {
    return Buffer.concat(this.kubelet.written).toString('latin1');
  }

  /** The container ends, and its status says so `statusDelayMs` later. */
  async end(statusDelayMs = 250, bytesPerSecond = 0): Promise<void> {
    this.kubelet.isRunning = false;
    await this.pass(statusDelayMs, bytesPerSecond);
    this.#end();
  }

  /** Time passes, in steps of a tick; the API server sends at most so many bytes a second. */
  async pass(ms: number, bytesPerSecond = 1e9): Promise<void> {
    for (let passed = 0; passed < ms && !this.isOver; passed += 50) {
      // Back-pressure and hand-overs need turns within a step, as they take them on a real connection.
      let left = bytesPerSecond / 20;
      for (let turn = 0; turn < 200 && left > 0; turn += 1) {
        const sent = this.kubelet.serve(Math.min(left, 64 * 1_024));
        await turnOfTheLoop();
        left -= sent;
        if (sent === 0) break;
      }
      await this.clock.advance(50);
    }
  }

  /** Everything is read as fast as it can be, until the collection is over or 10 minutes have passed. */
  async finish(bytesPerSecond = 1e9): Promise<LogCompleteness> {
    for (let waited = 0; waited < 600_000 && !this.isOver; waited += 1_000) await this.pass(1_000, bytesPerSecond);
    if (!this.isOver) throw new Error('the collection does not come to its end');
    return this.result;
  }
}

const turnOfTheLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
