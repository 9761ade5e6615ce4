import { newNodeCard } from '../../core/alert/card.ts';
import { nodeOutOfOrder } from '../../core/diagnosis/rules/surroundings.ts';
import { sha256 } from '../../core/hash.ts';
import type { Run } from '../../core/run/run.ts';
import { createRun, type Starter } from '../context/accept.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { HeldRun } from '../context/held-run.ts';
import { FIRST_ANSWER_MS, inTime } from '../first-answer/source.ts';
import type { Question } from '../planning/question.ts';
import { openCard } from './open-card.ts';
import { NO_REQUEST, runOfSource } from './unattended.ts';

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
 * the run waits for that card now. A node that cannot be read in time counts as ready. @throws KdebugError store_unreachable, lease_lost
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
  const { deps } = tools;
  const reading = nodeName === undefined ? undefined : deps.clusters.get(cluster).node(nodeName);
  const node = reading && (await inTime(deps, reading, FIRST_ANSWER_MS));
  const found = nodeOutOfOrder({ pod, node });
  if (!found) return false;
  const { cardKey, card } = await openCard(
    sha256(JSON.stringify(['dead node', origin.channelId, cluster, found.name])),
    deps,
  );
  if (!card) await createCard(held.run, { ...found, source: alert.source, cardKey }, tools);
  await held.apply({ kind: 'joined', threadOf: cardKey, alert: { ...alert, node: found.name } });
  return true;
}

interface NodeFound {
  readonly source: string;
  readonly name: string;
  readonly how: string;
  readonly cardKey: string;
}

/** Of several who make it at a time, the store takes one. */
async function createCard({ origin }: Run, { cardKey, source, name, how }: NodeFound, tools: Tools): Promise<void> {
  const { deps } = tools;
  const { channelId } = origin;
  const alert = newNodeCard({ source, node: name, how, atMs: deps.clock.now() });
  const run = runOfSource({ source, channelId, dedupeKey: cardKey, request: NO_REQUEST, alert }, deps);
  await createRun(run, [], tools);
}
