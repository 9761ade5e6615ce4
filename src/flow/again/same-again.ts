import type { Refusal } from '../../core/request/origin.ts';
import type { Run } from '../../core/run/run.ts';
import { sameAgainMessage } from '../../core/say/answers/click-messages.ts';
import { refusalMessage } from '../../core/say/answers/private-messages.ts';
import type { Message } from '../../core/say/message/message.ts';
import { defined } from '../../lib/object.ts';
import type { FlowDeps } from '../context/deps.ts';

/**
 * The private answer to a refused request. Where an equal run has just finished (`same_again`), it offers that run's
 * result and the button *Run anyway*. @throws KdebugError store_unreachable
 */
export async function refusalOrOffer(run: Run, refusal: Refusal, deps: FlowDeps): Promise<Message> {
  const equal = refusal.equalRun && (await deps.store.read(refusal.equalRun));
  if (!equal) return refusalMessage(run, refusal);
  const url = await linkTo(equal, run, deps);
  return sameAgainMessage(equal, { requestId: run.id, nowMs: deps.clock.now(), ...defined({ url }) });
}

/** Undefined where only the other requester can read the post: it is in their direct messages. */
async function linkTo({ origin, delivery }: Run, reader: Run, deps: FlowDeps): Promise<string | undefined> {
  const shown = delivery.result ?? delivery.anchor;
  const isReadable = origin.requesterId === reader.origin.requesterId || shown?.channelId === origin.channelId;
  return shown && isReadable ? deps.thread.permalink(shown).catch(() => undefined) : undefined;
}
