import { createServer } from 'node:http';
import { startLocalCluster } from '../../play/cluster/index.ts';
import { type LocalSlack, startLocalSlack } from '../../play/slack/index.ts';
import { type RunningApp, startApp } from '../app.ts';
import { atMost, ms, type Row, type Spread, spreadOf, times } from '../figures.ts';
import type { BenchOptions } from '../options.ts';
import { addChannels, channelId, contextOf, PEOPLE, policyText } from '../policy.ts';
import type { LoadResult } from '../workers/load.ts';
import { runWorker, startWorker } from '../workers/worker.ts';

const PER_SECOND = 200;
const P99_LIMIT_MS = 50;
const SLACK_LIMIT_MS = 3_000;
const MAX_LIMIT_MS = 1_000;
/** Sent before, not counted: a program that has just started is not yet compiled. */
const WARM_UP_SECONDS = 1;
const CHANNELS = 20;

/**
 * Slack's requests at a steady rate, each acknowledged after its run was stored. They name a namespace that no rule allows:
 * every run is stored, acknowledged, planned, refused and answered through its response_url, but the cluster hears nothing.
 */
export async function* acknowledge({ seconds }: BenchOptions): AsyncGenerator<Row> {
  const slack = await startLocalSlack({ rates: { off: true }, team: (team) => addChannels(team, CHANNELS) });
  const cluster = await startLocalCluster({ kubeletDelayMs: 0 });
  try {
    const { kubeconfig } = cluster;
    const context = contextOf(kubeconfig);
    const policy = policyText({ context, namespace: 'default', image: 'debian:12-slim', channels: CHANNELS });
    const bodies = await recordedCommands(slack, PER_SECOND * (seconds + WARM_UP_SECONDS));
    const bare = await bareBolt(slack, bodies);
    const app = await startApp({ slack, kubeconfig, policy });
    try {
      const load = await loadOn(slack, slack.requestUrl ?? '', bodies);
      yield await rowOf({ load, bare, app, sent: bodies.length, seconds });
    } finally {
      await app.stop();
    }
  } finally {
    await Promise.all([slack.stop(), cluster.stop()]);
  }
}

/** Commands as the local Slack sends them, with triggers and response URLs that work; taken down instead of delivered. */
async function recordedCommands(slack: LocalSlack, count: number): Promise<readonly string[]> {
  const sink = createServer((request, response) => {
    request.resume().on('end', () => response.end());
  });
  await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve));
  const address = sink.address();
  slack.requestUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
  const bodies: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const user = PEOPLE[index % PEOPLE.length] ?? '';
    const text = `pod-${index} -n elsewhere --image=debian -- cat /proc/1/root/etc/resolv.conf`;
    const { request } = await slack.deliver.command({ user, channel: channelId(index % CHANNELS), text });
    bodies.push(request?.body ?? '');
  }
  sink.closeAllConnections();
  await new Promise((resolve) => sink.close(resolve));
  return bodies;
}

async function bareBolt(slack: LocalSlack, bodies: readonly string[]): Promise<LoadResult> {
  const bolt = await startWorker('bare-bolt', { signingSecret: slack.signingSecret });
  try {
    return await loadOn(slack, bolt.result.url, bodies);
  } finally {
    await bolt.stop();
  }
}

const loadOn = (slack: LocalSlack, url: string, bodies: readonly string[]): Promise<LoadResult> =>
  runWorker('load', { url, signingSecret: slack.signingSecret, perSecond: PER_SECOND, bodies });

interface Measured {
  readonly load: LoadResult;
  readonly bare: LoadResult;
  readonly app: RunningApp;
  readonly sent: number;
  readonly seconds: number;
}

async function rowOf({ load, bare, app, sent, seconds }: Measured): Promise<Row> {
  const [own, baseline] = [spreadAfterWarmUp(load), spreadAfterWarmUp(bare)];
  const late = load.latencies.filter((latency) => latency > SLACK_LIMIT_MS).length;
  const stored = await app.commands('accepted');
  return {
    name: `acknowledge: ${PER_SECOND} signed commands a second for ${seconds} s, each stored first`,
    figures: {
      kdebug: `p50 ${ms(own.p50)}, p99 ${ms(own.p99)}, max ${ms(own.max)}; ${stored} of ${sent} stored, ${load.failures} failed`,
      'bare Bolt': `p50 ${ms(baseline.p50)}, p99 ${ms(baseline.p99)}, max ${ms(baseline.max)}`,
      'p99 / p99': times(own.p99 / baseline.p99),
    },
    targets: [
      { text: `p99 ≤ ${P99_LIMIT_MS} ms`, met: atMost(own.p99, P99_LIMIT_MS) },
      { text: `max ≤ ${MAX_LIMIT_MS} ms`, met: atMost(own.max, MAX_LIMIT_MS) },
      { text: 'none over 3 s, none lost', met: late === 0 && load.failures === 0 && stored === sent },
    ],
  };
}

const spreadAfterWarmUp = ({ latencies }: LoadResult): Spread =>
  spreadOf(latencies.slice(PER_SECOND * WARM_UP_SECONDS));
