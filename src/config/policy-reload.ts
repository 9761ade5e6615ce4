import { readFileSync } from 'node:fs';
import { sha256 } from '../core/hash.ts';
import type { Policy } from '../core/policy/policy.ts';
import { type LoadedPolicy, parsePolicy } from './load-policy.ts';

export interface PolicyWatch {
  /** The policy in force: the latest valid text of the file. */
  current(): Policy;
  close(): void;
}

export interface PolicyWatchOptions {
  /** The policy in force at the start. */
  readonly initial: Pick<LoadedPolicy, 'policy' | 'hash'>;
  readonly log: {
    info(message: string, fields?: Readonly<Record<string, unknown>>): void;
    error(message: string, fields?: Readonly<Record<string, unknown>>): void;
  };
  /** Called after each change, with the policy now in force. */
  readonly onChange?: (policy: Policy, hash: string) => void;
  /**
   * Calls `wake` once after `ms`; the returned function cancels it. By default a timer that does not keep the process
   * alive.
   */
  readonly after?: (ms: number, wake: () => void) => () => void;
}

/** Two polls and the settling take at most 0.8 s from a change to its effect; design section 3 allows 2 s. */
const LOOK_EVERY_MS = 500;

/** A new text must stay unchanged for this long: editors and copies write in pieces. */
const SETTLE_MS = 250;

/**
 * Keeps the policy up to date with its file. Polls the text twice a second instead of watching: the text is a few
 * kilobytes, and polling sees a ConfigMap's symlink swap, a rename, a write in place and a network volume alike. Kernel
 * notifications stop after a swap (ecosystem reference, section 8) or run out. With an invalid or missing file the old
 * policy stays in force, and the log says so once.
 */
export function watchPolicy(path: string, options: PolicyWatchOptions): PolicyWatch {
  const after = options.after ?? afterOnTimer;
  let policy = options.initial.policy;
  /** The hash of the last text processed; `hash` is the policy in force. */
  let handled = options.initial.hash;
  let hash = options.initial.hash;
  let candidate: string | undefined;

  const look = (): void => {
    const seen = readText(path);
    const isNew = seen.hash !== handled;
    const settled = isNew && seen.hash === candidate;
    candidate = isNew && !settled ? seen.hash : undefined;
    // Arm the timer before calling listeners: only `close` may stop the polling, not a listener that throws.
    cancel = after(candidate === undefined ? LOOK_EVERY_MS : SETTLE_MS, look);
    if (settled) accept(seen);
  };

  const accept = (seen: SeenText): void => {
    handled = seen.hash;
    if (seen.hash === hash) {
      options.log.info('policy file unchanged', { path, hash });
      return;
    }
    const loaded = seen.text === undefined ? unreadable(path, seen.hash) : parsePolicy(seen.text, path);
    if (loaded.kind === 'invalid') {
      options.log.error('new policy is invalid, keeping the old one', {
        path,
        hash,
        problems: loaded.problems,
      });
      return;
    }
    ({ policy, hash } = loaded);
    options.log.info('policy changed', { path, hash });
    options.onChange?.(policy, hash);
  };

  let cancel = after(LOOK_EVERY_MS, look);
  return { current: () => policy, close: () => cancel() };
}

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

const unreadable = (path: string, code: string) =>
  ({ kind: 'invalid', problems: [`${path}: cannot be read (${code})`] }) as const;

function afterOnTimer(ms: number, wake: () => void): () => void {
  const timer = setTimeout(wake, ms).unref();
  return () => clearTimeout(timer);
}
