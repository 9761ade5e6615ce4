import { type AlertCard, OPEN_MS } from '../../core/alert/card.ts';
import { sha256 } from '../../core/hash.ts';
import type { Run } from '../../core/run/run.ts';
import type { FlowDeps } from '../context/deps.ts';

/** A little over a week, and no shorter than the default life of a card's record. An alert that still fires then is told of again. */
const PERIODS = 9;

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
 * The card of these alerts that still takes more of them. `key` is the same for all of their cards. A card takes alerts
 * for as long as a period lasts, so no period begins two, and no card needs an older one to be found. Two replicas that
 * ask at the very moment in which a period ends may make two.
 * @throws KdebugError store_unreachable
 */
export async function openCard(key: string, { store, clock }: Pick<FlowDeps, 'store' | 'clock'>): Promise<OpenCard> {
  const nowMs = clock.now();
  const period = Math.floor(nowMs / OPEN_MS);
  const keyOf = (back: number): string => sha256(`${key}\n${period - back}`);
  // From the next period on: the clock of another replica may be ahead.
  const keys = Array.from({ length: PERIODS + 1 }, (_, index) => keyOf(index - 1));
  const known = await Promise.all(keys.map(async (cardKey) => ({ cardKey, id: await store.idOf(cardKey) })));
  for (const { cardKey, id } of known) {
    const card = id === undefined ? undefined : await store.read(id);
    if (!isCardRun(card)) continue;
    return nowMs < card.alert.openUntilMs ? { card, cardKey } : { cardKey: keyOf(0), closed: card.alert };
  }
  return { cardKey: keyOf(0) };
}
