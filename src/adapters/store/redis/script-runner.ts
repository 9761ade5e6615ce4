import type { Log } from '../../../flow/ports/machine.ts';
import type { RedisConnection } from './connection.ts';
import { replyCode, unreachable } from './connection-options.ts';
import type { Script } from './scripts/script.ts';

export interface ScriptHead {
  /** With the hash tag and the colon. */
  readonly prefix: string;
  readonly keyId: string;
  readonly schema: number;
  /** Absent: says nothing. */
  readonly log?: Pick<Log, 'error'>;
}

export interface ScriptResult {
  readonly word: string;
  readonly nowMs: number;
  readonly rest: readonly unknown[];
}

/** Runs scripts by their SHA-1; sends the full text when Redis does not know it (any more). */
export class ScriptRunner {
  readonly #connection: RedisConnection;
  readonly #head: ScriptHead;

  constructor(connection: RedisConnection, head: ScriptHead) {
    this.#connection = connection;
    this.#head = head;
  }

  /** `keys` come without the prefix. @throws KdebugError store_unreachable */
  async run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<ScriptResult> {
    const endsAtMs = this.#connection.deadline();
    const once = () => this.#once(script, keys, args, endsAtMs);
    const first = await once();
    if (first.word !== 'late') return first;
    // Redis' clock jumped ahead, or the command really was late: the clock estimate is fresh now.
    const second = await once();
    if (second.word === 'late') throw unreachable('the command reached Redis too late and was ignored');
    return second;
  }

  async #once(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
    endsAtMs: number,
  ): Promise<ScriptResult> {
    const { prefix, keyId, schema } = this.#head;
    const reply = await this.#connection.call(
      script.name,
      async (redis, notAfterMs) => {
        const all = [...keys.map((key) => prefix + key), prefix, notAfterMs, keyId, schema, ...args];
        try {
          return await redis.evalsha(script.sha, keys.length, ...all);
        } catch (thrown) {
          if (replyCode(thrown) !== 'NOSCRIPT') throw thrown;
          return await redis.eval(script.text, keys.length, ...all);
        }
      },
      endsAtMs,
    );
    const [word, nowMs, ...rest] = this.#withoutDropped(Array.isArray(reply) ? reply : []);
    this.#connection.clock.observe(Number(nowMs));
    return { word: String(word), nowMs: Number(nowMs), rest };
  }

  /** Logs each key once, because it is gone. */
  #withoutDropped(reply: readonly unknown[]): readonly unknown[] {
    if (reply[0] !== 'dropped') return reply;
    const end = 3 + Number(reply[2]);
    for (const key of reply.slice(3, end))
      this.#head.log?.error('dropped a key of another type from Redis', { key: String(key) });
    return reply.slice(end);
  }
}
