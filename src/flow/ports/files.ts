import type { ByFileName, Landed } from '../../core/run/delivery.ts';
import type { PostRef } from '../../core/run/run-state.ts';

export interface FileToShare {
  readonly filename: string;
  readonly title: string;
  /** The picture in words, for people who do not see it; at most 1,000 characters. */
  readonly altText?: string;
  readonly bytes: number;
  /** May be called again for another try. */
  open(): AsyncIterable<Uint8Array>;
}

/** A message with files. */
export interface Shared extends Landed {
  readonly ref: PostRef;
  /** Ids. */
  readonly files: ByFileName;
  /** Codes of the files that Slack refused. */
  readonly refused: ByFileName;
}
