import type { ClientRequest, IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { createInterface } from 'node:readline';
import { KubeConfig } from '@kubernetes/client-node';

interface Seen {
  readonly acceptedMs: number;
  endedMs?: number;
}

interface PodShown {
  readonly spec?: { readonly ephemeralContainers?: readonly { readonly name: string }[] };
  readonly status?: {
    readonly ephemeralContainerStatuses?: readonly {
      readonly name: string;
      readonly state?: { readonly terminated?: object };
    }[];
  };
}

/**
 * Sees, from outside, what nobody can make faster: how long the cluster took from having accepted an ephemeral container to
 * showing its end. A watch of its own, so it sees both a moment late alike.
 */
export class KubeletWatch {
  readonly #request: ClientRequest;
  readonly #seen = new Map<string, Seen>();

  private constructor(sent: ClientRequest, answer: IncomingMessage) {
    this.#request = sent;
    sent.on('error', () => undefined);
    // `close` cuts the answer off.
    createInterface({ input: answer })
      .on('error', () => undefined)
      .on('line', (line) => this.#see(JSON.parse(line) as { object: PodShown }));
  }

  static async open(kubeconfig: string, namespace: string): Promise<KubeletWatch> {
    const config = new KubeConfig();
    config.loadFromString(kubeconfig);
    const options: { headers: Record<string, string> } = { headers: {} };
    await config.applyToHTTPSOptions(options);
    const url = `${config.getCurrentCluster()?.server}/api/v1/namespaces/${namespace}/pods?watch=1`;
    return new Promise((resolve, reject) => {
      const sent = request(url, { ...options, agent: false }, (answer) => {
        if (answer.statusCode === 200) resolve(new KubeletWatch(sent, answer));
        else reject(new Error(`the watch was answered with ${answer.statusCode}`));
      });
      sent.on('error', reject);
      sent.end();
    });
  }

  /** The names of all ephemeral containers that were seen to end. */
  get ended(): readonly string[] {
    return [...this.#seen].flatMap(([name, { endedMs }]) => (endedMs === undefined ? [] : [name]));
  }

  /** Milliseconds between a container's acceptance and its shown end; NaN when they were not both seen. */
  ownMs(container: string): number {
    const { acceptedMs, endedMs } = this.#seen.get(container) ?? { acceptedMs: Number.NaN };
    return (endedMs ?? Number.NaN) - acceptedMs;
  }

  close(): void {
    this.#request.destroy();
  }

  #see({ object }: { readonly object: PodShown }): void {
    const nowMs = performance.now();
    for (const { name } of object.spec?.ephemeralContainers ?? [])
      if (!this.#seen.has(name)) this.#seen.set(name, { acceptedMs: nowMs });
    for (const { name, state } of object.status?.ephemeralContainerStatuses ?? []) {
      const seen = this.#seen.get(name);
      if (seen && state?.terminated) seen.endedMs ??= nowMs;
    }
  }
}
