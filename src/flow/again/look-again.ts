import type { ActionName } from '../../core/actions.ts';
import { decideBatch, firstOfEachVariant } from '../../core/batch/decide-batch.ts';
import { podsToRerun } from '../../core/batch/pod-result.ts';
import type { RunRequest } from '../../core/command/command.ts';
import { comparisonRequest, mayCompare } from '../../core/compare/ask.ts';
import type { UserAndGroup } from '../../core/container/profiles.ts';
import type { Policy } from '../../core/policy/policy.ts';
import { againForm } from '../../core/report/answers/click-messages.ts';
import { shownCommandLine } from '../../core/report/log/redact-text.ts';
import type { BatchRun } from '../../core/run/life-cycle.ts';
import type { LookAgain, Run } from '../../core/run/run.ts';
import { withDeadline } from '../../lib/clock.ts';
import { defined, own } from '../../lib/object.ts';
import type { PlanSubject } from '../batch/plan.ts';
import type { FlowDeps } from '../deps.ts';
import { type AcceptRequest, type LookLimiter, originOf, type Requester } from '../inbox/accept.ts';
import { runOfCard } from '../inbox/find-run.ts';
import { answerReason, answerWith, closeForm } from '../inbox/refusals.ts';
import type { Actor, Answer, Click, Submission, SubmitAnswer } from '../ports/slack.ts';
import { planOrRefusal } from '../stages/plan.ts';
import { hasSecretOfAnother } from './same-again.ts';

export type AgainAction = Extract<
  ActionName,
  'look-again' | 'next-image' | 'compare' | 'rerun-failed' | 'rerun' | 'run-anyway' | 'ask-for-it'
>;

/** A repeat of a run's request, by button or by the form that the button opened. */
export interface Again extends Actor {
  readonly runId: string;
  /** Absent in a form, which is bound only to the channel. */
  readonly messageTs?: string;
  readonly reason?: string;
  /** Chosen in the form of `ask-for-it`. */
  readonly profile?: string;
}

export function withReason({ reason: _, ...request }: RunRequest, reason: string | undefined): RunRequest {
  return { ...request, ...defined({ reason }) };
}

export const formAgain = (...parts: Parameters<typeof againForm>): Answer => ({
  kind: 'form',
  form: againForm(...parts),
});

/** Plans the request once more, which reads the cluster and writes records, even if a form is all that follows. */
export const planBounded =
  <Parts extends { readonly looks: LookLimiter }>(act: (parts: Parts, again: Again) => Promise<Answer>) =>
  async (parts: Parts, click: Click): Promise<Answer> => {
    const limited = parts.looks.refusal(click.userId, 'plan-again');
    return limited ? answerWith(limited) : act(parts, { ...click, runId: click.value });
  };

/** The form stays open without a reason, unless it asks for a profile and the rule for that wants none. */
export async function submitAgain(
  { value, teamId, userId, channelId, fields }: Submission,
  looks: LookLimiter,
  send: Readonly<Record<AgainAction, (again: Again) => Promise<Answer>>>,
): Promise<SubmitAnswer> {
  const [action = '', runId = ''] = value.split(':');
  const sendAgain = own(send, action);
  if (!sendAgain) return closeForm(answerReason('button_stale'));
  const { profile } = fields;
  const reason = (fields.reason ?? '').replace(/\s+/g, ' ').trim() || undefined;
  if (reason === undefined && profile === undefined) return NO_REASON;
  // With a reason, the quotas of the request count it.
  const limited = reason === undefined ? looks.refusal(userId, 'plan-again') : undefined;
  if (limited) return closeForm(answerWith(limited));
  const answer = await sendAgain({ teamId, userId, channelId, runId, ...defined({ reason, profile }) });
  return answer.kind === 'form' ? NO_REASON : closeForm(answer);
}

const NO_REASON: SubmitAnswer = { kind: 'errors', errors: { reason: 'A reason is needed.' } };

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
  const decision = decideBatch(plans, policy, size);
  return decision.kind === 'deny' && decision.code === 'reason_required';
}

/** SYS_PTRACE, which *general* adds, helps only root (kubectl issue 1650). */
const ROOT: UserAndGroup = { uid: 0, gid: 0 };

/** The longest time that the clicker waits for the form. */
export const LOOK_MS = 1_000;

/** Repeats a finished diagnosis with the profile that its verdict offered, as `rerunFailed` does, in the same thread. */
export const lookAgain = (again: Again, deps: FlowDeps, accept: AcceptRequest): Promise<Answer> =>
  followUp('look-again', again, { deps, accept });

/** Looks at the pod of a finished diagnosis and at healthy siblings of it, in the same thread. */
export const compareWithSiblings = (again: Again, deps: FlowDeps, accept: AcceptRequest): Promise<Answer> =>
  followUp('compare', again, { deps, accept });

/** Runs the image that shows more of a finding, beside the same target, in the same thread. */
export const nextImage = (again: Again, deps: FlowDeps, accept: AcceptRequest): Promise<Answer> =>
  followUp('next-image', again, { deps, accept });

/** The request that a button on the result of a diagnosis makes; undefined if the diagnosis offers no such button. */
const FOLLOW_UPS = {
  'look-again': ({ request, verdict }: Run) => verdict?.lookAgain && requestOf(request, verdict.lookAgain),
  'next-image': ({ request, verdict }: Run) =>
    verdict?.nextImage && nextRequest(request, verdict.nextImage, verdict.nextAs),
  compare: (run: Run) => (mayCompare(run) ? comparisonRequest(run.request, run.plan.podName) : undefined),
} as const;

interface FollowUpContext {
  readonly deps: FlowDeps;
  readonly accept: AcceptRequest;
}

async function followUp(action: keyof typeof FOLLOW_UPS, again: Again, context: FollowUpContext): Promise<Answer> {
  const { deps, accept } = context;
  const run = await runOfCard(again, ({ delivery }) => [delivery.result], deps);
  if (typeof run === 'string') return answerReason(run);
  const followed = FOLLOW_UPS[action](run);
  if (!followed) return answerReason('button_stale');
  const { redact } = deps.policies.current().output;
  // A setting may hold one.
  if (hasSecretOfAnother({ origin: run.origin, request: followed }, again.userId, redact))
    return answerReason('run_has_secret', run.id);
  const origin = originOf(
    { ...requesterOf(again, run, deps.clock.now()), dedupeKey: `${action}:${run.id}:${again.userId}` },
    'button',
  );
  const request = withReason(followed, again.reason);
  if (again.reason === undefined && (await needsReason({ ...run, origin, request }, deps))) {
    const commandLine = shownCommandLine(request, redact);
    return formAgain(action, { id: run.id, commandLine });
  }
  return accept(origin, request);
}

/** Whether the rule requires a reason; true if no decision comes in time. */
export async function needsReason(subject: PlanSubject, deps: FlowDeps): Promise<boolean> {
  const isWanted = planOrRefusal(subject, deps, { isOver: () => false }).then(
    (made) => 'decision' in made && made.decision.kind === 'deny' && made.decision.code === 'reason_required',
    () => true,
  );
  return withDeadline(deps.clock, LOOK_MS, isWanted, () => true);
}

function requesterOf(again: Again, run: Run, receivedAtMs: number): Omit<Requester, 'dedupeKey'> {
  const { teamId, userId, channelId } = again;
  return { teamId, userId, channelId, receivedAtMs, ...defined({ threadTs: threadOf(run) }) };
}

/** The thread in which a run answers, if it has one in its channel. */
export const threadOf = ({ origin, delivery: { anchor } }: Pick<Run, 'origin' | 'delivery'>): string | undefined =>
  origin.threadTs ?? (anchor?.channelId === origin.channelId ? anchor.ts : undefined);

/** Without the words of the first request: they were for another image. */
function nextRequest(
  { timeoutMs: _time, imagePullPolicy: _pull, label: _label, ...words }: RunRequest,
  image: string,
  as: LookAgain | undefined,
): RunRequest {
  const request = { ...words, image, command: [], argumentsOnly: false, env: [] };
  return as ? requestOf(request, as) : request;
}

function requestOf({ runAs: _, ...request }: RunRequest, again: LookAgain): RunRequest {
  return again.kind === 'identity'
    ? { ...request, profile: 'restricted', runAs: again.runAs }
    : { ...request, profile: 'general', runAs: ROOT };
}
