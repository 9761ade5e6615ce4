import type { Command, RunRequest } from '../../core/command/command.ts';
import type { UserAndGroup } from '../../core/container/profiles.ts';
import { isRunId } from '../../core/ids.ts';
import type { Message } from '../../core/report/message.ts';
import { limitedMessage, reasonMessage } from '../../core/report/private-messages.ts';
import type { LookAgain, Origin, Run } from '../../core/run/run.ts';
import { withDeadline } from '../../lib/deadline.ts';
import { defined } from '../../lib/defined.ts';
import { type Again, reasonForm, withReason } from '../approval/ask-again.ts';
import type { FlowDeps } from '../deps.ts';
import type { Answer } from '../ports/slack.ts';
import { planOrRefusal } from '../stages/plan.ts';
import { type Asked, originOf } from './accept.ts';

/** The button of a verdict that could not see everything. */
export const LOOK_AGAIN = 'look-again';

/** SYS_PTRACE, which *general* adds, is of use to root alone (kubectl issue 1650). */
const ROOT: UserAndGroup = { uid: 0, gid: 0 };

/** Whoever clicked gets the form meanwhile. */
const LOOK_MS = 1_000;

/**
 * Makes the request of a finished diagnosis once more, with the eyes that its verdict offered: a new run, in the same thread, of
 * the person who clicked, decided anew by the policy for that person. Where the rule wants a reason, it is theirs and not the first
 * person's. A second click of the same person starts nothing.
 */
export async function lookAgain(
  again: Again,
  deps: FlowDeps,
  take: (origin: Origin, request: RunRequest) => Promise<Answer>,
): Promise<Answer> {
  const run = isRunId(again.runId) ? await deps.store.read(again.runId) : undefined;
  if (!run?.verdict?.lookAgain || !standsThere(again, run)) {
    // A button of another message, channel or run was not put there by us.
    return { kind: 'message', message: reasonMessage('button_stale') };
  }
  const origin = originOf(askedBy(again, run, deps.clock.now()), 'button');
  const request = withReason(requestOf(run.request, run.verdict.lookAgain), again.reason);
  if (again.reason === undefined && (await wantsReason({ ...run, origin, request }, deps))) {
    return reasonForm(LOOK_AGAIN, run);
  }
  return take(origin, request);
}

function standsThere({ channelId, messageTs }: Again, { delivery: { result } }: Run): boolean {
  return result?.channelId === channelId && (messageTs === undefined || result.ts === messageTs);
}

/** Whether the rule wants a reason; asked for too where nobody can say in time. */
async function wantsReason(run: Run, deps: FlowDeps): Promise<boolean> {
  const isWanted = planOrRefusal(run, deps).then(
    (made) => 'decision' in made && made.decision.kind === 'deny' && made.decision.code === 'reason_required',
    () => true,
  );
  return withDeadline(deps.clock, LOOK_MS, isWanted, () => true);
}

function askedBy(again: Again, { id, origin, delivery }: Run, receivedAtMs: number): Asked {
  const { teamId, userId, channelId } = again;
  const threadTs = origin.threadTs ?? (delivery.anchor?.channelId === channelId ? delivery.anchor.ts : undefined);
  const dedupeKey = `${LOOK_AGAIN}:${id}:${userId}`;
  return { teamId, userId, channelId, dedupeKey, receivedAtMs, ...defined({ threadTs }) };
}

function requestOf({ runAs: _, ...request }: RunRequest, again: LookAgain): RunRequest {
  return again.kind === 'identity'
    ? { ...request, profile: 'restricted', runAs: again.runAs }
    : { ...request, profile: 'general', runAs: ROOT };
}

/** They start no run, so no store counts them, but they cost work. */
type Look = Command['kind'] | 'talk';
const COSTLY: ReadonlySet<Look> = new Set(['can-i', 'whoami', 'export', 'apply', 'talk']);
const MINUTE_MS = 60_000;
/** Persons that are remembered before those who have not asked for a minute are forgotten. */
const MANY = 1_000;

/**
 * How often a person asks for what starts no run but costs work: `can-i`, `whoami`, `export`, `apply`, and talk for which a pod is
 * looked up. Counted here and not in the store, because it is this process' time that is spent.
 */
export class LookLimiter {
  readonly #deps: Pick<FlowDeps, 'clock' | 'policies'>;
  readonly #byPerson = new Map<string, readonly number[]>();

  constructor(deps: Pick<FlowDeps, 'clock' | 'policies'>) {
    this.#deps = deps;
  }

  /** Counts one look, by the policy's `runsPerUserPerMinute`; when the last minute is full, counts nothing and says when it is not. */
  refusal(userId: string, kind: Look): Message | undefined {
    if (!COSTLY.has(kind)) return undefined;
    const nowMs = this.#deps.clock.now();
    const { runsPerUserPerMinute: most } = this.#deps.policies.current().limits;
    const recent = (this.#byPerson.get(userId) ?? []).filter((atMs) => atMs > nowMs - MINUTE_MS);
    const blocking = recent[recent.length - most];
    if (blocking !== undefined) {
      const retryAtMs = blocking + MINUTE_MS;
      return limitedMessage('limit_per_person', { count: recent.length, max: most, retryAtMs });
    }
    if (this.#byPerson.size >= MANY) this.#forget(nowMs - MINUTE_MS);
    this.#byPerson.set(userId, [...recent, nowMs]);
    return undefined;
  }

  #forget(beforeMs: number): void {
    for (const [userId, times] of this.#byPerson) if ((times.at(-1) ?? 0) <= beforeMs) this.#byPerson.delete(userId);
  }
}
