import { decideBatch, firstOfEachVariant } from '../../core/batch/decide-batch.ts';
import { podsToRerun } from '../../core/batch/pod-result.ts';
import type { Policy } from '../../core/policy/policy.ts';
import { reasonMessage } from '../../core/report/private-messages.ts';
import type { BatchRun } from '../../core/run/life-cycle.ts';
import { defined } from '../../lib/defined.ts';
import { type Again, reasonForm, withReason } from '../approval/ask-again.ts';
import type { Answer } from '../ports/slack.ts';
import { type AcceptRequest, originOf } from './accept.ts';

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
  if (again.reason === undefined && wantsReason(run, again, policy)) return reasonForm(RERUN_FAILED, run);
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
function wantsReason({ batch }: BatchRun, { userId: requesterId }: Again, policy: Policy): boolean {
  const plans = [...firstOfEachVariant(batch)].map(({ reason: _, ...plan }) => ({ ...plan, requesterId }));
  const size = { pods: podsToRerun(batch).length, parallelism: batch.parallelism };
  const decision = decideBatch(plans, policy, size);
  return decision.kind === 'deny' && decision.code === 'reason_required';
}

const refuse = (code: 'batch_unchangeable'): Answer => ({ kind: 'message', message: reasonMessage(code) });
