import { readFile, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { Clock } from '../../lib/clock.ts';

export interface Lock {
  release(): Promise<void>;
}

export interface LockOptions {
  /** Unique to this holder. */
  readonly owner: string;
  readonly clock: Clock;
  /** Called once when another process has the lock. */
  readonly onLost: () => void;
}

interface Holder {
  readonly owner: string;
  readonly host: string;
  readonly pid: number;
  readonly startedMs: number;
}

const BEAT_MS = 5_000;
/** Four missed beats. */
const STALE_MS = 20_000;
const STARTED_MS = Math.round(performance.timeOrigin);

/**
 * Gets the lock, or returns its holder. A holder touches the file every 5 s. A lock untouched for 20 s, or of a dead
 * process on this host, is replaced at once. If two processes replace it in the same moment, the next beat decides;
 * until then the file's size warns the writer (see `AuditFile`).
 */
export async function acquireLock(path: string, options: LockOptions): Promise<Lock | { readonly heldBy: string }> {
  const me: Holder = { owner: options.owner, host: hostname(), pid: process.pid, startedMs: STARTED_MS };
  const create = async (): Promise<boolean> => {
    try {
      await writeFile(path, JSON.stringify(me), { flag: 'wx', mode: 0o600 });
      return true;
    } catch (error) {
      if (isCode(error, 'EEXIST')) return false;
      throw error;
    }
  };
  if (await create()) return renewLock(path, options);
  const holder = await holderOf(path, options.clock);
  if (holder !== undefined) return { heldBy: holder };
  await unlink(path).catch(ignoreMissing);
  return (await create()) ? renewLock(path, options) : { heldBy: 'another process that starts just now' };
}

/** Describes the current holder; undefined when the lock is free. */
async function holderOf(path: string, clock: Clock): Promise<string | undefined> {
  const holder = await readHolder(path);
  const seenMs = (await stat(path).catch(() => undefined))?.mtimeMs;
  // By the wall clock, as the file's time: another process set it.
  if (seenMs === undefined || Math.abs(clock.now() - seenMs) > STALE_MS) return undefined;
  if (holder === undefined) return 'another process that starts just now';
  if (holder.host === hostname() && !isAlive(holder)) return undefined;
  return `process ${holder.pid} on ${holder.host}`;
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}

/** In a container every process has the same id: our own id with another start time belongs to a predecessor. */
function isAlive({ pid, startedMs }: Holder): boolean {
  if (pid === process.pid) return startedMs === STARTED_MS;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isCode(error, 'EPERM');
  }
}

async function renewLock(path: string, { owner, clock, onLost }: LockOptions): Promise<Lock> {
  const isMine = async (): Promise<boolean> => (await readHolder(path))?.owner === owner;
  const touch = (): Promise<void> => utimes(path, clock.now() / 1_000, clock.now() / 1_000);
  let released = false;
  const beat = async (): Promise<void> => {
    const mine = await isMine();
    if (released) return;
    if (!mine) return onLost();
    // One missed beat is harmless: the lock goes stale after four.
    await touch().catch(() => undefined);
    cancel = clock.after(BEAT_MS, () => void beat());
  };
  await touch();
  let cancel = clock.after(BEAT_MS, () => void beat());
  return {
    async release() {
      released = true;
      cancel();
      if (await isMine()) await unlink(path).catch(ignoreMissing);
    },
  };
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

function ignoreMissing(error: unknown): void {
  if (!isCode(error, 'ENOENT')) throw error;
}
