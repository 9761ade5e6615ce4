import type { BatchRun } from '../../core/batch/batch-run.ts';
import { podsToRerun } from '../../core/batch/group-results.ts';
import { reasonMessage } from '../../core/report/private-messages.ts';
import { originOf } from '../origin.ts';
import type { Answer, Click } from '../ports/slack.ts';
import type { Take } from './take.ts';

/** The button of a batch that has ended with pods that did not succeed. */
export const RERUN_FAILED = 'rerun-failed';

/**
 * Makes the batch's request once more for the pods that did not succeed: a new batch, of the person who clicked, decided anew
 * by the policy for that person. A second click of the same person starts nothing.
 */
export async function rerunFailed(
  run: BatchRun,
  click: Click,
  { take, nowMs }: { readonly take: Take; readonly nowMs: number },
): Promise<Answer> {
  const { batch, request, job, commandLine } = run;
  if (run.state !== 'finished' || podsToRerun(batch).length === 0) return refuse('batch_unchangeable');
  // The pods are chosen already: `replicas` bounded the first choice.
  const { replicas: _, ...size } = request.batch;
  const again = { ...request, batch: { ...size, parallelism: batch.parallelism } };
  const requests = job?.requests.map((one) => ({ ...one, batch: again.batch })) ?? [];
  const ofJob = job && { commandLine, job: { ...job, paused: false, requests } };
  // Where the first one stands, which the person who clicks sees.
  const { threadTs } = run.origin;
  const dedupeKey = `${RERUN_FAILED}:${run.id}:${click.userId}`;
  const asked = { ...click, dedupeKey, receivedAtMs: nowMs, ...(threadTs !== undefined && { threadTs }) };
  return take(originOf(asked, 'button'), again, { rerunOf: run.id, ...ofJob });
}

const refuse = (code: 'batch_unchangeable'): Answer => ({ kind: 'message', message: reasonMessage(code) });
