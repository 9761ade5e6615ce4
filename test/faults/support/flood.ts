import type { StreamControl, StreamEvents } from '../../../src/adapters/kubernetes/api/stream.ts';
import type { LogClient } from '../../../src/adapters/kubernetes/complete-log/log-stream.ts';
import { createArchive } from '../../../src/adapters/spool/archive.ts';
import type { Spool, Spools } from '../../../src/flow/ports/machine.ts';
import type { Clock } from '../../../src/lib/clock.ts';

/** Pieces that the server sends before it looks whether anybody takes them: what a socket's buffer holds. */
const AHEAD = 16;

/** A stamp and a space stand before every line, and are no content. */
const STAMP_BYTES = 31;

/** Counted where a line ends, which is as good. */
export const contentBytes = (piece: Buffer): number => {
  let lines = 0;
  for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) lines += 1;
  return piece.length - lines * STAMP_BYTES;
};

/** A log that comes as fast as it is taken, piece after piece; of its first reading it counts what was taken and is not on the disk yet. */
export class Flood implements LogClient {
  readonly serverClock: { now(): number };
  sentBytes = 0;
  keptBytes = 0;
  mostInMemory = 0;
  /** The log has been sent to its end, or nobody wants more of it. */
  isOver = false;
  readonly #pieces: () => Iterable<Buffer>;
  #readings = 0;

  constructor(clock: Pick<Clock, 'now'>, pieces: () => Iterable<Buffer>) {
    this.serverClock = clock;
    this.#pieces = pieces;
  }

  stream(_: unknown, events: StreamEvents): StreamControl {
    this.#readings += 1;
    const isFirst = this.#readings === 1;
    const pieces = this.#pieces()[Symbol.iterator]();
    let state: 'open' | 'paused' | 'over' = 'open';
    const finish = (): void => {
      if (state === 'over') return;
      state = 'over';
      this.isOver = true;
      events.ended();
    };
    const send = (): void => {
      const { value, done } = pieces.next();
      if (done) {
        finish();
        return;
      }
      if (isFirst) this.sentBytes += contentBytes(value);
      this.mostInMemory = Math.max(this.mostInMemory, this.sentBytes - this.keptBytes);
      events.data(value);
    };
    const turn = (): void => {
      for (let sent = 0; sent < AHEAD && state === 'open'; sent += 1) send();
      if (state !== 'over') setImmediate(turn);
    };
    setImmediate(() => {
      events.opened();
      turn();
    });
    const change = (to: 'open' | 'paused') => (): void => {
      if (state !== 'over') state = to;
    };
    return { pause: change('paused'), resume: change('open'), close: finish };
  }

  /** A disk that needs a moment for every piece, and keeps none of it. */
  disk(clock: Clock): Spools {
    const write = (chunk: Uint8Array): Promise<void> =>
      new Promise((resolve) => {
        clock.after(1, () => {
          this.keptBytes += chunk.length;
          resolve();
        });
      });
    const spool: Spool = {
      write,
      finish: async () => '',
      bytes: 0,
      async *read() {},
      remove: async () => {},
    };
    return { open: async () => spool, archive: async () => createArchive(spool) };
  }
}
