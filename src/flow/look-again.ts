import type { RunRequest } from '../core/command/command.ts';
import type { UserAndGroup } from '../core/container/profiles.ts';
import { isRunId } from '../core/ids.ts';
import { reasonMessage } from '../core/report/private-messages.ts';
import type { LookAgain, Origin, Run } from '../core/run/run.ts';
import type { FlowDeps } from './deps.ts';
import { type Asked, originOf } from './origin.ts';
import type { Answer, Click } from './ports/slack.ts';

/** The button of a verdict that could not see everything. */
export const LOOK_AGAIN = 'look-again';

/** SYS_PTRACE, which *general* adds, is of use to root alone (kubectl issue 1650). */
const ROOT: UserAndGroup = { uid: 0, gid: 0 };

/**
 * Makes the request of a finished diagnosis once more, with the eyes that its verdict offered: a new run, in the same thread, of
 * the person who clicked, decided anew by the policy for that person. A second click of the same person starts nothing.
 */
export async function lookAgain(
  click: Click,
  deps: FlowDeps,
  take: (origin: Origin, request: RunRequest) => Promise<Answer>,
): Promise<Answer> {
  const run = isRunId(click.value) ? await deps.store.read(click.value) : undefined;
  const result = run?.delivery.result;
  // A button of another message, channel or run was not put there by us.
  if (!run?.verdict?.lookAgain || result?.channelId !== click.channelId || result.ts !== click.messageTs) {
    return { kind: 'message', message: reasonMessage('button_stale') };
  }
  return take(originOf(askedBy(click, run, deps.clock.now()), 'button'), requestOf(run.request, run.verdict.lookAgain));
}

function askedBy(click: Click, { id, origin, delivery }: Run, receivedAtMs: number): Asked {
  const threadTs = origin.threadTs ?? (delivery.anchor?.channelId === click.channelId ? delivery.anchor.ts : undefined);
  const dedupeKey = `${LOOK_AGAIN}:${id}:${click.userId}`;
  return { ...click, dedupeKey, receivedAtMs, ...(threadTs !== undefined && { threadTs }) };
}

function requestOf({ runAs: _, ...request }: RunRequest, again: LookAgain): RunRequest {
  return again.kind === 'identity'
    ? { ...request, profile: 'restricted', runAs: again.runAs }
    : { ...request, profile: 'general', runAs: ROOT };
}
