import { random } from '../../../bench/random.ts';
import { collectLog } from '../../../src/adapters/kubernetes/complete-log/collect-log.ts';
import type { LogClient } from '../../../src/adapters/kubernetes/complete-log/log-stream.ts';
import { LOG_TIMES, type LogTimes } from '../../../src/adapters/kubernetes/complete-log/log-times.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import type { RunLog } from '../../../src/core/run/run.ts';
import type { Spools } from '../../../src/flow/ports/machine.ts';
import { SimulatedKubelet } from '../../adapters/kubernetes/support/simulated-kubelet.ts';
import { aTermination } from '../../support/builders.ts';
import { PortScene } from './port-scene.ts';
import { MAIN } from './stories.ts';

/** Sizes a hundredth of the real ones, so that a file is rotated beyond 100 KiB; durations as they are. */
export const SMALL_FILES: LogTimes = { ...LOG_TIMES, smallBytes: 80 * 1_024, rotatedBytes: 90 * 1_024 };

const PUMP_MS = 20;

export interface NodeLogOptions {
  readonly seed?: number;
  readonly times?: LogTimes;
  readonly spools?: Spools;
  readonly policy?: Policy;
  /** Where the log comes from instead of the simulated kubelet; called before anything begins. */
  readonly client?: (scene: PortScene) => LogClient;
}

/** A run whose container writes to a simulated kubelet, read by the real collector under the real flow; time moves on demand. */
export class NodeLog {
  readonly scene: PortScene;
  readonly kubelet: SimulatedKubelet;
  readonly random: () => number;
  /** The API server sends at most so much in 20 ms. */
  bytesPerPump = 256 * 1_024;
  #lines = 0;

  private constructor(options: NodeLogOptions) {
    this.scene = new PortScene({ ...MAIN, policy: options.policy ?? MAIN.policy, fate: { kind: 'stays' } });
    const { clock, cluster } = this.scene;
    this.random = random(options.seed ?? 1);
    this.kubelet = new SimulatedKubelet({ now: () => clock.now(), random: this.random });
    if (options.spools) this.scene.spools = options.spools;
    const client = options.client?.(this.scene) ?? this.kubelet;
    const tools = { client, clock, random: this.random, times: options.times ?? LOG_TIMES };
    cluster.collectLog = (request, sink) => collectLog(tools, request, sink);
    const pump = (): void => {
      this.kubelet.serve(this.bytesPerPump);
      clock.after(PUMP_MS, pump);
    };
    pump();
  }

  /** Up to the moment at which the container runs. */
  static async running(options: NodeLogOptions = {}): Promise<NodeLog> {
    const log = new NodeLog(options);
    log.scene.boot();
    await log.scene.type();
    await log.scene.reach('running');
    return log;
  }

  /** Numbered lines of about a hundred bytes. */
  write(lines: number): void {
    for (let left = lines; left > 0; left -= 1) {
      this.#lines += 1;
      this.kubelet.write(`${this.#lines} ${'x'.repeat(90)}`);
    }
  }

  /** Time passes while the container writes so much a second. */
  async live(ms: number, linesPerSecond: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      this.write(linesPerSecond / 10);
      await this.scene.clock.advance(100);
    }
  }

  pass(ms: number): Promise<void> {
    return this.scene.clock.advance(ms);
  }

  /** The container's status says that it has ended. */
  report(exitCode = 0): void {
    const finishedAt = new Date(this.scene.clock.now()).toISOString();
    const startedAtMs = this.scene.cluster.startedAtMs ?? this.scene.clock.now();
    const terminated = aTermination({ startedAt: new Date(startedAtMs).toISOString(), finishedAt, exitCode });
    this.scene.cluster.report({ terminated });
  }

  /** The container ends, its follow with it, and a moment later its status says so; then all is told. */
  async end(): Promise<void> {
    this.kubelet.isRunning = false;
    await this.pass(250);
    this.report();
    await this.scene.goOn();
  }

  /** What the container wrote. */
  get truth(): string {
    return Buffer.concat(this.kubelet.written).toString('latin1');
  }

  /** What the thread got as a file. */
  get shown(): string | undefined {
    return this.scene.thread.files[0]?.content;
  }

  async log(): Promise<RunLog | undefined> {
    return (await this.scene.run())?.log;
  }
}
