import type { Happening } from '../../core/audit/record.ts';

/** One place that records go to. Its methods are called one after the other, never at the same time. */
export interface RecordWriter {
  /** What the first record of a start says of this place. */
  readonly opening: Happening['facts'];
  /** All of them or none; resolves when the operating system has them. Any error: none, and they may be given again. */
  write(happenings: readonly Happening[]): Promise<void>;
  /** Sees that what was written survives a loss of power. Fails when that cannot be known; then nothing can be written any more. */
  sync(): Promise<void>;
  close(): Promise<void>;
}
