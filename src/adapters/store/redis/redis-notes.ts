import type { UserAndGroup } from '../../../core/container/profiles.ts';
import type { RunId } from '../../../core/ids.ts';
import type { Notes } from '../../../flow/ports/store.ts';
import { LEARNT_MS } from '../memory-records.ts';
import type { RedisConnection } from './connection.ts';
import { unlessOfAnotherType } from './connection-options.ts';
import type { ScriptRunner } from './script-runner.ts';
import { LEAVE_NOTE, READ_NOTES } from './scripts/notes.ts';
import type { Records } from './sealed-records.ts';

/** A note lives for a minute in Redis; an older one was put back. */
const LIVES_MS = 60_000;
/** Redis' time is exact to a round trip. */
const SLACK_MS = 5_000;

const about = (id: RunId): string => `note ${id}`;

/**
 * Notes in Redis, sealed with the moment (Redis' time) of writing. Drops a note that does not open, is older than a
 * minute, or was read here before: somebody with write access to Redis put it there.
 */
export class RedisNotes implements Notes {
  readonly #scripts: ScriptRunner;
  readonly #records: Records;
  readonly #connection: RedisConnection;
  /** Sealed notes read here, until they are too old anyway. Sealing never gives the same text twice. */
  readonly #readAtMs = new Map<string, number>();

  constructor(scripts: ScriptRunner, records: Records, connection: RedisConnection) {
    this.#scripts = scripts;
    this.#records = records;
    this.#connection = connection;
  }

  async leave(id: RunId, note: string): Promise<void> {
    const leftAtMs = this.#connection.clock.at(performance.now());
    await this.#scripts.run(LEAVE_NOTE, [`notes:${id}`], [this.#records.sealText(`${leftAtMs}\n${note}`, about(id))]);
  }

  async read(id: RunId): Promise<readonly string[]> {
    const { rest, nowMs } = await this.#scripts.run(READ_NOTES, [`notes:${id}`], []);
    for (const [sealed, leftAtMs] of this.#readAtMs) if (nowMs - leftAtMs > 2 * LIVES_MS) this.#readAtMs.delete(sealed);
    return rest.flatMap((sealed) => this.#opened(String(sealed), id, nowMs) ?? []);
  }

  #opened(sealed: string, id: RunId, nowMs: number): string | undefined {
    const text = this.#readAtMs.has(sealed) ? undefined : this.#records.openText(sealed, about(id));
    const [, leftAt, note] = /^(\d+)\n([\s\S]*)$/.exec(text ?? '') ?? [];
    const leftAtMs = Number(leftAt);
    if (note === undefined || nowMs - leftAtMs > LIVES_MS + SLACK_MS) return undefined;
    this.#readAtMs.set(sealed, leftAtMs);
    return note;
  }
}

interface IdentityParts {
  readonly connection: RedisConnection;
  readonly records: Records;
  /** With the hash tag and the colon. */
  readonly prefix: string;
}

/** The user and group that each kind of target runs as, sealed, under a name that hides the kind. */
export class RedisIdentities {
  readonly #at: IdentityParts;

  constructor(parts: IdentityParts) {
    this.#at = parts;
  }

  async learn(kind: string, { uid, gid }: UserAndGroup): Promise<void> {
    const { connection, records } = this.#at;
    const sealed = records.sealText(`${uid}:${gid}`, `kind ${kind}`);
    await connection.call('set', (redis) => redis.set(this.#key(kind), sealed, 'PX', LEARNT_MS));
  }

  async of(kind: string): Promise<UserAndGroup | undefined> {
    const { connection, records } = this.#at;
    const sealed = await unlessOfAnotherType(connection.call('get', (redis) => redis.get(this.#key(kind))));
    const [uid, gid] =
      (typeof sealed !== 'string' ? undefined : records.openText(sealed, `kind ${kind}`))?.split(':') ?? [];
    return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
  }

  #key(kind: string): string {
    const { prefix, records } = this.#at;
    return `${prefix}learnt:${records.name('kind', kind)}`;
  }
}
