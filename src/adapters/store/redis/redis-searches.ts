import type { RunId } from '../../../core/ids.ts';
import type { Searches, Turn } from '../../../flow/ports/store.ts';
import type { RedisConnection } from './connection.ts';
import { unlessOfAnotherType } from './connection-options.ts';
import type { ScriptRunner } from './script-runner.ts';
import { CLAIM_TURN } from './scripts/searches.ts';
import type { Records } from './sealed-records.ts';

const FOUND = 'found';
const about = (id: RunId): string => `found ${id}`;

/** Searches of all replicas. What was found is sealed: nobody can make kdebug believe that a result was told. */
export class RedisSearches implements Searches {
  readonly #scripts: ScriptRunner;
  readonly #records: Records;
  readonly #connection: RedisConnection;
  readonly #prefix: string;

  constructor(scripts: ScriptRunner, records: Records, connection: RedisConnection, prefix: string) {
    this.#scripts = scripts;
    this.#records = records;
    this.#connection = connection;
    this.#prefix = prefix;
  }

  async turn(id: RunId, { perMinute, heldMs }: { readonly perMinute: number; readonly heldMs: number }): Promise<Turn> {
    const { word, rest } = await this.#scripts.run(
      CLAIM_TURN,
      [`searching:${id}`, 'searches'],
      [id, perMinute, heldMs],
    );
    if (word === 'none-left') return { kind: word, freeInMs: Number(rest[0]) };
    return { kind: word === 'yours' ? word : 'held' };
  }

  async found(id: RunId, forMs: number): Promise<void> {
    const sealed = this.#records.sealText(FOUND, about(id));
    await this.#connection.call('set', (redis) => redis.set(this.#key(id), sealed, 'PX', forMs));
  }

  async wasFound(id: RunId): Promise<boolean> {
    const sealed = await unlessOfAnotherType(this.#connection.call('get', (redis) => redis.get(this.#key(id))));
    return typeof sealed === 'string' && this.#records.openText(sealed, about(id)) === FOUND;
  }

  #key(id: RunId): string {
    return `${this.#prefix}found:${id}`;
  }
}
