import { newStormCard } from '../../core/alert/card.ts';
import { sha256 } from '../../core/hash.ts';
import type { HeldRun } from '../context/held-run.ts';
import { joinSharedCard, standsAlone, type Tools } from './shared-card.ts';

/** What begins within the same of these is one storm; one that lasts longer has another card. */
const STORM_MS = 15 * 60_000;

/**
 * Alerts beyond the pace of their channel would bury the ones that were looked at: they are told of in the thread of one card. Resolves with whether
 * the run waits for that card now. @throws KdebugError store_unreachable, lease_lost
 */
export async function joinStorm(held: HeldRun, tools: Tools): Promise<boolean> {
  const { alert, origin } = held.run;
  if (alert?.problem?.code !== 'alert_limit' || !standsAlone(held.run)) return false;
  const span = Math.floor(origin.receivedAtMs / STORM_MS);
  const firstKey = sha256(JSON.stringify(['storm', origin.channelId, span]));
  const newCard = (source: string, atMs: number) => newStormCard({ source, atMs });
  await joinSharedCard(held, { firstKey, joined: { to: 'storm' }, newCard }, tools);
  return true;
}
