import { isRunId } from '../../core/ids.ts';
import { batchForOne } from '../../core/report/batch/private-batch.ts';
import type { Message } from '../../core/report/message.ts';
import { reasonMessage } from '../../core/report/private-messages.ts';
import { logsMessage, type RunLinks, type Sight, showMessage } from '../../core/report/run-for-one.ts';
import { isBatchRun } from '../../core/run/life-cycle.ts';
import type { Origin, PostRef, Run } from '../../core/run/run.ts';
import { withDeadline } from '../../lib/deadline.ts';
import { defined } from '../../lib/defined.ts';
import type { FlowDeps } from '../deps.ts';
import { isForRequesterAlone } from '../reply/slack-connect.ts';

/** Slack waits three seconds for the answer; a message without links is better than none. */
const LINKS_MS = 1_000;

/** The answer to `show ID` and `logs ID`. A run of another channel is as good as none: its log may say what this channel must not see. */
export async function showOrLogs(
  origin: Origin,
  { kind, id }: { readonly kind: 'show' | 'logs'; readonly id: string },
  deps: FlowDeps,
): Promise<Message> {
  const run = isRunId(id) ? await deps.store.read(id) : undefined;
  if (run?.origin.channelId !== origin.channelId) return reasonMessage('run_not_found', id);
  return showRun(run, { origin, kind, deps });
}

/** A run or a batch, for who asks. What is for its requester alone is shown to nobody else. */
export async function showRun(
  run: Run,
  { origin, kind, deps }: { readonly origin: Origin; readonly kind: 'show' | 'logs'; readonly deps: FlowDeps },
): Promise<Message> {
  const isRequester = run.origin.requesterId === origin.requesterId;
  const sight = {
    isHidden: !isRequester && (await isPrivate(run, deps)),
    links: await linksOf(run, isRequester, deps),
  };
  if (!isBatchRun(run)) return kind === 'logs' ? logsMessage(run, sight) : showMessage(run, sight);
  const { clock, policies } = deps;
  return batchForOne(run, { nowMs: clock.now(), approvers: policies.current().approvers, ...sightOfBatch(sight) });
}

const sightOfBatch = ({ isHidden, links }: Sight) => ({ isPrivate: isHidden, links });

/** Where nobody can say, it is. */
async function isPrivate({ origin }: Run, deps: FlowDeps): Promise<boolean> {
  return isForRequesterAlone(origin, deps).catch(() => true);
}

/** Links to what this person can open: in the run's channel, and in their own direct message. */
async function linksOf(
  { origin, delivery }: Run,
  isRequester: boolean,
  { thread, clock }: FlowDeps,
): Promise<RunLinks> {
  const linkTo = async (ref: PostRef | undefined): Promise<string | undefined> =>
    ref && (isRequester || ref.channelId === origin.channelId)
      ? thread.permalink(ref).catch(() => undefined)
      : undefined;
  const found = Promise.all([linkTo(delivery.anchor), linkTo(delivery.result)]);
  const [anchor, result] = await withDeadline(clock, LINKS_MS, found, (): undefined[] => []);
  return defined({ thread: anchor, result });
}
