import { PROFILES, type Profile } from '../../core/container/profiles.ts';
import type { RunId } from '../../core/ids.ts';
import type { RunRequest } from '../../core/request/command.ts';
import type { Origin } from '../../core/request/origin.ts';
import { isFinal } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import type { PossibleProfile } from '../../core/say/answers/click-messages.ts';
import { lacksOf } from '../../core/say/parts/run-buttons.ts';
import { defined } from '../../lib/object.ts';
import type { RequestExtras } from '../context/accept.ts';
import { acceptOnce } from '../context/accept-once.ts';
import type { FlowDeps } from '../context/deps.ts';
import { readRunOfChannel, runOfAnyCard } from '../context/find-run.ts';
import { answerReason } from '../context/refusals.ts';
import type { PlanSubject } from '../planning/plan-batch.ts';
import { type Preview, withPreview } from '../planning/plan-pod.ts';
import type { Answer } from '../ports/slack.ts';
import { hasSecretOfAnother } from '../run/equal-run.ts';
import { planOrRefusal } from '../run/plan.ts';
import {
  type Again,
  type AgainAction,
  DECIDE_WITHIN_MS,
  formAgain,
  lacksReason,
  needsReason,
  originInRunThread,
  type RerunParts,
  threadTsOf,
  withReason,
} from './again.ts';

/** The button *Run again* on a card or a result. */
export async function clickRerun(again: Again, parts: RerunParts): Promise<Answer> {
  const found = await runOfAnyCard(again, parts.deps);
  return 'answer' in found ? found.answer : repeat(found.run, again, { ...parts, action: 'rerun' });
}

/**
 * The button *Run anyway* on the private offer of an equal run: the request that was refused for it, with its own reason and thread. Only
 * for the person who typed it.
 */
export async function clickRunAnyway(again: Again, parts: RerunParts): Promise<Answer> {
  const run = await readRunOfChannel(again.runId, again.channelId, parts.deps);
  if (run?.refusal?.code !== 'same_again' || run.origin.requesterId !== again.userId)
    return answerReason('button_stale');
  return repeat(run, again, { ...parts, action: 'run-anyway' });
}

/** `rerun ID`: each time it is typed, one run. */
export async function typeRerun(typed: Origin, id: string, parts: RerunParts): Promise<Answer> {
  const run = await readRunOfChannel(id, typed.channelId, parts.deps);
  if (!run) return answerReason('run_not_found', id);
  const threadTs = typed.threadTs ?? threadTsOf(run);
  const origin = { ...typed, ...defined({ threadTs }) };
  const repeated = repeatOf(run, origin);
  return (
    problemOf(run, origin, parts.deps) ??
    // A mention has no trigger for a form, so it is refused like any request without a reason.
    (typed.source !== 'mention' && (await needsReason(planSubject(repeated, origin), parts.deps))
      ? formAgain('rerun', run)
      : parts.accept(origin, repeated.request, repeated.extras))
  );
}

/**
 * The same request once more, as the clicker's own and in the same thread; the policy decides anew. Their second click starts nothing as
 * long as the run of the first is open.
 */
async function repeat(
  run: Run,
  again: Again,
  { deps, accept, action }: RerunParts & { readonly action: AgainAction },
): Promise<Answer> {
  const origin = originInRunThread(again, run, deps.clock.now());
  const problem = problemOf(run, origin, deps);
  if (problem) return problem;
  const repeated = repeatOf(run, origin, again.reason);
  if (again.reason === undefined && (await needsReason(planSubject(repeated, origin), deps)))
    return formAgain(action, run);
  return repeatOnce(run.id, origin, repeated, { deps, accept });
}

/** Answers if nobody, or not this person, may repeat the run. */
function problemOf(run: Run, { requesterId }: Origin, { policies }: FlowDeps): Answer | undefined {
  if (!isFinal(run.state)) return answerReason('run_not_ended', run.id);
  const { redact } = policies.current().output;
  return hasSecretOfAnother(run, requesterId, redact) ? answerReason('run_has_secret', run.id) : undefined;
}

interface Repeated {
  readonly request: RunRequest;
  readonly extras: RequestExtras;
}

/** A reason stays with who wrote it. */
function repeatOf(run: Run, { requesterId }: Origin, typed?: string): Repeated {
  const { commandLine, job, rerunOf } = run;
  const reason = typed ?? (run.origin.requesterId === requesterId ? run.request.reason : undefined);
  const own = job && { ...job, requests: job.requests.map((one) => withReason(one, reason)) };
  const extras = defined({ job: own, rerunOf, commandLine: own && commandLine });
  return { request: withReason(run.request, reason), extras };
}

/** The planner reads only this part of it. */
const planSubject = ({ request, extras }: Repeated, origin: Origin): PlanSubject => ({ origin, request, ...extras });

/** A click of each person starts one run, until that has ended: then it is what its own button would repeat. */
const repeatOnce = (id: RunId, origin: Origin, { request, extras }: Repeated, parts: RerunParts): Promise<Answer> =>
  acceptOnce(
    {
      ...{ origin, request, extras },
      keyAfter: (earlierId = id) => `rerun:${earlierId}:${origin.requesterId}`,
      ifOpen: (earlierId) => answerReason('already_asked', `run ${earlierId}`),
    },
    parts,
  );

/**
 * *Ask for it* on a private refusal: opens a form with the reason that the rule requires, or with the profiles that the policy would let
 * through; submitted, it sends the same request with them. Only for the person who was refused.
 */
export async function askForIt(again: Again, { deps, accept }: RerunParts): Promise<Answer> {
  const run = await readRunOfChannel(again.runId, again.channelId, deps);
  const lacks = run?.refusal && lacksOf(run, run.refusal);
  if (!run || !lacks || run.state !== 'denied' || run.origin.requesterId !== again.userId)
    return answerReason('button_stale');
  const origin = originInRunThread(again, run, deps.clock.now());
  const profile = PROFILES.find((known) => known === again.profile);
  if (again.reason === undefined && profile === undefined) {
    if (lacks === 'reason') return formAgain('ask-for-it', run);
    const profiles = await possibleProfiles(run, origin, deps);
    return profiles.length === 0 ? answerReason('nothing_to_ask_for') : formAgain('ask-for-it', run, profiles);
  }
  const { request, extras } = repeatOf(run, origin, again.reason);
  const changed = { request: { ...request, ...defined({ profile }) }, extras };
  if (again.reason === undefined && (await needsReason(planSubject(changed, origin), deps)))
    return formAgain('ask-for-it', run);
  return repeatOnce(run.id, origin, changed, { deps, accept });
}

const BY_POWER: readonly Profile[] = ['sysadmin', 'netadmin', 'general', 'baseline', 'restricted'];

/** The profiles with which this request would be let through, or asked for; the strongest first. None if no answer comes in time. */
async function possibleProfiles(run: Run, origin: Origin, deps: FlowDeps): Promise<readonly PossibleProfile[]> {
  const tryProfile = async (profile: Profile, preview: Preview): Promise<readonly PossibleProfile[]> => {
    const subject = { ...run, origin, request: { ...run.request, profile } };
    const made = await planOrRefusal(subject, deps, preview).catch(() => undefined);
    if (!made || !('decision' in made)) return [];
    const { decision } = made;
    if (decision.kind === 'deny' && !lacksReason(decision)) return [];
    return [{ profile, needsApproval: decision.kind !== 'allow' }];
  };
  const tryAll = (preview: Preview) => Promise.all(BY_POWER.map((profile) => tryProfile(profile, preview)));
  const found = await withPreview(deps.clock, DECIDE_WITHIN_MS, tryAll, () => []);
  return found.flat();
}
