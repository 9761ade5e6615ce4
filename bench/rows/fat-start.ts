import { setTimeout as pause } from 'node:timers/promises';
import { startLocalSlack } from '../../play/slack/index.ts';
import { startApp } from '../app.ts';
import { atMost, mib, type Row } from '../figures.ts';
import { addChannels, channelId, contextOf, policyText } from '../policy.ts';
import { startWorker } from '../workers/worker.ts';

/** As large as the API server takes them. */
const FAT = { namespaces: 3, pods: 40, bytes: 1_400_000 };
const RSS_LIMIT_BYTES = 384 * 1024 ** 2;
const PATIENCE_MS = 60_000;

/** The memory that the start takes where three namespaces of the policy hold pods with very long arguments. */
export async function* fatStart(): AsyncGenerator<Row> {
  const cluster = await startWorker('busy-cluster', { pods: 1, fat: FAT });
  const slack = await startLocalSlack({ team: (team) => addChannels(team, 1) });
  try {
    const { kubeconfig } = cluster.result;
    const namespaces = Array.from({ length: FAT.namespaces }, (_, index) => `fat-${index}`);
    const context = contextOf(kubeconfig);
    const policy = policyText({ context, namespace: namespaces.join(', '), image: 'debian:12-slim', channels: 1 });
    const app = await startApp({ slack, kubeconfig, policy });
    let most = 0;
    const answers = (): number => slack.ephemerals('U0ROY').length + slack.messages(channelId(0)).length;
    const watch = setInterval(() => {
      most = Math.max(most, app.rssBytes);
    }, 20);
    try {
      for (const [index, namespace] of namespaces.entries()) {
        // Not there: whoever is told so has heard of all pods of the namespace.
        const text = `no-such-pod -n ${namespace} --image=debian -- echo hello`;
        await slack.deliver.command({ user: 'U0ROY', channel: channelId(0), text });
        await slack.until(() => answers() > index || undefined, PATIENCE_MS);
      }
      await pause(2_000);
      yield rowOf(most);
    } finally {
      clearInterval(watch);
      await app.stop();
    }
  } finally {
    await Promise.all([slack.stop(), cluster.stop()]);
  }
}

const rowOf = (most: number): Row => ({
  name: `start where ${FAT.namespaces} namespaces hold ${FAT.pods} pods of ${mib(FAT.bytes)} each`,
  figures: { kdebug: `${mib(most)} resident at most` },
  targets: [{ text: `≤ ${mib(RSS_LIMIT_BYTES)}`, met: atMost(most, RSS_LIMIT_BYTES) }],
});
