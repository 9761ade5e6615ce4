import { isRunId } from '../../core/ids.ts';
import { isSamePost } from '../../core/run/copies.ts';
import { isFinal, isSettled } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import type { PostRef } from '../../core/run/run-state.ts';
import type { Answer } from '../ports/slack.ts';
import type { FlowDeps } from './deps.ts';
import { answerReason } from './refusals.ts';

type Deps = Pick<FlowDeps, 'store'>;

/** Undefined: not an id, or unknown to the store. */
export async function readRun(id: string, { store }: Deps): Promise<Run | undefined> {
  return isRunId(id) ? store.read(id) : undefined;
}

/** The run that a request with this key began. Undefined: none did, or the store has lost it. @throws KdebugError store_unreachable */
export async function readRunByKey(dedupeKey: string, { store }: Deps): Promise<Run | undefined> {
  const id = await store.idOf(dedupeKey);
  return id === undefined ? undefined : store.read(id);
}

/** Hides other channels' runs: this channel may not be allowed to see their logs. */
export async function readRunOfChannel(id: string, channelId: string, deps: Deps): Promise<Run | undefined> {
  const run = await readRun(id, deps);
  return run?.origin.channelId === channelId ? run : undefined;
}

/** The place of a click. A form has no `messageTs`: it is bound only to the channel. */
interface ClickedAt {
  readonly channelId: string;
  readonly messageTs?: string;
}

/** False for a button of another message, channel or run: kdebug did not post it there. */
export function isOnCard(card: PostRef | undefined, { channelId, messageTs }: ClickedAt): boolean {
  return card !== undefined && isSamePost(card, { channelId, ts: messageTs ?? card.ts });
}

/** The result of a search for a run: the run, or the answer to give instead. */
export type RunOrAnswer<Found extends Run = Run> = { readonly run: Found } | { readonly answer: Answer };

export const STALE: RunOrAnswer<never> = { answer: answerReason('button_stale') };
const EARLY: RunOrAnswer<never> = { answer: answerReason('button_early') };

/**
 * The run that a click names, if the clicked message is one of the run's cards. Else the card may be one that Slack shows
 * already and kdebug has not recorded yet, or it is stale or forged.
 */
export async function runOfCard(
  click: ClickedAt & { readonly runId: string },
  cardsOf: (run: Run) => readonly (PostRef | undefined)[],
  deps: Deps,
): Promise<RunOrAnswer> {
  const run = await readRun(click.runId, deps);
  if (!run) return STALE;
  if (cardsOf(run).some((card) => isOnCard(card, click))) return { run };
  return run.origin.channelId === click.channelId && isResultBeingPosted(run) ? EARLY : STALE;
}

/** The same for a button that is on the run's card and on its result. */
export async function runOfAnyCard(click: ClickedAt & { readonly runId: string }, deps: Deps): Promise<RunOrAnswer> {
  const found = await runOfCard(click, ({ delivery }) => [delivery.anchor, delivery.result], deps);
  return 'answer' in found || found.run.origin.channelId === click.channelId ? found : STALE;
}

/** A result with files can take seconds until kdebug knows which message it is. */
const isResultBeingPosted = (run: Run): boolean =>
  isFinal(run.state) && !isSettled(run) && run.delivery.result === undefined && run.delivery.lost === undefined;
