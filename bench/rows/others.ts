import { setTimeout as pause } from 'node:timers/promises';
import { type LocalSlack, startLocalSlack } from '../../play/slack/index.ts';
import { type RunningApp, startApp } from '../app.ts';
import { atMost, ms, type Row, spreadOf } from '../figures.ts';
import type { BenchOptions } from '../options.ts';
import { addChannels, channelId, contextOf, PEOPLE } from '../policy.ts';
import type { BusyClusterConfig } from '../workers/busy-cluster.ts';
import { runWorker, startWorker } from '../workers/worker.ts';

const WORDS_LIMIT_MS = 1_000;
const HELP_LIMIT_MS = 200;
const LOG_LIMIT_MS = 500;
const PATIENCE_MS = 120_000;

/** Channels of the bench: who is busy in which, and then those of people who want one thing each. */
const [BATCH, ALERTS, LOG, FIRST_OF_PEOPLE] = [0, 1, 2, 3];
const CHANNELS = 110;
const ALERT_COUNT = 60;
const GREEK_BYTES = 100 * 1024 ** 2;
const SECRET = 'the-secret-of-the-bench';
/** Close to the most states that a policy may have. */
const HEAVY_PATTERN = '[A-Za-z]\\d[A-Za-z0-9]{30,100}-[a-z0-9]{8,40}';
const HELPS_A_SECOND = 20;
const SETTLE_MS = 2_000;

/** What a person waits for while others, and those who write the logs and statuses that others ask about, are busy. */
export async function* others({ batchPods, seconds }: BenchOptions): AsyncGenerator<Row> {
  const [pods = 1_000] = batchPods;
  yield await firstWordsRow(pods);
  yield await helpRow(`${pods.toLocaleString('en-US')} pods and 500 warnings with hostile words are asked about`, {
    config: { pods: 1, hostilePods: pods, warnings: 500 },
    redact: [HEAVY_PATTERN],
    seconds,
    limitMs: HELP_LIMIT_MS,
    begin: async (slack) => {
      const asked = [
        'web-1-7 -n hostile',
        'deployment/web -n hostile',
        'describe web-1-9 -n hostile',
        '-l app=web -n hostile',
      ];
      for (const [index, text] of asked.entries()) await command(slack, FIRST_OF_PEOPLE + index, text);
    },
  });
  yield await helpRow('a log of 100 MB in lines of one Greek letter is read', {
    config: { pods: 1 },
    redact: [],
    seconds,
    limitMs: LOG_LIMIT_MS,
    begin: (slack) => command(slack, LOG, `pod-1000 -n bench --image=debian -- ${greek(GREEK_BYTES)}`),
  });
}

/** Lines of one letter, some of a number: the local cluster's quick writer. */
const greek = (bytes: number): string => {
  const line = 'α\n';
  const between = line.repeat(1_000);
  return `seq -w -s '${between}' 1 ${Math.ceil(bytes / Buffer.byteLength(between))}`;
};

async function firstWordsRow(pods: number): Promise<Row> {
  return inBusyWorld({ config: { pods }, redact: [] }, async (slack, app) => {
    const all = `-l app=web -n bench --image=debian --parallelism=10 -- sh -c 'echo hello; sleep 0.3'`;
    await command(slack, LOG, `pod-1000 -n bench --image=debian -- ${greek(GREEK_BYTES)}`);
    await command(slack, BATCH, all);
    await Promise.all(Array.from({ length: ALERT_COUNT }, (_, index) => sendAlert(app, index)));
    const waitsMs: number[] = [];
    for (let channel = FIRST_OF_PEOPLE; channel < CHANNELS - 1; channel += 1) {
      waitsMs.push(await firstWords(slack, channel));
      await pause(50);
    }
    const inAlerts = await firstWords(slack, ALERTS);
    const waits = spreadOf(waitsMs);
    return {
      name: `first words while ${ALERT_COUNT} alerts, a batch of ${pods.toLocaleString('en-US')} and a log of 100 MB are under way`,
      figures: {
        kdebug: `p50 ${ms(waits.p50)}, p99 ${ms(waits.p99)}, max ${ms(waits.max)} of ${waits.count}`,
        'in the channel of the alerts': ms(inAlerts),
      },
      targets: [{ text: `p99 ≤ ${ms(WORDS_LIMIT_MS)}`, met: atMost(waits.p99, WORDS_LIMIT_MS) }],
    };
  });
}

interface HelpOptions {
  readonly config: BusyClusterConfig;
  readonly redact: readonly string[];
  readonly seconds: number;
  readonly limitMs: number;
  readonly begin: (slack: LocalSlack) => Promise<void>;
}

async function helpRow(name: string, { seconds, limitMs, begin, ...world }: HelpOptions): Promise<Row> {
  return inBusyWorld(world, async (slack, app) => {
    const { parcel } = await slack.deliver.command({ user: 'U0ALICE', channel: channelId(LOG + 1), text: 'help' });
    const body = new URLSearchParams(parcel.payload as Record<string, string>).toString();
    const bodies = Array.from(
      { length: HELPS_A_SECOND * seconds },
      (_, index) => `${body}&trigger_id=${Date.now()}.${index}`,
    );
    const load = { url: app.url, signingSecret: slack.signingSecret, perSecond: HELPS_A_SECOND, bodies };
    const [{ latencies, failures }] = await Promise.all([runWorker('load', load), pause(500).then(() => begin(slack))]);
    const waits = spreadOf(latencies);
    return {
      name: `another person's help while ${name}`,
      figures: {
        kdebug: `p50 ${ms(waits.p50)}, p99 ${ms(waits.p99)}, max ${ms(waits.max)} of ${waits.count}; ${failures} failed`,
      },
      targets: [{ text: `none over ${ms(limitMs)}`, met: failures === 0 && atMost(waits.max, limitMs) }],
    };
  });
}

interface BusyWorld {
  readonly config: BusyClusterConfig;
  readonly redact: readonly string[];
}

async function inBusyWorld(
  { config, redact }: BusyWorld,
  work: (slack: LocalSlack, app: RunningApp) => Promise<Row>,
): Promise<Row> {
  const cluster = await startWorker('busy-cluster', config);
  const slack = await startLocalSlack({ team: (team) => addChannels(team, CHANNELS) });
  try {
    const { kubeconfig } = cluster.result;
    const policy = policyOf(contextOf(kubeconfig), redact);
    const app = await startApp({ slack, kubeconfig, policy, alertsSecret: SECRET });
    try {
      // A program that has just started is not yet compiled.
      await pause(SETTLE_MS);
      await firstWords(slack, CHANNELS - 1);
      return await work(slack, app);
    } finally {
      await app.stop();
    }
  } finally {
    await Promise.all([slack.stop(), cluster.stop()]);
  }
}

async function command(slack: LocalSlack, channel: number, text: string): Promise<void> {
  const user = PEOPLE[channel % PEOPLE.length] ?? '';
  const { error } = await slack.deliver.command({ user, channel: channelId(channel), text });
  if (error !== undefined) throw new Error(`Slack saw ${error}: ${text.slice(0, 100)}`);
}

/** From a command to the first thing that the channel says to it. */
async function firstWords(slack: LocalSlack, channel: number): Promise<number> {
  const before = new Set(slack.messages(channelId(channel)).map(({ ts }) => ts));
  const startMs = performance.now();
  await command(slack, channel, `pod-1000 -n bench --image=debian -- echo hello-${channel}`);
  const isAnswer = (text: string): boolean => text.includes(`hello-${channel}`);
  await slack.until(
    () =>
      slack.messages(channelId(channel)).some(({ ts, ...said }) => !before.has(ts) && isAnswer(JSON.stringify(said))) ||
      undefined,
    PATIENCE_MS,
  );
  return performance.now() - startMs;
}

async function sendAlert(app: RunningApp, index: number): Promise<void> {
  const labels = { alertname: `A${index}`, namespace: 'bench', pod: `pod-${1900 - index}` };
  const alert = {
    status: 'firing',
    labels,
    annotations: {},
    startsAt: new Date().toISOString(),
    fingerprint: `f${index}`,
  };
  const { status } = await fetch(`${app.alertsUrl}/bench`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SECRET}` },
    body: JSON.stringify({ version: '4', groupKey: `g${index}`, alerts: [alert] }),
  });
  if (status !== 200) throw new Error(`an alert was answered with ${status}`);
}

const policyOf = (context: string, redact: readonly string[]): string => `version: 1
clusters:
  bench: { context: ${JSON.stringify(context)}, default: true }
identity: { mode: serviceAccount }
images:
  autodiagnose: { image: "localhost/autodiagnose:1", class: observe, timeout: 1m, diagnostic: true }
  debian: { image: "localhost/busybox:1", class: observe, command: allowed }
defaultImage: autodiagnose
channels:
${Array.from({ length: CHANNELS }, (_, index) => `  ${channelId(index)}: { rules: [{ id: look, clusters: [bench], namespaces: [bench, hostile], classes: [observe, intrusive, elevated], profiles: [restricted, baseline, general], batch: { maxPods: 10000, maxParallelism: 10 } }] }\n`).join('')}
alerts:
  bench: { source: alertmanager, secretEnv: ALERTS_SECRET, channel: ${channelId(ALERTS)} }
limits: { ephemeralContainersPerPod: 100, runsPerUserPerMinute: 10000, runsPerUser: 10000, ephemeralContainersPerPodAndUser: 100, runsPerChannel: 10000 }
output: { redact: ${JSON.stringify(redact)} }
`;
