import { hostname } from 'node:os';
import { createAuditLog } from './adapters/audit/index.ts';
import { type OpsServer, startAlertServer, startOpsServer } from './adapters/http/index.ts';
import { createClusters, SingleReplica } from './adapters/kubernetes/index.ts';
import { createMetrics } from './adapters/metrics/index.ts';
import { createSeal } from './adapters/seal/index.ts';
import { createSlack } from './adapters/slack/index.ts';
import { createSpools, spoolTrouble } from './adapters/spool/index.ts';
import { MemoryRunStore, openRedisRunStore } from './adapters/store/index.ts';
import { memoryOf, ownNamespace, randomIds, replicaName, systemClock } from './adapters/system/index.ts';
import { type Env, secretsOf } from './config/env.ts';
import { exportYaml, parseEphemeralJob } from './config/job-file/parse-job.ts';
import { type PolicyWatch, policyLines } from './config/policy-reload.ts';
import { KdebugError } from './core/errors.ts';
import { deriveKey } from './core/hash.ts';
import { namesChannel } from './core/policy/policy.ts';
import { warnOfChannels } from './flow/planning/channel-check.ts';
import type { Log } from './flow/ports/machine.ts';
import type { RunStore } from './flow/ports/store.ts';
import { RunSupervisor } from './flow/supervisor.ts';
import { defined } from './lib/object.ts';
import { Turns } from './lib/turns.ts';

/** The version in user agents and records; a test holds it equal to package.json's. */
export const VERSION = '0.1.0';

export interface App {
  /** This process' name in leases, log and audit records. */
  readonly replica: string;
  readonly opsPort: number;
  /** The port for Slack's requests; undefined in Socket Mode. */
  readonly port: number | undefined;
  /** The port for notifications of alerts; undefined without `ALERTS_PORT`. */
  readonly alertsPort: number | undefined;
  /** Finishes runs or hands them over, and closes everything, in about 10 s at most. Safe to call twice. */
  stop(): Promise<void>;
}

type AppMetrics = ReturnType<typeof createMetrics>;

export interface Parts {
  readonly env: Env;
  readonly policies: PolicyWatch;
  readonly log: Log;
}

/**
 * The time that a drain waits for the held runs. With Redis another replica continues the rest at once; without it,
 * runs that are not launched yet are lost. Closing the receivers and senders takes at most five seconds more: ten in
 * all, handover included.
 */
const DRAIN_SHARED_MS = 2_500;
const DRAIN_ALONE_MS = 4_000;
/** With Redis even a busy machine has time to release its runs: an unreleased run waits for its lease to lapse. */
const HAND_OVER_SHARED_MS = 2_500;

/**
 * The composition root: creates every adapter and passes them to the flow. Decides nothing.
 * @throws KdebugError slack_token_rejected, slack_scopes_missing, slack_org_install, slack_unreachable: there is no bot
 * without Slack; store_misconfigured, store_unreachable
 */
export async function startApp(parts: Parts): Promise<App> {
  const { env } = parts;
  const build = {
    version: VERSION,
    revision: env.revision,
    node: process.versions.node,
    mode: env.slack.receive.mode,
    store: env.redis === undefined ? 'memory' : 'redis',
  } as const;
  const metrics = createMetrics({ clock: systemClock, build });
  metrics.observe('memory_used_bytes', async () => (await memoryOf()).usedBytes);
  metrics.observe('memory_limit_bytes', async () => (await memoryOf()).limitBytes);
  const store = await openStore(parts, metrics);
  try {
    return await startWith(store, metrics, parts);
  } catch (thrown) {
    // An open connection would keep the process alive.
    await store.close();
    throw thrown;
  }
}

/** Each key has one purpose: whoever learns one learns nothing about the others. */
async function openStore({ env, policies, log }: Parts, metrics: AppMetrics): Promise<RunStore> {
  const retentionMs = (): number => policies.current().output.retentionMs;
  if (env.redis === undefined) return new MemoryRunStore({ clock: systemClock, retentionMs });
  return openRedisRunStore({
    ...env.redis,
    sealer: createSeal(deriveKey(env.key, 'kdebug records in Redis')),
    indexKey: deriveKey(env.key, 'kdebug names in Redis'),
    retentionMs,
    log,
    metrics,
  });
}

async function ownPod(): Promise<{ readonly namespace: string; readonly name: string } | undefined> {
  const namespace = await ownNamespace();
  return namespace === undefined ? undefined : { namespace, name: hostname() };
}

/** Undefined with Redis, and outside a cluster: then nothing forbids a second one, or nobody can see it. */
async function singleReplica(env: Env, log: Log): Promise<SingleReplica | undefined> {
  const namespace = env.redis === undefined ? await ownNamespace() : undefined;
  if (namespace === undefined) return undefined;
  const source = { cluster: { inCluster: true, default: true } };
  return new SingleReplica({ source, podName: hostname(), namespace, version: VERSION, clock: systemClock, log });
}

async function startWith(store: RunStore, metrics: AppMetrics, { env, policies, log }: Parts): Promise<App> {
  const clock = systemClock;
  metrics.policyReloaded('applied', policies.status().hash);
  policies.onReload((result, hash) => metrics.policyReloaded(result, hash));
  const clusters = createClusters({
    clusters: () => policies.current().clusters,
    ...defined({ kubeconfigPath: env.kubeconfig }),
    log,
    clock,
    metrics,
    version: VERSION,
  });
  const { botToken, apiUrl, command, receive, proxy } = env.slack;
  const slack = createSlack({
    botToken,
    apiUrl,
    command,
    ...defined({ proxy }),
    transport:
      receive.mode === 'socket'
        ? { kind: 'socket', appToken: receive.appToken }
        : { kind: 'http', signingSecret: receive.signingSecret, port: env.port },
    log,
    clock,
    onToken: (isAccepted) => metrics.tokenAccepted(isAccepted),
    isNamed: (channelId) => namesChannel(policies.current(), channelId),
    metrics,
  });
  const seal = createSeal(env.key);
  const owner = replicaName(hostname());
  const audit = await createAuditLog({
    destination: env.audit === 'stdout' ? { kind: 'stdout' } : { kind: 'file', path: env.audit },
    key: env.key,
    owner,
    log,
    clock,
    secrets: secretsOf(env),
    metrics,
  });
  const pipeline = new RunSupervisor({
    clusters,
    store,
    thread: slack.thread,
    token: slack.token,
    directory: slack.directory,
    audit,
    spools: createSpools({ onEnd: spoolTrouble({ log, clock }, metrics) }),
    turns: new Turns(clock),
    policies,
    clock,
    ids: randomIds,
    random: Math.random,
    manifests: { read: parseEphemeralJob, write: exportYaml },
    log,
    metrics,
    seal: seal.seal,
    unseal: seal.open,
    ownPod: await ownPod(),
    owner,
  });
  let stopping: Promise<void> | undefined;
  const single = await singleReplica(env, log);
  await single?.findOther();
  await slack.start(pipeline.inbox);
  // Else Slack's connections would keep alive a process that nobody can probe.
  const giveUp = async (thrown: unknown): Promise<never> => {
    await Promise.allSettled([slack.stop(), clusters.close(), audit.close()]);
    throw thrown;
  };
  const ops: OpsServer = await startOpsServer({
    port: env.opsPort,
    checks: {
      slack: async () => {
        if (!slack.ready()) throw new KdebugError('slack_unreachable');
        if (!slack.token.isAccepted()) throw new KdebugError('slack_token_rejected');
      },
      store: async () => {
        single?.check();
        await store.check();
      },
      // Fails first when the process is told to stop.
      pipeline: async () => {
        if (stopping !== undefined) throw new KdebugError('shutting_down');
      },
    },
    infos: { policy: () => policyLines(policies.status()), requests: () => slack.requests() },
    metrics,
    clock,
  }).catch(giveUp);
  const alerts =
    env.alertsPort === undefined
      ? undefined
      : await startAlertServer({
          port: env.alertsPort,
          sources: () => policies.current().alerts ?? {},
          secretOf: (variable) => process.env[variable]?.trim(),
          receiver: pipeline.alerts,
          metrics,
          log,
          clock,
        }).catch(async (thrown: unknown) => {
          await ops.close();
          return giveUp(thrown);
        });
  pipeline.startAdopting();
  // Slack then uses the connections of the other one.
  single?.findOtherLater(() => void slack.leave());
  void warnOfChannels({ policies, directory: slack.directory, log });
  const stop = async (): Promise<void> => {
    const isShared = env.redis !== undefined;
    await alerts?.close();
    // A single replica politely refuses new commands while its runs finish; with several, leave so that the others get
    // them.
    if (isShared) await slack.leave();
    const failPending = (): void => slack.failPending();
    await (isShared
      ? pipeline.drain(DRAIN_SHARED_MS, failPending, HAND_OVER_SHARED_MS)
      : pipeline.drain(DRAIN_ALONE_MS, failPending));
    await Promise.allSettled([
      slack.stop(),
      clusters.close(),
      store.close(),
      ops.close(),
      audit.close(),
      single?.close(),
    ]);
    policies.close();
  };
  return {
    replica: owner,
    opsPort: ops.port,
    port: slack.port(),
    alertsPort: alerts?.port,
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}
