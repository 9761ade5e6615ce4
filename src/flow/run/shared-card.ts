import type { AlertCard } from '../../core/alert/card.ts';
import type { Run } from '../../core/run/run.ts';
import { createRun, type Starter } from '../context/accept.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { HeldRun, RunChanger } from '../context/held-run.ts';
import { openCard } from './open-card.ts';
import { NO_REQUEST, runOfSource } from './unattended.ts';

export interface Tools {
  readonly deps: FlowDeps;
  readonly starter: Starter;
  readonly runs: RunChanger;
}

/** Alerts that nobody asked about, which have a card of their own so far. */
export const standsAlone = ({ alert, origin }: Run): boolean =>
  alert !== undefined && alert.joined === undefined && origin.threadTs === undefined;

interface SharedCard {
  /** The same for all alerts that share the card. */
  readonly key: string;
  readonly joined: NonNullable<AlertCard['joined']>;
  /** With this alert in its thread: a new one, or the known one of a storm, which counts them. */
  readonly cardWith: (source: string, nowMs: number, known?: AlertCard) => AlertCard;
}

/**
 * Puts the alert's card into the thread of a card that several alerts share, which is made if there is none: of several who make it at a time,
 * the store takes one. @throws KdebugError store_unreachable, lease_lost
 */
export async function joinSharedCard(
  held: HeldRun,
  { key, joined, cardWith }: SharedCard,
  tools: Tools,
): Promise<void> {
  const { alert, origin } = held.run;
  if (!alert) return;
  const { deps } = tools;
  const { source } = alert;
  const { channelId } = origin;
  const { cardKey, card } = await openCard(key, deps);
  const atMs = deps.clock.now();
  const parts = { dedupeKey: cardKey, request: NO_REQUEST, alert: cardWith(source, atMs) };
  const made = card ?? (await createRun(runOfSource({ source, channelId, ...parts }, deps), [], tools));
  const id = 'id' in made ? made.id : made.kind === 'duplicate' ? made.runId : undefined;
  if (id !== undefined && joined.to === 'storm')
    await tools.runs.change(id, async (shared) => {
      const known = shared.run.alert;
      const next = known && cardWith(source, atMs, known);
      if (next && next !== known) await shared.apply({ kind: 'alerted', alert: next });
    });
  await held.apply({ kind: 'joined', threadOf: cardKey, alert: { ...alert, joined } });
}
