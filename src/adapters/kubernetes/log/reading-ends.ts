import type { LineEnd } from './line-end.ts';
import type { LineKey } from './line-key.ts';
import type { Stamp } from './stamp.ts';

/**
 * Why the reading of a follow stopped in favour of its successor: it delivered the successor's first line or second line itself (`lines`
 * of the successor are then known), or it has jumped over it into a newer file.
 */
export type Stop = { readonly kind: 'met'; readonly lines: number } | { readonly kind: 'jumped'; readonly to: Stamp };

/** What is known of a reading that begins. */
export interface BeginningReading {
  /** The one before did not come to its end, so the two must meet. */
  readonly broken: boolean;
  readonly first: readonly LineKey[];
  readonly firstEnd: LineEnd | undefined;
  /** The line at which the reading before was stopped. */
  readonly jumpedTo: Readonly<Stamp> | undefined;
}
