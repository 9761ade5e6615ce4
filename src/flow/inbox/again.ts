import { decideBatch, firstOfEachVariant } from '../../core/batch/decide-batch.ts';
import { podsToRerun } from '../../core/batch/pod-result.ts';
import type { RunRequest } from '../../core/command/command.ts';
import type { UserAndGroup } from '../../core/container/profiles.ts';
import { isRunId } from '../../core/ids.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { Form } from '../../core/report/message.ts';
import { reasonMessage } from '../../core/report/private-messages.ts';
import type { BatchRun } from '../../core/run/life-cycle.ts';
import type { LookAgain, Origin, Run } from '../../core/run/run.ts';
import { withDeadline } from '../../lib/deadline.ts';
import { defined } from '../../lib/defined.ts';
import type { FlowDeps } from '../deps.ts';
import type { Actor, Answer, Submission, SubmitAnswer } from '../ports/slack.ts';
import { planOrRefusal } from '../stages/plan.ts';
import { type AcceptRequest, type Asked, originOf } from './accept.ts';

/** The form that asks who clicks a button that asks again for a reason of their own; its `value` is the button and the run's id. */
export const AGAIN_REASON = 'again-reason';

/** Somebody who wants what another one asked for once more: by a button, or by the form that it opened. */
export interface Again extends Actor {
  readonly runId: string;
  /** Absent: it comes from the form, which is bound to the channel. */
  readonly messageTs?: string;
  readonly reason?: string;
}

/** The request with the reason of who asks now; what the first person gave as theirs is nobody else's. */
export function withReason({ reason: _, ...request }: RunRequest, reason: string | undefined): RunRequest {
  return reason === undefined ? request : { ...request, reason };
}

/** Empty to begin with: the words are to be the clicker's own. */
export const reasonForm = (action: string, { id, commandLine }: Run): Answer & { readonly form: Form } => ({
  kind: 'form',
  form: {
    name: AGAIN_REASON,
    value: `${action}:${id}`,
    title: 'Ask again',
    submit: 'Ask',
    intro: `Like run ${id}: /kdebug ${commandLine.split('\n', 1)[0]}`,
    fields: [
      {
        id: 'reason',
        label: 'Your reason',
        kind: 'lines',
        optional: false,
        maxLength: 500,
        hint: 'It is shown on the card and kept.',
      },
    ],
  },
});

/** What came back with the form; undefined: another form, or of another button. */
export function againOf(
  { name, value, teamId, userId, channelId, fields }: Submission,
  action: string,
): Again | undefined {
  if (name !== AGAIN_REASON || !value.startsWith(`${action}:`)) return undefined;
  const reason = (fields.reason ?? '').replace(/\s+/g, ' ').trim();
  return { teamId, userId, channelId, runId: value.slice(action.length + 1), reason };
}

/** Takes up what came back; without words it stays open. */
export async function submitAgain(again: Again, act: (again: Again) => Promise<Answer>): Promise<SubmitAnswer> {
  if (!again.reason) return { kind: 'errors', errors: { reason: 'A reason is needed.' } };
  const answer = await act(again);
  return { kind: 'taken', ...(answer.kind === 'message' && { message: answer.message }) };
}

/** The button of a batch that has ended with pods that did not succeed. */
export const RERUN_FAILED = 'rerun-failed';

interface RerunParts {
  readonly take: AcceptRequest;
  readonly nowMs: number;
  readonly policy: Policy;
}

/**
 * Makes the batch's request once more for the pods that did not succeed: a new batch, of the person who clicked, decided anew
 * by the policy for that person. Where the rule wants a reason, it is theirs and not the first person's. A second click of the same
 * person starts nothing.
 */
export async function rerunFailed(run: BatchRun, again: Again, { take, nowMs, policy }: RerunParts): Promise<Answer> {
  const { batch, request, job, commandLine } = run;
  if (run.state !== 'finished' || podsToRerun(batch).length === 0) return refuse('batch_unchangeable');
  if (again.reason === undefined && rerunNeedsReason(run, again, policy)) return reasonForm(RERUN_FAILED, run);
  // The pods are chosen already: `replicas` bounded the first choice.
  const { replicas: _, ...size } = request.batch;
  const asked = withReason({ ...request, batch: { ...size, parallelism: batch.parallelism } }, again.reason);
  const requests = job?.requests.map((one) => withReason({ ...one, batch: asked.batch }, again.reason)) ?? [];
  const ofJob = job && { commandLine, job: { ...job, paused: false, requests } };
  // Where the first one stands, which the person who clicks sees.
  const { threadTs } = run.origin;
  const { teamId, userId, channelId } = again;
  const dedupeKey = `${RERUN_FAILED}:${run.id}:${userId}`;
  const by = { teamId, userId, channelId, dedupeKey, receivedAtMs: nowMs, ...defined({ threadTs }) };
  return take(originOf(by, 'button'), asked, { rerunOf: run.id, ...ofJob });
}

/** By the plans as they were; the pods are looked at again afterwards. */
function rerunNeedsReason({ batch }: BatchRun, { userId: requesterId }: Again, policy: Policy): boolean {
  const plans = [...firstOfEachVariant(batch)].map(({ reason: _, ...plan }) => ({ ...plan, requesterId }));
  const size = { pods: podsToRerun(batch).length, parallelism: batch.parallelism };
  const decision = decideBatch(plans, policy, size);
  return decision.kind === 'deny' && decision.code === 'reason_required';
}

const refuse = (code: 'batch_unchangeable'): Answer => ({ kind: 'message', message: reasonMessage(code) });

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
  if (again.reason === undefined && (await lookNeedsReason({ ...run, origin, request }, deps))) {
    return reasonForm(LOOK_AGAIN, run);
  }
  return take(origin, request);
}

function standsThere({ channelId, messageTs }: Again, { delivery: { result } }: Run): boolean {
  return result?.channelId === channelId && (messageTs === undefined || result.ts === messageTs);
}

/** Whether the rule wants a reason; asked for too where nobody can say in time. */
async function lookNeedsReason(run: Run, deps: FlowDeps): Promise<boolean> {
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
