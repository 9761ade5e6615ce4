import { podsToRerun } from '../../core/batch/pod-result.ts';
import { decideBatch, firstOfEachVariant } from '../../core/planning/decide-batch.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { BatchRun } from '../../core/run/life-cycle.ts';
import { defined } from '../../lib/object.ts';
import { type AcceptRequest, originOf } from '../context/accept.ts';
import { answerReason } from '../context/refusals.ts';
import type { Answer } from '../ports/slack.ts';
import { hasSecretOfAnother } from '../run/equal-run.ts';
import { type Again, formAgain, lacksReason, withReason } from './again.ts';

interface RerunContext {
  readonly accept: AcceptRequest;
  readonly nowMs: number;
  readonly policy: Policy;
}

/**
 * Repeats a batch's request for the pods that did not succeed, as the clicker's new batch; the policy decides anew for them. A required
 * reason must be theirs. Their second click starts nothing.
 */
export async function rerunFailed(
  run: BatchRun,
  again: Again,
  { accept, nowMs, policy }: RerunContext,
): Promise<Answer> {
  const { batch, request, job, commandLine } = run;
  if (run.state !== 'finished' || podsToRerun(batch).length === 0) return answerReason('batch_unchangeable');
  if (hasSecretOfAnother(run, again.userId, policy.output.redact)) return answerReason('run_has_secret', run.id);
  if (again.reason === undefined && rerunNeedsReason(run, again, policy)) return formAgain('rerun-failed', run);
  // The pods are known; `replicas` only bounded the first selection.
  const { replicas: _, ...size } = request.batch;
  const repeated = withReason({ ...request, batch: { ...size, parallelism: batch.parallelism } }, again.reason);
  const requests = job?.requests.map((one) => withReason({ ...one, batch: repeated.batch }, again.reason)) ?? [];
  const ofJob = job && { commandLine, job: { ...job, paused: false, requests } };
  const { threadTs } = run.origin;
  const { teamId, userId, channelId } = again;
  const dedupeKey = `rerun-failed:${run.id}:${userId}`;
  const requester = { teamId, userId, channelId, dedupeKey, receivedAtMs: nowMs, ...defined({ threadTs }) };
  return accept(originOf(requester, 'button'), repeated, { rerunOf: run.id, ...ofJob });
}

/** Judged by the first batch's plans; the new batch reads its pods again. */
function rerunNeedsReason({ batch }: BatchRun, { userId: requesterId }: Again, policy: Policy): boolean {
  const plans = [...firstOfEachVariant(batch)].map(({ reason: _, ...plan }) => ({ ...plan, requesterId }));
  const size = { pods: podsToRerun(batch).length, parallelism: batch.parallelism };
  return lacksReason(decideBatch(plans, policy, size));
}
