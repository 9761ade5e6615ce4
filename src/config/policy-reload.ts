import { readFileSync } from 'node:fs';
import { sha256 } from '../core/hash.ts';
import type { Policy } from '../core/policy/policy.ts';
import { formatCount } from '../lib/duration.ts';
import { defined } from '../lib/object.ts';

import { type InvalidPolicy, type LoadedPolicy, type PolicyMistake, parsePolicy } from './load-policy.ts';
import { policyJsonSchema, type Schema } from './schema-findings.ts';

export interface PolicyWatch {
  /** The policy in force: the latest valid text of the file. */
  current(): Policy;
  status(): PolicyStatus;
  /** Calls `listener` at every new text of the file from now on. */
  onReload(listener: OnReload): void;
  close(): void;
}

/**
 * The result of a reload: applied, unchanged (the file went back to the policy in force), or refused (invalid; the old policy stays).
 */
export type ReloadResult = 'applied' | 'unchanged' | 'refused';

/** `hash`: of the policy now in force. */
type OnReload = (result: ReloadResult, hash: string) => void;

export interface PolicyStatus {
  /** Of the policy in force. */
  readonly hash: string;
  readonly sinceMs: number;
  /** While the file is not the policy in force. */
  readonly refused?: {
    readonly sinceMs: number;
    readonly problems: number;
    readonly first?: PolicyMistake;
  };
}

export interface PolicyWatchOptions {
  /** The policy in force at the start. */
  readonly initial: Pick<LoadedPolicy, 'policy' | 'hash'>;
  readonly log: {
    info(message: string, fields?: Readonly<Record<string, unknown>>): void;
    error(message: string, fields?: Readonly<Record<string, unknown>>): void;
  };
  /** Milliseconds since the epoch; by default the machine's. */
  readonly now?: () => number;
  /**
   * Calls `wake` once after `ms`; the returned function cancels it. By default a timer that does not keep the process
   * alive.
   */
  readonly after?: (ms: number, wake: () => void) => () => void;
}

/** Two polls and the settling take at most 0.8 s from a change to its effect; design section 3 allows 2 s. */
const CHECK_EVERY_MS = 500;

/** A new text must stay unchanged for this long: editors and copies write in pieces. */
const SETTLE_MS = 250;

/**
 * Keeps the policy up to date with its file. Polls the text twice a second instead of watching: the text is a few
 * kilobytes, and polling sees a ConfigMap's symlink swap, a rename, a write in place and a network volume alike. Kernel
 * notifications stop after a swap (ecosystem reference, section 8) or run out. With an invalid or missing file the old
 * policy stays in force. Each new text is one record in the log: `result`, and for a refused one `line`, `column`,
 * `field` and all `problems`.
 */
export function watchPolicy(path: string, options: PolicyWatchOptions): PolicyWatch {
  const { after = afterOnTimer, now = Date.now, log } = options;
  const listeners: OnReload[] = [];
  let policy = options.initial.policy;
  let sinceMs = now();
  let refused: PolicyStatus['refused'];
  /** The hash of the last text processed; `hash` is the policy in force. */
  let handled = options.initial.hash;
  let hash = options.initial.hash;
  let candidate: string | undefined;

  const check = (): void => {
    const seen = readText(path);
    const isNew = seen.hash !== handled;
    const settled = isNew && seen.hash === candidate;
    candidate = isNew && !settled ? seen.hash : undefined;
    // Arm the timer before calling listeners: only `close` may stop the polling, not a listener that throws.
    cancel = after(candidate === undefined ? CHECK_EVERY_MS : SETTLE_MS, check);
    if (settled) accept(seen);
  };

  const accept = (seen: SeenText): void => {
    handled = seen.hash;
    const result = apply(seen);
    for (const listener of listeners) listener(result, hash);
  };

  const apply = (seen: SeenText): ReloadResult => {
    if (seen.hash === hash) {
      log.info('policy file is the policy in force again', { result: 'unchanged', path, hash });
      refused = undefined;
      return 'unchanged';
    }
    const loaded = seen.text === undefined ? unreadable(path, seen.hash) : parsePolicy(seen.text, path);
    if (loaded.kind === 'invalid') {
      const { problems, first } = loaded;
      log.error('new policy is invalid, keeping the old one', { result: 'refused', path, hash, ...first, problems });
      refused = { sinceMs: refused?.sinceMs ?? now(), problems: problems.length, ...defined({ first }) };
      return 'refused';
    }
    log.info('policy changed', { result: 'applied', path, hash: loaded.hash, before: hash });
    ({ policy, hash } = loaded);
    sinceMs = now();
    refused = undefined;
    return 'applied';
  };

  let cancel = after(CHECK_EVERY_MS, check);
  return {
    current: () => policy,
    status: () => ({ hash, sinceMs, ...defined({ refused }) }),
    onReload: (listener) => void listeners.push(listener),
    close: () => cancel(),
  };
}

/**
 * The status for people: the policy in force, and where the file is wrong while it is refused. Names neither a value nor
 * a key of it that people chose (a channel, a cluster, something pasted): anybody may read this.
 */
export function policyLines({ hash, sinceMs, refused }: PolicyStatus): readonly string[] {
  const inForce = `in force since ${timeText(sinceMs)}: ${hash}`;
  if (!refused) return [inForce];
  const { first } = refused;
  const at = first && `first at line ${first.line}, column ${first.column}`;
  const facts = [formatCount(refused.problems, 'problem'), at, first?.field && ownWords(first.field)].filter(
    (fact) => fact !== undefined,
  );
  return [inForce, `file refused since ${timeText(refused.sinceMs)}: ${facts.join(', ')}`];
}

const wordsIn = ({ properties = {}, additionalProperties, items }: Schema): readonly string[] => [
  ...Object.keys(properties),
  ...[...Object.values(properties), additionalProperties, items].flatMap((part) =>
    typeof part === 'object' ? wordsIn(part) : [],
  ),
];

/** The path with `*` for each key that is no word of the policy's own. */
function ownWords(field: string): string {
  const words = new Set(wordsIn(policyJsonSchema()));
  const own = (step: string): string => {
    const [, key = '', indexes = ''] = /^(\w+)((?:\[\d+\])*)$/.exec(step) ?? [];
    return words.has(key) ? `${key}${indexes}` : '*';
  };
  return field.split('.').map(own).join('.');
}

const timeText = (ms: number): string => new Date(ms).toISOString();

interface SeenText {
  /** Undefined when the file cannot be read. */
  readonly text?: string;
  /** SHA-256 of the text, or the error's code. */
  readonly hash: string;
}

function readText(path: string): SeenText {
  try {
    const text = readFileSync(path, 'utf8');
    return { text, hash: sha256(text) };
  } catch (error) {
    return { hash: error instanceof Error && 'code' in error ? String(error.code) : 'unknown' };
  }
}

const unreadable = (path: string, code: string): InvalidPolicy => ({
  kind: 'invalid',
  problems: [`${path}: cannot be read (${code})`],
});

function afterOnTimer(ms: number, wake: () => void): () => void {
  const timer = setTimeout(wake, ms).unref();
  return () => clearTimeout(timer);
}
