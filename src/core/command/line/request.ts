import { defined } from '../../../lib/object.ts';
import type { EnvVar } from '../../container/ephemeral-container.ts';
import type { RunRequest, Target } from '../../request/command.ts';
import type { FlagName } from './flags.ts';
import { type GivenFlag, type Line, type Problem, type Report, shown, wholeOf } from './line.ts';
import { type Named, readTarget } from './target.ts';
import type { Word } from './tokenize.ts';
import {
  type Reader,
  readCluster,
  readContainerName,
  readDuration,
  readEnv,
  readImage,
  readNamespace,
  readParallelism,
  readProfile,
  readPullPolicy,
  readReason,
  readReplicas,
} from './values.ts';

export const flagReader =
  (line: Line, report: Report) =>
  <T>(name: FlagName, reader: Reader<T>): T | undefined => {
    const given = line.flags.get(name)?.[0];
    return given && reader(given, report);
  };

/** The namespace, from `-n` or before the pod's name, and `--cluster`. */
export function readNamespaceFlags(line: Line, report: Report, named?: Named) {
  const flag = flagReader(line, report);
  const namespace = flag('namespace', readNamespace);
  const before = named?.namespace;
  const [given] = line.flags.get('namespace') ?? [];
  if (before && given && before.value !== namespace) {
    const message = `${before.value} and ${shown(given.value)} are two namespaces.`;
    report({ ...wholeOf(given), code: 'flag_contradiction', message, hint: 'Keep one of the two.' });
  }
  return defined({ namespace: namespace ?? before?.value, cluster: flag('cluster', readCluster) });
}

export function readScale(line: Line, report: Report) {
  const flag = flagReader(line, report);
  return defined({ replicas: flag('replicas', readReplicas), parallelism: flag('parallelism', readParallelism) });
}

/** The request in a line; `words` holds its plain words after the verb. Reports mistakes, never guesses. */
export function readRequest(line: Line, words: readonly Word[], report: Report): RunRequest | undefined {
  const named = readTarget(line, words, report);
  const target = named?.target;
  const flag = flagReader(line, report);
  reportContradictions(line, target, report);
  const fields = {
    ...readNamespaceFlags(line, report, named),
    ...defined({
      targetContainer: readTargetContainer(line, report),
      image: flag('image', readImage),
      label: flag('container', readContainerName),
      imagePullPolicy: flag('image-pull-policy', readPullPolicy),
      timeoutMs: flag('timeout', readDuration),
      reason: flag('reason', readReason),
    }),
    env: readEnvironment(line, report),
    profile: flag('profile', readProfile) ?? ('auto' as const),
    command: line.command?.map((word) => word.text) ?? [],
    argumentsOnly: line.flags.has('arguments-only'),
    dryRun: line.flags.has('dry-run'),
    batch: defined({
      replicas: flag('replicas', readReplicas),
      parallelism: flag('parallelism', readParallelism),
      ttlMs: flag('ttl', readDuration),
    }),
  };
  const canary = line.flags.has('canary');
  return target && { target, ...fields, batch: { ...fields.batch, canary } };
}

function readTargetContainer(line: Line, report: Report): RunRequest['targetContainer'] {
  if (line.flags.has('no-target')) return { kind: 'none' };
  const name = flagReader(line, report)('target', readContainerName);
  return name === undefined ? undefined : { kind: 'named', name };
}

/** Every `--env`, in order. A repeated name is a mistake: only one of the two could win. */
function readEnvironment(line: Line, report: Report): readonly EnvVar[] {
  const names = new Set<string>();
  const variables: EnvVar[] = [];
  for (const given of line.flags.get('env') ?? []) {
    const variable = readEnv(given, report);
    if (!variable) break;
    if (names.has(variable.name)) {
      report({
        ...problemAt(given),
        code: 'flag_repeated',
        message: `The variable ${variable.name} is given twice.`,
        hint: 'Keep one of the two.',
      });
      break;
    }
    names.add(variable.name);
    variables.push(variable);
  }
  return variables;
}

const BATCH_FLAGS: readonly FlagName[] = ['replicas', 'parallelism', 'ttl', 'canary'];

function reportContradictions(line: Line, target: Target | undefined, report: Report): void {
  const [named] = line.flags.get('target') ?? [];
  const [none] = line.flags.get('no-target') ?? [];
  if (named && none) {
    const later = named.start > none.start ? named : none;
    report({
      ...wholeOf(later),
      code: 'flag_contradiction',
      message: '--target and --no-target contradict each other.',
      hint: 'Keep one of the two.',
    });
  }
  reportCommand(line, report);
  if (target?.kind !== 'pod') return;
  for (const name of BATCH_FLAGS) {
    const [given] = line.flags.get(name) ?? [];
    if (!given) continue;
    const hint = 'Leave it out, or aim at several pods with -l, --all or a workload such as deployment/web.';
    report({
      ...wholeOf(given),
      code: 'flag_needs_batch',
      message: `--${name} is for several pods, and this is one.`,
      hint,
    });
  }
}

/** Both `--` and `--arguments-only` need words after `--`. */
function reportCommand(line: Line, report: Report): void {
  if (line.command && line.command.length > 0) return;
  const [only] = line.flags.get('arguments-only') ?? [];
  if (only) {
    const hint = 'Write the arguments after --, for example: --arguments-only -- -v';
    report({
      ...wholeOf(only),
      code: 'command_missing',
      message: '--arguments-only needs arguments after --.',
      hint,
    });
  } else if (line.separator) {
    const hint = 'Write the command after it, for example: -- cat /etc/resolv.conf';
    report({
      code: 'command_missing',
      message: 'Nothing follows --.',
      hint,
      start: line.separator.start,
      end: line.separator.end,
    });
  }
}

const problemAt = (given: GivenFlag): Pick<Problem, 'start' | 'end'> => ({ start: given.start, end: given.end });
