import { newNodeCard } from '../../core/alert/card.ts';
import { nodeOutOfOrder } from '../../core/diagnosis/rules/surroundings.ts';
import { sha256 } from '../../core/hash.ts';
import type { Run } from '../../core/run/run.ts';
import type { Starter } from '../context/accept.ts';
import type { FlowDeps } from '../context/deps.ts';
import { readRunByKey } from '../context/find-run.ts';
import { HeldRun } from '../context/held-run.ts';
import type { Question } from '../planning/question.ts';
import { NO_REQUEST, runOfSource } from './unattended.ts';

/** A node that goes and comes back has one card a day, so this many are more than any store keeps. */
const MAX_CARDS = 50;

interface Tools {
  readonly deps: FlowDeps;
  readonly starter: Starter;
}

/** Alerts that nobody asked about, which have a card of their own so far. */
const mayJoinNode = ({ alert, origin }: Run): boolean =>
  alert !== undefined && alert.node === undefined && origin.threadTs === undefined;

/** Too many alerts came at once, and that is so when a node dies. */
export const mayBeOfNode = (run: Run): boolean =>
  mayJoinNode(run) && (run.alert?.problem?.code === 'alert_limit' || run.alert?.problem?.code === 'alert_cooldown');

/**
 * When a node dies, each alert of each pod on it fires: they are told of in the thread of one card, which names the node. Resolves with whether
 * the run waits for that card now. @throws KdebugError store_unreachable, lease_lost, and as `Cluster.node`
 */
export async function joinNode(
  held: HeldRun,
  { question, cluster }: { readonly question: Question | undefined; readonly cluster: string },
  tools: Tools,
): Promise<boolean> {
  const { alert, origin } = held.run;
  if (!alert || !mayJoinNode(held.run) || question?.kind !== 'pod') return false;
  const { pod } = question;
  const { nodeName } = pod.spec;
  const node = nodeName === undefined ? undefined : await tools.deps.clusters.get(cluster).node(nodeName);
  const found = nodeOutOfOrder({ pod, node });
  if (!found) return false;
  const firstKey = sha256(JSON.stringify(['dead node', origin.channelId, cluster, found.name]));
  const threadOf = await openCard(held.run, { ...found, source: alert.source, firstKey }, tools);
  await held.apply({ kind: 'joined', threadOf, alert: { ...alert, node: found.name } });
  return true;
}

/** The key of the node's open card, which is made where there is none: each card's key names the one before it. */
async function openCard(
  { origin }: Run,
  { firstKey, source, name, how }: NodeFound,
  { deps, starter }: Tools,
): Promise<string> {
  const { clock, store, owner } = deps;
  let dedupeKey = firstKey;
  for (let cards = 0; cards < MAX_CARDS; cards += 1) {
    const card = await readRunByKey(dedupeKey, deps);
    if (card === undefined) break;
    if (clock.now() < (card.alert?.openUntilMs ?? 0)) return dedupeKey;
    dedupeKey = sha256(`${firstKey}\n${card.id}`);
  }
  const alert = newNodeCard({ source, node: name, how, atMs: clock.now() });
  const { channelId } = origin;
  const run = runOfSource({ source, channelId, dedupeKey, request: NO_REQUEST, alert }, deps);
  const created = await store.create(run, owner, []);
  if (created.kind === 'created') starter.start(new HeldRun({ run, fence: created.fence }, deps));
  return dedupeKey;
}

interface NodeFound {
  readonly source: string;
  readonly name: string;
  readonly how: string;
  readonly firstKey: string;
}
