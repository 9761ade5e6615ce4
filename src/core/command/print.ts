import { printDuration } from '../../lib/duration.ts';
import type { Command, RunRequest, Target } from './command.ts';
import { protectMarkup } from './repair.ts';
import { verbNamed } from './verbs.ts';

/** Words of these characters need no quotes. */
const BARE = /^[A-Za-z0-9_@%+=:,./^-]+$/;

/**
 * The canonical spelling of a command, as it is typed after `/kdebug`: parsing it gives the same command. Show it
 * literally; it is never given to a shell.
 */
export function printCommand(command: Command): string {
  return protectMarkup(partsOf(command).join(' '));
}

function partsOf(command: Command): readonly string[] {
  switch (command.kind) {
    case 'form':
      return [];
    case 'run':
      return requestParts(command.request);
    case 'can-i':
      return ['can-i', ...requestParts(command.request)];
    case 'help':
      return command.topic === undefined ? ['help'] : ['help', command.topic];
    case 'list':
    case 'images':
    case 'whoami':
      return [command.kind];
    case 'show':
    case 'logs':
    case 'stop':
    case 'rerun':
    case 'export':
      return [command.kind, command.id];
    case 'describe':
      return ['describe', command.pod, ...placeParts(command)];
    case 'batch':
      return ['batch', command.id, ...changeParts(command.change)];
    case 'apply':
      return applyParts(command);
  }
}

function applyParts(command: Extract<Command, { kind: 'apply' }>): readonly string[] {
  const head = ['apply', ...placeParts(command)];
  return command.yaml === undefined ? head : [`${head.join(' ')}\n\`\`\`\n${command.yaml}\n\`\`\``];
}

function changeParts(change: Extract<Command, { kind: 'batch' }>['change']): readonly string[] {
  if (!change) return [];
  return change.kind === 'scale' ? scaleParts(change) : [change.kind];
}

const scaleParts = (scale: { readonly replicas?: number; readonly parallelism?: number }): readonly string[] => [
  ...value('replicas', scale.replicas?.toString()),
  ...value('parallelism', scale.parallelism?.toString()),
];

const placeParts = (place: { readonly namespace?: string; readonly cluster?: string }): readonly string[] => [
  ...(place.namespace === undefined ? [] : ['-n', place.namespace]),
  ...value('cluster', place.cluster),
];

function requestParts(request: RunRequest): readonly string[] {
  const duration = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : printDuration(ms));
  const { targetContainer, batch } = request;
  return [
    ...targetWords(request.target),
    ...placeParts(request),
    ...value('target', targetContainer?.kind === 'named' ? targetContainer.name : undefined),
    ...when('no-target', targetContainer?.kind === 'none'),
    ...value('image', request.image),
    ...value('container', request.label),
    ...request.env.flatMap(({ name, value: text }) => value('env', `${name}=${text}`)),
    ...value('profile', request.profile === 'auto' ? undefined : request.profile),
    ...value('image-pull-policy', request.imagePullPolicy),
    ...when('arguments-only', request.argumentsOnly),
    ...value('timeout', duration(request.timeoutMs)),
    ...value('reason', request.reason),
    ...when('dry-run', request.dryRun),
    ...scaleParts(batch),
    ...value('ttl', duration(batch.ttlMs)),
    ...when('canary', batch.canary),
    ...(request.command.length === 0 ? [] : ['--', ...request.command.map(quoteWord)]),
  ];
}

/** How a target is written in a command. */
export function targetWords(target: Target): readonly string[] {
  if (target.kind === 'all') return ['--all'];
  if (target.kind === 'selector') return ['-l', quoteWord(target.selector)];
  if (target.kind === 'workload') return [`${target.workload}/${target.name}`];
  return [verbNamed(target.name) ? `pod/${target.name}` : target.name];
}

const value = (flag: string, text: string | undefined): readonly string[] =>
  text === undefined ? [] : [`--${flag}=${quoteWord(text)}`];

const when = (flag: string, isSet: boolean): readonly string[] => (isSet ? [`--${flag}`] : []);

/** A word as `tokenize` reads it back: bare, else between single quotes, else between double quotes, else both. */
export function quoteWord(word: string): string {
  if (BARE.test(word)) return word;
  if (!word.includes("'")) return `'${word}'`;
  if (!/["\\$`]/.test(word)) return `"${word}"`;
  return `'${word.replaceAll("'", "'\\''")}'`;
}
