import { createLog } from './adapters/log/index.ts';
import { type App, startApp, VERSION } from './compose.ts';
import { doctor, toolsOf } from './compose-doctor.ts';
import { type Env, loadEnv, secretsOf } from './config/env.ts';
import { type InvalidPolicy, type LoadedPolicy, loadPolicy } from './config/load-policy.ts';
import { watchPolicy } from './config/policy-reload.ts';
import { explainStart } from './doctor/failure.ts';
import type { Log } from './flow/ports/machine.ts';
import { sentence } from './lib/text.ts';

/** Exit code for the operator's mistakes: environment or policy file. */
const MISCONFIGURED = 2;

const tool = toolsOf(import.meta.url);

/** Every start that fails ends with this: it names one cause, the doctor all of them. */
const SEE_DOCTOR = `For all checks: ${tool('doctor')}`;

async function main(): Promise<void> {
  const early = createLog({ level: 'info' });
  const loaded = loadEnv(process.env);
  if (loaded.kind === 'invalid') return misconfigured(early, 'the environment is not right', loaded.problems);
  const { env } = loaded;
  const policy = loadPolicy(env.policyPath);
  if (policy.kind === 'invalid') return refuseToStart(early, env.policyPath, policy);
  await run(env, policy, createLog({ level: env.logLevel, secrets: secretsOf(env) }));
}

/** An older copy of the policy could give back rights that the broken file takes away: ADR 11. */
function refuseToStart(log: Log, path: string, { problems, first }: InvalidPolicy): void {
  misconfigured(log, 'the policy file is not right', problems);
  log.error('not started without a policy', { reason: 'policy_refused', path, ...first, hint: POLICY_HINT });
}

const POLICY_HINT =
  'Correct the field, or apply the last policy that worked, then wait for the next restart or delete the pod. npm run lint-policy (in the image: node cli.js lint-policy FILE) says the same before you apply it.';

function misconfigured(log: Log, message: string, problems: readonly string[]): void {
  for (const problem of problems) log.error(message, { problem, hint: SEE_DOCTOR });
  process.exitCode = MISCONFIGURED;
}

const isReadableOnTheWay = (url: string): boolean =>
  /^redis:$/.test(new URL(url).protocol) && !/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);

async function run(env: Env, initial: LoadedPolicy, log: Log): Promise<void> {
  endOnDefect(log);
  if (env.redis === undefined) {
    log.warn('no REDIS_URL: runs are in memory only, so run one replica; a restart forgets them');
  } else if (isReadableOnTheWay(env.redis.url)) {
    log.warn('REDIS_URL is not encrypted, so its password is readable on the network: use rediss://');
  }
  if (env.slack.unusedSecret !== undefined) {
    log.warn(
      'SLACK_APP_TOKEN and SLACK_SIGNING_SECRET are both set: Socket Mode is used, and nothing listens for HTTP; remove the one that is left over',
    );
  }
  if (initial.placeholders.length > 0) {
    log.warn('the policy still contains placeholders', { problems: initial.placeholders });
  }
  if (env.keyFrom === 'derived') log.warn('no KDEBUG_KEY: the sealing key is derived from the bot token');
  const policies = watchPolicy(env.policyPath, { initial, log });
  // Nothing is accepted yet. Process 1 of a container never hears a signal that nobody handles.
  let stop = (): Promise<void> => Promise.resolve();
  stopOnSignal(log, () => stop());
  try {
    const app = await startApp({ env, policies, log });
    stop = () => app.stop();
    log.info('ready', readyFacts(env, initial, app));
  } catch (thrown) {
    policies.close();
    const { code, cause, fix } = explainStart(thrown, env);
    log.error('kdebug could not start', {
      reason: code,
      detail: cause,
      hint: `${sentence(fix)} ${SEE_DOCTOR}`,
      error: thrown,
    });
    process.exitCode = code === 'store_misconfigured' ? MISCONFIGURED : 1;
  }
}

/** The facts that an operator wants to know of a process that just started; no secret. */
const readyFacts = (env: Env, { policy, hash }: LoadedPolicy, { replica, port, opsPort, alertsPort }: App) => ({
  mode: env.slack.receive.mode,
  version: VERSION,
  revision: env.revision,
  node: process.version,
  clusters: Object.keys(policy.clusters),
  replica,
  store: env.redis === undefined ? 'memory' : 'redis',
  port,
  opsPort,
  alertsPort,
  policyHash: hash,
});

/** The first signal drains; further ones change nothing, because the drain is bounded. */
function stopOnSignal(log: Log, stop: () => Promise<void>): void {
  const leave = (signal: string): void => {
    log.info('stopping', { signal });
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error('could not stop cleanly', { error });
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => leave(signal));
}

/**
 * Records an uncaught error without secrets: Node would print it on standard error. State may be inconsistent, so the process exits; a restart
 * or another replica resumes the runs.
 */
function endOnDefect(log: Log): void {
  process.on('uncaughtException', (error, origin) => {
    log.error('unexpected error, the process ends', { reason: 'internal_error', origin, error });
    process.exit(1);
  });
}

const [command, ...words] = process.argv.slice(2);
if (command === 'doctor') {
  const out = (line: string): void => void process.stdout.write(`${line}\n`);
  process.exitCode = await doctor({ words, variables: process.env, out, tool });
} else await main();
