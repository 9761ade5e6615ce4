import type { UserAndGroup } from '../../../core/container/profiles.ts';
import { LEARNT_MS } from '../memory-records.ts';
import type { RedisConnection } from './connection.ts';
import type { Records } from './sealed-records.ts';

interface Parts {
  readonly connection: RedisConnection;
  readonly records: Records;
  /** With the hash tag and the colon. */
  readonly prefix: string;
}

/** The user and group that each kind of target runs as, sealed, under a name that hides the kind. */
export class RedisIdentities {
  readonly #at: Parts;

  constructor(parts: Parts) {
    this.#at = parts;
  }

  async learn(kind: string, { uid, gid }: UserAndGroup): Promise<void> {
    const { connection, records } = this.#at;
    const sealed = records.sealText(`${uid}:${gid}`, `kind ${kind}`);
    await connection.call((redis) => redis.set(this.#key(kind), sealed, 'PX', LEARNT_MS));
  }

  async of(kind: string): Promise<UserAndGroup | undefined> {
    const { connection, records } = this.#at;
    const sealed = await connection.call((redis) => redis.get(this.#key(kind)));
    const [uid, gid] = (sealed === null ? undefined : records.openText(sealed, `kind ${kind}`))?.split(':') ?? [];
    return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
  }

  #key(kind: string): string {
    const { prefix, records } = this.#at;
    return `${prefix}learnt:${records.name('kind', kind)}`;
  }
}
