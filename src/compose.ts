import { hostname } from 'node:os';
import { createAuditLog } from './adapters/audit/index.ts';
import { createMetrics, type OpsServer, startOpsServer } from './adapters/http/index.ts';
import { createClusters } from './adapters/kubernetes/index.ts';
import { createSeal } from './adapters/seal/index.ts';
import { createSlack } from './adapters/slack/index.ts';
import { createSpools } from './adapters/spool/index.ts';
import { MemoryRunStore } from './adapters/store/index.ts';
import { randomIds, replicaName, systemClock } from './adapters/system/index.ts';
import type { Env } from './config/env.ts';
import type { PolicyWatch } from './config/policy-reload.ts';
import { KdebugError } from './core/errors.ts';
import { Pipeline } from './flow/pipeline.ts';
import type { Log } from './flow/ports.ts';
import { VERSION } from './version.ts';

/** A running bot. */
export interface App {
  readonly opsPort: number;
  /** Where Slack's requests come in; undefined in Socket Mode. */
  readonly port: number | undefined;
  /** Takes nothing new, lets runs end or hands them over, and lets go of everything; at most about 10 s. Safe to call twice. */
  stop(): Promise<void>;
}

export interface Parts {
  readonly env: Env;
  readonly policies: PolicyWatch;
  readonly log: Log;
}

/** What is left of the ten seconds that a drain may take is for closing connections. */
const DRAIN_MS = 8_000;

/**
 * The composition root: makes every adapter and hands them to the flow. Decides nothing.
 * @throws KdebugError slack_token_rejected, slack_unreachable: there is no bot without Slack
 */
export async function startApp({ env, policies, log }: Parts): Promise<App> {
  const clock = systemClock;
  const metrics = createMetrics();
  const store = new MemoryRunStore({ clock, retentionMs: policies.current().output.retentionMs });
  const clusters = createClusters({
    clusters: () => policies.current().clusters,
    ...(env.kubeconfig !== undefined && { kubeconfigPath: env.kubeconfig }),
    log,
    clock,
    version: VERSION,
  });
  const { botToken, apiUrl, receive } = env.slack;
  const slack = createSlack({
    botToken,
    apiUrl,
    transport:
      receive.mode === 'socket'
        ? { kind: 'socket', appToken: receive.appToken }
        : { kind: 'http', signingSecret: receive.signingSecret, port: env.port },
    log,
    clock,
  });
  const owner = replicaName(hostname());
  const audit = await createAuditLog({
    destination: env.audit === 'stdout' ? { kind: 'stdout' } : { kind: 'file', path: env.audit },
    key: env.key,
    owner,
    log,
    clock,
    secrets: [botToken, receive.mode === 'socket' ? receive.appToken : receive.signingSecret],
  });
  const pipeline = new Pipeline({
    clusters,
    store,
    thread: slack.thread,
    directory: slack.directory,
    audit,
    spools: createSpools(),
    policies,
    clock,
    ids: randomIds,
    log,
    metrics,
    seal: createSeal(env.key).seal,
    owner,
  });
  await slack.start(pipeline.inbox);
  const ops: OpsServer = await startOpsServer({
    port: env.opsPort,
    checks: {
      slack: async () => {
        if (!slack.ready()) throw new KdebugError('slack_unreachable');
      },
      store: () => store.check(),
      // Falls first when the process is told to go.
      pipeline: async () => {
        if (pipeline.accepting === 'draining') throw new KdebugError('shutting_down');
      },
    },
    metrics,
    clock,
  });
  pipeline.startAdopting();
  const stop = async (): Promise<void> => {
    // New commands get a polite answer while the runs in hand have their last word.
    await pipeline.drain(DRAIN_MS);
    await Promise.allSettled([slack.stop(), clusters.close(), store.close(), ops.close(), audit.close()]);
    policies.close();
  };
  let stopping: Promise<void> | undefined;
  return {
    opsPort: ops.port,
    port: slack.port(),
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}
