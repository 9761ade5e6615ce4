import { isRunId } from '../../core/ids.ts';
import { isSamePost } from '../../core/run/copies.ts';
import type { Run } from '../../core/run/run.ts';
import type { PostRef } from '../../core/run/run-state.ts';
import type { FlowDeps } from '../deps.ts';

type Deps = Pick<FlowDeps, 'store'>;

/** Undefined: not an id, or unknown to the store. */
export async function readRun(id: string, { store }: Deps): Promise<Run | undefined> {
  return isRunId(id) ? store.read(id) : undefined;
}

/** Hides other channels' runs: this channel may not be allowed to see their logs. */
export async function readRunOfChannel(id: string, channelId: string, deps: Deps): Promise<Run | undefined> {
  const run = await readRun(id, deps);
  return run?.origin.channelId === channelId ? run : undefined;
}

/** Where somebody clicked. A form has no `messageTs`: it is bound only to the channel. */
interface ClickedAt {
  readonly channelId: string;
  readonly messageTs?: string;
}

/** False for a button of another message, channel or run: kdebug did not post it there. */
export function isOnCard(card: PostRef | undefined, { channelId, messageTs }: ClickedAt): boolean {
  return card !== undefined && isSamePost(card, { channelId, ts: messageTs ?? card.ts });
}

/** The run that a click names, if the clicked message is its card. Undefined: the button is stale or forged. */
export async function runOfCard(
  click: ClickedAt & { readonly runId: string },
  cardOf: (run: Run) => PostRef | undefined,
  deps: Deps,
): Promise<Run | undefined> {
  const run = await readRun(click.runId, deps);
  return run && isOnCard(cardOf(run), click) ? run : undefined;
}

/** The same for a button that is on the run's card and on its result. */
export async function runOfAnyCard(
  click: ClickedAt & { readonly runId: string },
  deps: Deps,
): Promise<Run | undefined> {
  const run = await readRun(click.runId, deps);
  if (run?.origin.channelId !== click.channelId) return undefined;
  return [run.delivery.anchor, run.delivery.result].some((card) => isOnCard(card, click)) ? run : undefined;
}
