import { systemClock } from '../../src/adapters/system/index.ts';
import { createLogFilter } from '../../src/core/redact/log-filter.ts';
import { Pieces } from '../../src/flow/context/turns.ts';
import { Turns } from '../../src/lib/turns.ts';
import type { Served } from './served.ts';

export interface TurnReaderConfig {
  /** Repeated over and over. */
  readonly unit: string;
  readonly bytes: number;
  /** The policy's patterns. */
  readonly redact: readonly string[];
}

export interface TurnReading {
  readonly cpuMs: number;
  /** Of a turn of the event loop, in CPU of this process: what other processes take does not count. */
  readonly worstTurnMs: number;
}

const BLOCK_BYTES = 64 * 1024;

const msSince = (start: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
};

/** Filters a log as production does, in turns; the first megabyte, or as much as is counted, is not, since a new program is not yet compiled. */
export async function readTurns({ unit, bytes, redact }: TurnReaderConfig): Promise<Served<TurnReading>> {
  const block = Buffer.from(unit.repeat(Math.ceil(BLOCK_BYTES / Buffer.byteLength(unit))));
  const filter = createLogFilter({ redact });
  const pieces = new Pieces(new Turns(systemClock).of('U0BENCH'), filter);
  const read = async (total: number): Promise<void> => {
    for (let done = 0; done < total; done += block.length) {
      await pieces.each(block, (piece) => {
        filter.push(piece);
      });
    }
  };
  await read(Math.min(bytes, 1024 ** 2));
  let worstTurnMs = 0;
  let isDone = false;
  let turn = process.cpuUsage();
  const tick = (): void => {
    worstTurnMs = Math.max(worstTurnMs, msSince(turn));
    turn = process.cpuUsage();
    if (!isDone) setImmediate(tick);
  };
  setImmediate(tick);
  const start = process.cpuUsage();
  await read(bytes);
  isDone = true;
  return { result: { cpuMs: msSince(start), worstTurnMs } };
}
