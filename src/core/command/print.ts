import { printDuration } from '../../lib/duration.ts';
import type { Command, CommandError, LogFilter, RunFilter, RunRequest, Target } from '../request/command.ts';
import { verbNamed } from './line/verbs.ts';
import { protectMarkup } from './repair.ts';

/** A word of only these characters needs no quotes. */
const BARE = /^[A-Za-z0-9_@%+=:,./^-]+$/;

/**
 * The canonical spelling of a command after `/kdebug`; parsing it gives the same command. Show it literally; it never
 * goes to a shell.
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
      return ['list', ...listParts(command)];
    case 'images':
    case 'whoami':
      return [command.kind];
    case 'logs':
      return ['logs', command.id, ...logParts(command)];
    case 'show':
    case 'stop':
    case 'rerun':
    case 'export':
      return [command.kind, command.id];
    case 'describe':
      return ['describe', command.pod, ...locationParts(command)];
    case 'batch':
      return ['batch', command.id, ...changeParts(command.change)];
    case 'apply':
      return applyParts(command);
  }
}

const listParts = ({ mine, all, pod, outcome, page }: RunFilter): readonly string[] => [
  ...when('mine', mine === true),
  ...when('all', all === true),
  ...value('pod', pod),
  ...value('outcome', outcome),
  ...value('page', page?.toString()),
];

const logParts = ({ tail, sinceMs, grep }: LogFilter): readonly string[] => [
  ...value('tail', tail?.toString()),
  ...value('since', sinceMs === undefined ? undefined : printDuration(sinceMs)),
  ...value('grep', grep),
];

function applyParts(command: Extract<Command, { kind: 'apply' }>): readonly string[] {
  const head = ['apply', ...locationParts(command)];
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

const locationParts = (location: { readonly namespace?: string; readonly cluster?: string }): readonly string[] => [
  ...(location.namespace === undefined ? [] : ['-n', location.namespace]),
  ...value('cluster', location.cluster),
];

function requestParts(request: RunRequest): readonly string[] {
  const duration = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : printDuration(ms));
  const { targetContainer, batch } = request;
  return [
    ...(request.onceMore ? ['once-more'] : []),
    ...targetWords(request.target),
    ...locationParts(request),
    ...(request.onceMore?.withoutEnv ?? []).flatMap((name) => value('without-env', name)),
    ...value('image-of', request.onceMore?.imageOf?.toString()),
    ...when('untraced', request.onceMore?.untraced === true),
    ...value('target', targetContainer?.kind === 'named' ? targetContainer.name : undefined),
    ...when('no-target', targetContainer?.kind === 'none'),
    ...value('image', request.target.kind === 'compare' ? undefined : request.image),
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

export function targetWords(target: Target): readonly string[] {
  if (target.kind === 'all') return ['--all'];
  if (target.kind === 'selector') return ['-l', quoteWord(target.selector)];
  if (target.kind === 'workload') return [`${target.workload}/${target.name}`];
  if (target.kind === 'compare') return ['compare', target.name];
  return [verbNamed(target.name) ? `pod/${target.name}` : target.name];
}

const value = (flag: string, text: string | undefined): readonly string[] =>
  text === undefined ? [] : [`--${flag}=${quoteWord(text)}`];

const when = (flag: string, isSet: boolean): readonly string[] => (isSet ? [`--${flag}`] : []);

/** A word as `tokenize` reads it: bare, else in single quotes, else in double quotes, else in both. */
export function quoteWord(word: string): string {
  if (BARE.test(word)) return word;
  if (!word.includes("'")) return `'${word}'`;
  if (!/["\\$`]/.test(word)) return `"${word}"`;
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** Columns that a code block shows without wrapping, on a phone in landscape and in a desktop thread. */
const WIDTH = 76;
/** Columns of a long line that stay visible before the wrong word. */
const LEAD = 24;

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const NARROW = /\p{Mn}|\p{Me}|\p{Cf}/u;

/**
 * Two lines for a monospaced block: the command line, and carets under the wrong word. Neither exceeds 76 columns: a
 * longer line is cut to a window around the word, with `…` at the cuts. Line breaks and tabs become one space.
 * Double-width characters count as two, zero-width ones as none.
 */
export function pointAt(error: CommandError): string {
  const { from, to } = windowOf(error);
  const before = from > 0 ? '…' : '';
  const after = to < error.text.length ? '…' : '';
  const line = before + flat(error.text.slice(from, to)) + after;
  const indent = columns(before + flat(error.text.slice(from, Math.max(from, error.start))));
  const marked = columns(flat(error.text.slice(Math.max(from, error.start), Math.min(to, error.end))));
  return `${line}\n${' '.repeat(indent)}${'^'.repeat(Math.max(1, Math.min(marked, WIDTH - indent)))}`;
}

/** The range to show, cut between code points. */
function windowOf({ text, start, end }: CommandError): { from: number; to: number } {
  if (text.length <= WIDTH && columns(text) < WIDTH) return { from: 0, to: text.length };
  const fits = end <= WIDTH - 2 && columns(text.slice(0, end)) <= WIDTH - 2;
  const from = onBoundary(text, fits ? 0 : Math.max(0, start - LEAD));
  let to = from;
  let room = WIDTH - 3;
  while (to < text.length) {
    const character = String.fromCodePoint(text.codePointAt(to) ?? 0);
    room -= columns(flat(character));
    if (room < 0) break;
    to += character.length;
  }
  return { from, to };
}

const onBoundary = (text: string, at: number): number => (/[\udc00-\udfff]/.test(text.charAt(at)) ? at + 1 : at);

const flat = (text: string): string => text.replace(/\s/g, ' ');

function columns(text: string): number {
  let total = 0;
  for (const character of text) total += NARROW.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return total;
}
