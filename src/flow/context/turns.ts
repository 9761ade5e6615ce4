import type { LogFilter } from '../../core/redact/log-filter.ts';
import type { OwnTurns } from '../../lib/turns.ts';

/**
 * The filter takes at most this in one turn of the event loop. If each line must be examined, a line takes a few
 * microseconds however short it is; a held-back line of up to 64 KiB may come on top.
 */
export const PIECE_BYTES = 16 * 1024;
export const PIECE_LINES = 500;

const NEWLINE = 0x0a;

/** A turn ends after so many steps of the policy's patterns: some ten milliseconds, where a log is made for them. */
const TURN_STEPS = 128 * 1024;

type Filter = Pick<LogFilter, 'bytesAtOnce' | 'steps'>;

/** Cuts the bytes of one log into pieces of a turn each, wherever their chunks end. */
export class Pieces {
  readonly #turns: OwnTurns;
  readonly #filter: Filter | undefined;
  #bytes = 0;
  #lines = 0;
  #stepsBefore = 0;

  /** `filter`: what reads the pieces. */
  constructor(turns: OwnTurns, filter?: Filter) {
    this.#turns = turns;
    this.#filter = filter;
  }

  /** Calls `work` with each piece, after it is done with the one before. */
  async each(bytes: Buffer, work: (piece: Buffer) => Promise<void> | void): Promise<void> {
    for (let from = 0; from < bytes.length; ) {
      if (this.#isTurnOver()) {
        await this.#turns.next();
        this.#bytes = 0;
        this.#lines = 0;
        this.#stepsBefore = this.#filter?.steps ?? 0;
      }
      const most = Math.min(PIECE_BYTES - this.#bytes, this.#filter?.bytesAtOnce ?? PIECE_BYTES);
      const piece = this.#claim(bytes.subarray(from, from + most));
      from += piece.length;
      await work(piece);
    }
  }

  #isTurnOver(): boolean {
    const steps = (this.#filter?.steps ?? 0) - this.#stepsBefore;
    return this.#bytes >= PIECE_BYTES || this.#lines >= PIECE_LINES || steps >= TURN_STEPS;
  }

  /** As much of it as the turn has room for. */
  #claim(bytes: Buffer): Buffer {
    let end = 0;
    while (this.#lines < PIECE_LINES) {
      const newline = bytes.indexOf(NEWLINE, end);
      if (newline === -1) {
        end = bytes.length;
        break;
      }
      end = newline + 1;
      this.#lines += 1;
    }
    this.#bytes += end;
    return bytes.subarray(0, end);
  }
}
