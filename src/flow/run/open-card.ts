import { type AlertCard, OPEN_MS } from '../../core/alert/card.ts';
import { sha256 } from '../../core/hash.ts';
import type { Run } from '../../core/run/run.ts';
import { defined } from '../../lib/object.ts';
import type { FlowDeps } from '../context/deps.ts';
import { readRunByKey } from '../context/find-run.ts';

/** A little over a week. An alert that still fires then is told of again. */
const PERIODS = 8;

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
 * for as long as a period lasts, so no period begins two, and no card needs an older one to be found.
 * @throws KdebugError store_unreachable
 */
export async function openCard(key: string, deps: Pick<FlowDeps, 'store' | 'clock'>): Promise<OpenCard> {
  const nowMs = deps.clock.now();
  const period = Math.floor(nowMs / OPEN_MS);
  const keys = Array.from({ length: PERIODS }, (_, back) => sha256(`${key}\n${period - back}`));
  const [cardKey = ''] = keys;
  for (const each of keys) {
    const card = await readRunByKey(each, deps);
    if (!isCardRun(card)) continue;
    return nowMs < card.alert.openUntilMs ? { card, cardKey: each } : { cardKey, ...defined({ closed: card.alert }) };
  }
  return { cardKey };
}
