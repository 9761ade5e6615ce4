import { readFile, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { Clock } from '../../lib/clock.ts';

export interface Lock {
  release(): Promise<void>;
}

export interface LockOptions {
  /** Tells this holder from any other. */
  readonly owner: string;
  readonly clock: Clock;
  /** Called once when somebody else has taken the lock. */
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
 * Takes the lock, or answers with who holds it. A holder touches the file every 5 s; the lock of one that was not seen
 * for 20 s, or that ran on this host and is gone, is taken over at once. Two that take over in the same
 * moment are told apart at the next beat; until then the file's size tells the writer (see `AuditFile`).
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

/** Whoever holds the lock at this moment, in words; undefined when nobody does any more. */
async function holderOf(path: string, clock: Clock): Promise<string | undefined> {
  const holder = await readHolder(path);
  const seenMs = (await stat(path).catch(() => undefined))?.mtimeMs;
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

/** In a container every process has the same id, so our own id with another start is a predecessor's. */
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
    // A missed beat is no loss: there are four before anybody may think so.
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
