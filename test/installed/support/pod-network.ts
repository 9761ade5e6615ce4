import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { CLUSTER, STATE } from './commands.ts';

/** Where the bot's pods find Slack: a port of this machine's loopback that is in theirs, too. */
export const SLACK_PORT = 18_080;
/** Where this machine finds the bot's Service `kdebug`, as an ingress would offer it. */
export const INGRESS_PORT = 13_000;
export const REDIS_NAMESPACE = 'kdebug-redis';

/** The pods' way to the API server, to cluster DNS, to Redis and to Slack, and Slack's way to them. */
export class PodNetwork {
  readonly #child: ChildProcess;
  readonly #said: string[] = [];

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(): Promise<PodNetwork> {
    // It reads this folder, which containerd makes with its first pod.
    mkdirSync(join(STATE, 'containerd-state/io.containerd.runtime.v2.task/k8s.io'), { recursive: true, mode: 0o711 });
    const child = spawn('python3', [join(CLUSTER, 'pod-network')], {
      env: {
        ...process.env,
        POD_NETWORK: `kdebug|${REDIS_NAMESPACE}`,
        HOST_PORTS: String(SLACK_PORT),
        INGRESS: `${INGRESS_PORT}=kdebug/kdebug:3000`,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    process.once('exit', () => child.kill());
    const network = new PodNetwork(child);
    const lines = createInterface({ input: child.stdout });
    for (const source of [lines, createInterface({ input: child.stderr })]) {
      source.on('line', (line) => network.#said.push(line));
    }
    await Promise.race([once(lines, 'line'), once(child, 'exit')]);
    if (child.exitCode !== null) throw new Error(`pod-network ended: ${network.#said.join('\n')}`);
    return network;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) throw new Error(`pod-network ended early: ${this.#said.slice(-20).join('\n')}`);
    this.#child.kill();
    await once(this.#child, 'exit');
  }
}
