import { dirname } from 'node:path';
import type { Env } from '../config/env.ts';
import type { InvalidPolicy, LoadedPolicy } from '../config/load-policy.ts';
import { formatBytes, formatCount } from '../lib/duration.ts';
import { areaOf, type Check } from './check.ts';
import type { MachineProbe } from './probes.ts';

const setup = areaOf('setup');
const policy = areaOf('policy');

/** A Secret's keys are read at the start only. */
export const RESTART = 'kubectl -n kdebug rollout restart deployment/kdebug';

/** kdebug itself stops at this (`adapters/spool`). */
const SCRATCH_BYTES = 2 * 1024 ** 3;

export const invalidEnvironment = (problems: readonly string[]): readonly Check[] =>
  problems.map((problem) =>
    setup.fail(
      'environment',
      problem,
      'kubectl -n kdebug edit secret kdebug   # plain values: under stringData',
      RESTART,
    ),
  );

export interface Machine {
  readonly env: Env;
  readonly machine: MachineProbe;
}

/** Settings, ports and folders of this machine. */
export async function checkSetup({ env, machine }: Machine): Promise<readonly Check[]> {
  return [
    setup.ok('environment', `complete; receives by ${env.slack.receive.mode === 'socket' ? 'Socket Mode' : 'HTTP'}`),
    ...bothWays(env),
    env.keyFrom === 'given'
      ? setup.ok('KDEBUG_KEY', 'given')
      : setup.warn(
          'KDEBUG_KEY',
          'is derived from the bot token: a new token loses what was sealed, and old audit records cannot be verified',
          'openssl rand -base64 32',
          'add it to the Secret kdebug as KDEBUG_KEY, and keep a copy elsewhere',
        ),
    await checkPort('OPS_PORT', env.opsPort, machine),
    ...(env.slack.receive.mode === 'http' ? [await checkPort('PORT', env.port, machine, env.opsPort)] : []),
    await checkScratch(machine),
    ...(env.audit === 'stdout' ? [] : [await checkAudit(env.audit, machine)]),
  ];
}

function bothWays({ slack }: Env): readonly Check[] {
  if (slack.unusedSecret === undefined) return [];
  return [
    setup.warn(
      'receiving',
      'SLACK_APP_TOKEN and SLACK_SIGNING_SECRET are both set: kdebug uses Socket Mode and opens no port for Slack',
      `to receive over HTTP: kubectl -n kdebug patch secret kdebug --type=json -p='[{"op":"remove","path":"/data/SLACK_APP_TOKEN"}]'`,
      RESTART,
    ),
  ];
}

/** In the pod of a running kdebug its ports are taken, by itself. */
async function checkPort(what: string, port: number, machine: MachineProbe, opsPort = port): Promise<Check> {
  const trouble = await machine.portTrouble(port);
  if (trouble === undefined) return setup.ok(what, `${port} is free`);
  const readiness = await machine.readiness(opsPort);
  if (readiness === undefined) {
    return setup.fail(what, `${port} cannot be used (${trouble})`, `set ${what} to a free port above 1023`);
  }
  const failing = readiness.filter((line) => line.startsWith('[-]'));
  return failing.length === 0
    ? setup.ok(what, `${port} is used by a kdebug that is ready`)
    : setup.warn(
        what,
        `${port} is used by a kdebug that is not ready: ${failing.join('; ')}`,
        'kubectl -n kdebug logs deploy/kdebug',
      );
}

async function checkScratch(machine: MachineProbe): Promise<Check> {
  const trouble = await machine.folderTrouble(machine.scratch);
  if (trouble !== undefined) {
    return setup.fail(
      'scratch',
      `${machine.scratch} cannot be written to (${trouble}), so no log can be read`,
      'mount an emptyDir there, or name another folder in TMPDIR',
    );
  }
  const free = await machine.freeBytes(machine.scratch);
  return free < SCRATCH_BYTES
    ? setup.warn(
        'scratch',
        `${machine.scratch}: its disk has ${formatBytes(free)} left, and long logs may need 2 GiB`,
        'raise sizeLimit and ephemeral-storage',
      )
    : setup.ok(
        'scratch',
        `${machine.scratch}: its disk has ${formatBytes(free)} left (a volume's sizeLimit may be less)`,
      );
}

async function checkAudit(path: string, machine: MachineProbe): Promise<Check> {
  const folder = dirname(path);
  const trouble = await machine.folderTrouble(folder);
  return trouble === undefined
    ? setup.ok('KDEBUG_AUDIT', `${folder} can be written to`)
    : setup.fail(
        'KDEBUG_AUDIT',
        `${folder} cannot be written to (${trouble}): kdebug would do nothing without its audit log`,
        'mount a volume there that the user 65532 may write to, or set KDEBUG_AUDIT=stdout',
      );
}

/** A policy and what `lint-policy` prints of it. */
export interface Linted {
  readonly path: string;
  readonly loaded: LoadedPolicy | InvalidPolicy;
  readonly lint: { readonly exitCode: number; readonly lines: readonly string[] };
  /** The command that lints it. */
  readonly command: string;
}

export function checkPolicy({ path, loaded, lint, command }: Linted): readonly Check[] {
  if (loaded.kind === 'invalid')
    return loaded.problems.map((problem) => policy.fail('file', problem, 'correct it, and apply it again', command));
  const { channels, clusters } = loaded.policy;
  const file = `${path} is valid: ${formatCount(Object.keys(channels).length, 'channel')}, ${formatCount(Object.keys(clusters).length, 'cluster')}, sha256:${loaded.hash.slice(0, 12)}`;
  const notes = lint.lines.filter((line) => line.startsWith('note: '));
  const problems = lint.lines.filter((line) => !line.startsWith('note: ') && line !== lint.lines.at(-1));
  return [
    policy.ok('file', file),
    ...(lint.exitCode === 0
      ? [policy.ok('lint', `no problems, ${formatCount(notes.length, 'note')}`)]
      : problems.map((problem) => policy.fail('lint', problem, command))),
  ];
}
