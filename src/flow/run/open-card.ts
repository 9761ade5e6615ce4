import type { AlertCard } from '../../core/alert/card.ts';
import { KdebugError } from '../../core/errors.ts';
import { sha256 } from '../../core/hash.ts';
import type { Run } from '../../core/run/run.ts';
import { defined } from '../../lib/object.ts';
import type { FlowDeps } from '../context/deps.ts';
import { readRunByKey } from '../context/find-run.ts';

/** An alert that keeps firing has one card a day, so no store keeps as many as this. */
const MAX_CARDS = 50;

export type CardRun = Run & { readonly alert: AlertCard };

export const isCardRun = (run: Run | undefined): run is CardRun => run?.alert !== undefined;

export interface OpenCard {
  /** Absent: a new one must be made, with `cardKey` as its `dedupeKey`. */
  readonly card?: CardRun;
  readonly cardKey: string;
  /** The last one that takes no more alerts. */
  readonly closed?: AlertCard;
}

/**
 * The card that still takes alerts, of all that began with this key: each card's key names the one before it. @throws KdebugError store_unreachable,
 * internal_error for more than 50
 */
export async function openCard(firstKey: string, deps: Pick<FlowDeps, 'store' | 'clock'>): Promise<OpenCard> {
  let cardKey = firstKey;
  let closed: AlertCard | undefined;
  for (let cards = 0; cards < MAX_CARDS; cards += 1) {
    const card = await readRunByKey(cardKey, deps);
    if (!isCardRun(card)) return { cardKey, ...defined({ closed }) };
    if (deps.clock.now() < card.alert.openUntilMs) return { card, cardKey };
    closed = card.alert;
    cardKey = sha256(`${firstKey}\n${card.id}`);
  }
  throw new KdebugError('internal_error', { detail: 'too many cards of the same alerts' });
}
