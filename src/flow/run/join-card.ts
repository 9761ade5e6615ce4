import { type AlertCard, newNodeCard, stormCard } from '../../core/alert/card.ts';
import { nodeOutOfOrder } from '../../core/diagnosis/rules/surroundings.ts';
import { sha256 } from '../../core/hash.ts';
import { channelPolicy } from '../../core/policy/policy.ts';
import type { Run } from '../../core/run/run.ts';
import type { HeldRun } from '../context/held-run.ts';
import { FIRST_ANSWER_MS, inTime } from '../first-answer/source.ts';
import type { Question } from '../planning/question.ts';
import { joinSharedCard, standsAlone, type Tools } from './shared-card.ts';

/** Too many alerts came at once, and that is so when a node dies. */
export const mayBeOfNode = (run: Run): boolean =>
  standsAlone(run) &&
  run.request.target.kind === 'pod' &&
  (run.alert?.problem?.code === 'alert_limit' || run.alert?.problem?.code === 'alert_cooldown');

/**
 * When a node dies, each alert of each pod on it fires: they are told of in the thread of one card, which names the node. Resolves with whether
 * the run waits for that card now. A node that cannot be read in time counts as ready. @throws KdebugError store_unreachable, lease_lost
 */
export async function joinNode(
  held: HeldRun,
  { question, cluster }: { readonly question: Question | undefined; readonly cluster: string },
  tools: Tools,
): Promise<boolean> {
  const { origin } = held.run;
  if (!standsAlone(held.run) || question?.kind !== 'pod') return false;
  const { pod } = question;
  const { nodeName } = pod.spec;
  const { deps } = tools;
  const reading = nodeName === undefined ? undefined : deps.clusters.get(cluster).node(nodeName);
  const node = reading && (await inTime(deps, reading, FIRST_ANSWER_MS));
  const found = nodeOutOfOrder({ pod, node });
  if (!found) return false;
  const { name, how } = found;
  const key = sha256(JSON.stringify(['dead node', origin.channelId, cluster, name]));
  const cardWith = (source: string, atMs: number) => newNodeCard({ source, node: name, how, atMs });
  await joinSharedCard(held, { key, joined: { to: 'node', name }, cardWith }, tools);
  return true;
}

/** Alerts that arrive within one such period are one storm; a storm that lasts longer has another card. */
const STORM_MS = 15 * 60_000;

/**
 * Alerts beyond the pace of their channel would bury the ones that were looked at: they are told of in the thread of one card. Resolves with whether
 * the run waits for that card now. @throws KdebugError store_unreachable, lease_lost
 */
export async function joinStorm(held: HeldRun, tools: Tools): Promise<boolean> {
  const { alert, origin } = held.run;
  if (alert?.problem?.code !== 'alert_limit' || !standsAlone(held.run)) return false;
  const span = Math.floor(origin.receivedAtMs / STORM_MS);
  const key = sha256(JSON.stringify(['storm', origin.channelId, span]));
  const channel = channelPolicy(tools.deps.policies.current(), origin.channelId)?.name ?? 'this channel';
  const cardWith = (source: string, atMs: number, known?: AlertCard) =>
    stormCard({ source, channel, id: held.run.id, atMs }, known);
  await joinSharedCard(held, { key, joined: { to: 'storm' }, cardWith }, tools);
  return true;
}
