import { setTimeout as pause } from 'node:timers/promises';
import { startLocalCluster } from '../play/cluster/index.ts';
import { type LocalSlack, startLocalSlack } from '../play/slack/index.ts';
import { type RunningApp, startApp } from './app.ts';
import { InFlight } from './in-flight.ts';
import { addChannels, channelId, contextOf, policyText } from './policy.ts';
import { limitRate } from './rate-limit.ts';

export interface BatchOptions {
  readonly pods: number;
  readonly parallelism: number;
  /** How long each container runs; absent: not at all. */
  readonly seconds?: number;
  /** Requests a second that the API server takes. */
  readonly qps?: number;
}

/** What a batch cost. */
export interface Batched {
  readonly pods: number;
  readonly succeeded: number;
  /** From the command to the last file in the thread. */
  readonly wallMs: number;
  /** From the first container that was asked for to the end of the last. */
  readonly workMs: number;
  readonly cpuMs: number;
  /** The most that was seen, ten times a second. */
  readonly rssBytes: number;
  /** Requests of ours that the API server got from the command on. */
  readonly calls: number;
  readonly callsLate: number;
  readonly rejectedLate: number;
  readonly slackCalls: number;
  readonly peak: number;
  /** The longest time with fewer in flight than could be. */
  readonly gapMs: number;
}

const NAMESPACE = 'bench';
const LIMIT_MS = 600_000;
const LATE_MS = 5_000;

/** One command over so many pods of a local cluster, by the built program in a process of its own. */
export async function runBatch(options: BatchOptions): Promise<Batched> {
  const cluster = await startLocalCluster({
    kubeletDelayMs: 0,
    requestLogLength: options.pods * 4 + 10_000,
    historyLength: options.pods * 4 + 10_000,
  });
  const labels = { app: 'web' };
  for (let index = 0; index < options.pods; index += 1) {
    cluster.addPod({ name: `web-${index}`, namespace: NAMESPACE, labels, nodeName: `node-${index % 20}` });
  }
  while (cluster.pods().some(({ status }) => status.phase !== 'Running')) await pause(50);
  const inFlight = new InFlight(cluster, options);
  const limit = limitRate(cluster, options.qps);
  const slack = await startLocalSlack({ team: (team) => addChannels(team, 1) });
  const { kubeconfig } = cluster;
  const policy = policyText({
    context: contextOf(kubeconfig),
    namespace: NAMESPACE,
    image: 'localhost/busybox:1',
    channels: 1,
    batch: { maxPods: 10_000, maxParallelism: 10 },
  });
  const app = await startApp({ slack, kubeconfig, policy });
  try {
    const callsBefore = ourCalls(cluster);
    const { wallMs, cpuMs, rssBytes } = await timeCommand(app, slack, options);
    const card = JSON.stringify(slack.messages(channelId(0))[0]?.blocks ?? '');
    const some = /(\d[\d,]*) succeeded/.exec(card)?.[1] ?? '0';
    const succeeded = /all succeeded/.test(card) ? options.pods : Number(some.replaceAll(',', ''));
    return {
      pods: options.pods,
      succeeded,
      wallMs,
      cpuMs,
      rssBytes,
      calls: ourCalls(cluster) - callsBefore,
      ...limit.since(inFlight.beganMs + LATE_MS),
      slackCalls: [...slack.requestCounts.values()].reduce((sum, count) => sum + count, 0),
      ...inFlight.result(),
    };
  } finally {
    inFlight.close();
    await app.stop();
    await slack.stop();
    await cluster.stop();
  }
}

const ourCalls = (cluster: Awaited<ReturnType<typeof startLocalCluster>>): number =>
  cluster.requests.find().filter(({ userAgent }) => userAgent.startsWith('kdebug/')).length;

async function timeCommand(
  app: RunningApp,
  slack: LocalSlack,
  { parallelism, seconds }: BatchOptions,
): Promise<Pick<Batched, 'wallMs' | 'cpuMs' | 'rssBytes'>> {
  let rssBytes = 0;
  const watch = setInterval(() => {
    rssBytes = Math.max(rssBytes, app.rssBytes);
  }, 100);
  const channel = channelId(0);
  const words = `-l app=web -n ${NAMESPACE} --image=debian --parallelism=${parallelism} -- sh -c 'echo hello${seconds === undefined ? '' : `; sleep ${seconds}`}'`;
  const cpuBefore = app.cpuMs;
  const startMs = performance.now();
  const delivery = await slack.deliver.command({ user: 'U0GINGER', channel, text: words });
  if (delivery.error !== undefined) throw new Error(`Slack saw ${delivery.error}`);
  const isTold = (): true | undefined => {
    const [card] = slack.messages(channel);
    const files = card ? slack.thread(channel, card.ts).flatMap((message) => message.files) : [];
    return files.length === 2 ? true : undefined;
  };
  try {
    await slack.until(isTold, LIMIT_MS);
    return { wallMs: performance.now() - startMs, cpuMs: app.cpuMs - cpuBefore, rssBytes };
  } finally {
    clearInterval(watch);
  }
}
