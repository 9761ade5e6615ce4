import type { RunId } from '../../core/ids.ts';
import type { RunRequest } from '../../core/request/command.ts';
import type { Origin } from '../../core/request/origin.ts';
import { isFinal } from '../../core/run/life-cycle.ts';
import type { Answer } from '../ports/slack.ts';
import type { AcceptRequest, RequestExtras } from './accept.ts';
import type { FlowDeps } from './deps.ts';

/** A person with more repeats of one run uses the buttons of the newest. */
const MAX_REPEATS = 20;

export interface Repeatable {
  /** Without its key, which `keyAfter` makes. */
  readonly origin: Omit<Origin, 'dedupeKey'>;
  readonly request: RunRequest;
  readonly extras: RequestExtras;
  /** The key of the request that follows `earlierId`, or of the first one. Whoever has the same key presses the same button. */
  readonly keyAfter: (earlierId?: RunId) => string;
  /** The answer while the run of an earlier click is open. */
  readonly ifOpen: (earlierId: RunId) => Answer;
}

interface Parts {
  readonly deps: Pick<FlowDeps, 'store'>;
  readonly accept: AcceptRequest;
}

/**
 * Accepts what a button asks for once, until the run of that click has ended. So a double click starts one run, and an old button works as
 * long as it is in Slack. @throws KdebugError store_unreachable
 */
export async function acceptOnce(requested: Repeatable, { deps, accept }: Parts): Promise<Answer> {
  const after = (earlierId: RunId | undefined, tries: number): Promise<Answer> =>
    accept(
      { ...requested.origin, dedupeKey: requested.keyAfter(earlierId) },
      requested.request,
      requested.extras,
      async (foundId) => {
        const found = await deps.store.read(foundId);
        const isOpen = !found || !isFinal(found.state) || tries >= MAX_REPEATS;
        return isOpen ? requested.ifOpen(foundId) : after(foundId, tries + 1);
      },
    );
  return after(undefined, 1);
}
