import { setTimeout as pause } from 'node:timers/promises';
import { startLocalCluster } from '../../play/cluster/index.ts';
import { startLocalSlack } from '../../play/slack/index.ts';
import { startApp } from '../app.ts';
import { atMost, median, mib, ms, type Row, shown } from '../figures.ts';
import { contextOf, policyText } from '../policy.ts';
import { fatStart } from './fat-start.ts';

const STARTS = 3;
/** What the start leaves to be done (compiling, collecting garbage) is not idleness. */
const SETTLE_MS = 5_000;
const IDLE_MS = 10_000;
const READY_LIMIT_MS = 1_500;
const RSS_LIMIT_BYTES = 150 * 1024 ** 2;
const CPU_LIMIT_PERCENT = 0.5;

/** The built program from start to ready, and what it holds when nobody asks it anything. */
export async function* startAndIdle(): AsyncGenerator<Row> {
  const [slack, cluster] = await Promise.all([startLocalSlack(), startLocalCluster({ kubeletDelayMs: 0 })]);
  try {
    const { kubeconfig } = cluster;
    const context = contextOf(kubeconfig);
    const policy = policyText({ context, namespace: 'default', image: 'debian:12-slim', channels: 1 });
    const readyMs: number[] = [];
    let rss = Number.NaN;
    let cpuPercent = Number.NaN;
    for (let start = 1; start <= STARTS; start += 1) {
      const app = await startApp({ slack, kubeconfig, policy });
      readyMs.push(app.readyMs);
      if (start === STARTS) {
        await pause(SETTLE_MS);
        const before = app.cpuMs;
        await pause(IDLE_MS);
        rss = app.rssBytes;
        cpuPercent = ((app.cpuMs - before) / IDLE_MS) * 100;
      }
      await app.stop();
    }
    yield rowOf(median(readyMs), rss, cpuPercent);
  } finally {
    await Promise.all([slack.stop(), cluster.stop()]);
  }
  yield* fatStart();
}

const rowOf = (readyMs: number, rss: number, cpuPercent: number): Row => ({
  name: 'start and idle',
  figures: {
    'start to ready': `${ms(readyMs)} (median of ${STARTS})`,
    [`after ${SETTLE_MS / 1_000} s, idle for ${IDLE_MS / 1_000} s`]: `${mib(rss)} resident, ${shown(cpuPercent, '% CPU')}`,
  },
  targets: [
    { text: `ready ≤ ${READY_LIMIT_MS} ms`, met: atMost(readyMs, READY_LIMIT_MS) },
    { text: `idle ≤ ${mib(RSS_LIMIT_BYTES)}`, met: atMost(rss, RSS_LIMIT_BYTES) },
    { text: `idle ≤ ${CPU_LIMIT_PERCENT} % CPU`, met: atMost(cpuPercent, CPU_LIMIT_PERCENT) },
  ],
});
