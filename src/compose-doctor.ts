import { parseArgs } from 'node:util';
import { createClusterProbe } from './adapters/kubernetes/index.ts';
import { createSlackProbe } from './adapters/slack/index.ts';
import { examineRedis } from './adapters/store/index.ts';
import { machineProbe, systemClock } from './adapters/system/index.ts';
import { lintPolicy } from './cli/lint-policy.ts';
import { VERSION } from './compose.ts';
import { type Env, loadEnv, secretsOf } from './config/env.ts';
import { type LoadedPolicy, loadPolicy } from './config/load-policy.ts';
import { KdebugError } from './core/errors.ts';
import { type Check, type ExitCode, printCheck, printJson, type Report, reportOf, summaryOf } from './doctor/check.ts';
import { examine, type Probes } from './doctor/doctor.ts';
import type { ClusterProbe } from './doctor/probes.ts';
import { invalidEnvironment } from './doctor/setup-checks.ts';
import { defined } from './lib/object.ts';

const USAGE = `usage: doctor [--json] [--user U… …] [--in NAMESPACE …]
  --json   one JSON object instead of lines
  --user   the Slack id of a person whose rights are looked up; may be repeated
  --in     a namespace that a rule's prefix ("shop-*") covers; may be repeated`;

export interface DoctorCall {
  readonly words: readonly string[];
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Takes a line of the report. */
  readonly out: (line: string) => void;
  /** Returns the command that calls a tool here: in the image, or in a checkout. */
  readonly tool: (name: string) => string;
}

/**
 * Finds how a program at this address calls the tools. In the image they are in one file beside it, and the people who
 * read kdebug's messages are outside.
 */
export const toolsOf =
  (url: string): DoctorCall['tool'] =>
  (name) => {
    if (url.endsWith('.ts')) return name === 'doctor' ? 'npm run doctor' : `npm run --silent ${name} --`;
    return name === 'doctor' ? 'node main.js doctor' : `kubectl -n kdebug exec deploy/kdebug -- node cli.js ${name}`;
  };

/**
 * Looks at everything that this installation needs, changes nothing, and prints a line for each check. Returns the exit
 * code: 0 all is fine (warnings allowed), 1 something fails, 2 wrong usage, or environment or policy unreadable. Prints
 * no secret.
 */
export async function doctor({ words, variables, out, tool }: DoctorCall): Promise<ExitCode> {
  const options = readWords(words);
  if (options === undefined) {
    out(USAGE);
    return 2;
  }
  const loaded = loadEnv(variables);
  const report =
    loaded.kind === 'invalid'
      ? reportOf(invalidEnvironment(loaded.problems), false)
      : await examineWith(loaded.env, { tool, options, variables });
  const secrets = loaded.kind === 'ok' ? secretsOf(loaded.env).filter((secret) => secret.length >= 8) : [];
  const withoutSecrets = (text: string): string =>
    secrets.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text);
  // Before JSON: it escapes quotes, and would hide a secret that has one.
  const checks = report.checks.map((check) => ({
    ...check,
    what: withoutSecrets(check.what),
    result: withoutSecrets(check.result),
    fix: check.fix.map(withoutSecrets),
  }));
  for (const line of options.json ? [printJson({ ...report, checks })] : linesOf(checks)) out(line);
  return report.exitCode;
}

const linesOf = (checks: readonly Check[]): readonly string[] => [...checks.flatMap(printCheck), summaryOf(checks)];

interface Options {
  readonly json: boolean;
  readonly users: readonly string[];
  readonly namespaces: readonly string[];
}

function readWords(words: readonly string[]): Options | undefined {
  try {
    const {
      json = false,
      user = [],
      in: namespaces = [],
    } = parseArgs({
      args: [...words],
      options: {
        json: { type: 'boolean' },
        user: { type: 'string', multiple: true },
        in: { type: 'string', multiple: true },
      },
    }).values;
    return user.every((id) => /^[UW][A-Z0-9]{2,20}$/.test(id)) ? { json, users: user, namespaces } : undefined;
  } catch {
    return undefined;
  }
}

async function examineWith(
  env: Env,
  { tool, options, variables }: Pick<DoctorCall, 'tool' | 'variables'> & { readonly options: Options },
): Promise<Report> {
  const path = env.policyPath;
  const loaded = loadPolicy(path);
  const lines: string[] = [];
  const exitCode = lintPolicy([path], (line) => lines.push(line));
  const probes = probesOf(env, loaded.kind === 'ok' ? loaded : undefined);
  try {
    return await examine({
      env,
      policy: { path, loaded, lint: { exitCode, lines }, command: `${tool('lint-policy')} ${path}` },
      probes,
      secretOf: (variable) => variables[variable]?.trim(),
      users: options.users,
      namespaces: options.namespaces,
      rbac: `${tool('rbac')} --policy ${path}`,
    });
  } finally {
    await probes.slack.close();
  }
}

function probesOf(env: Env, loaded: LoadedPolicy | undefined): Probes {
  const { botToken, apiUrl, proxy } = env.slack;
  const { redis } = env;
  return {
    slack: createSlackProbe({ botToken, apiUrl, ...defined({ proxy }), clock: systemClock }),
    redis: redis && (() => examineRedis(redis)),
    cluster: (name) => openCluster(name, env, loaded),
    machine: machineProbe,
  };
}

function openCluster(name: string, { kubeconfig }: Env, loaded: LoadedPolicy | undefined): ClusterProbe {
  const cluster = loaded?.policy.clusters[name];
  if (cluster === undefined) throw new KdebugError('cluster_unknown', { detail: name });
  const source = { cluster, ...defined({ kubeconfigPath: kubeconfig }) };
  return createClusterProbe({ source, version: VERSION, clock: systemClock });
}
