import { shownCommandLine } from '../../core/command/shown-command.ts';
import type { UserAndGroup } from '../../core/container/profiles.ts';
import { ONCE_MORE } from '../../core/diagnosis/facts/rules.ts';
import type { LookAgain } from '../../core/diagnosis/facts/verdict.ts';
import type { RunRequest } from '../../core/request/command.ts';
import { comparisonRequest, mayCompare } from '../../core/run/ask.ts';
import { type BatchRun, isBatchRun } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import { imageForDifference } from '../../core/say/batch/compare-parts.ts';
import { runOfCard } from '../context/find-run.ts';
import { answerReason } from '../context/refusals.ts';
import { isHiddenFrom } from '../lookup/show.ts';
import type { Answer } from '../ports/slack.ts';
import { hasSecretOfAnother } from '../run/equal-run.ts';
import { type Again, formAgain, needsReason, originInRunThread, type RerunParts, withReason } from './again.ts';

/** SYS_PTRACE, which *general* adds, helps only root (kubectl issue 1650). */
const ROOT: UserAndGroup = { uid: 0, gid: 0 };

/**
 * The request that a button on the result of a diagnosis makes: with the profile that its verdict offered, with the
 * image that shows more of a finding or of what a comparison found, or for its pod and healthy siblings. Undefined: it offers no such button.
 */
const FOLLOW_UPS = {
  'look-again': ({ request, verdict }: Run) => verdict?.lookAgain && requestOf(request, verdict.lookAgain),
  'next-image': (run: Run) =>
    isBatchRun(run)
      ? insideRequest(run)
      : run.verdict?.nextImage === ONCE_MORE
        ? onceMoreRequest(run)
        : run.verdict?.nextImage && nextRequest(run.request, run.verdict.nextImage, run.verdict.nextAs),
  compare: (run: Run) => (mayCompare(run) ? comparisonRequest(run.request, run.plan.podName) : undefined),
} as const;

/** Sends it as the clicker's own, in the same thread. Their second click, on the card or on the result, starts nothing. */
export async function followUp(
  action: keyof typeof FOLLOW_UPS,
  again: Again,
  { deps, accept }: RerunParts,
): Promise<Answer> {
  const found = await runOfCard(again, ({ delivery }) => [delivery.anchor, delivery.result], deps);
  if ('answer' in found) return found.answer;
  const { run } = found;
  // The card of a private run has no such button, and whether it could would give the verdict away.
  if (await isHiddenFrom(run, again.userId, deps)) return answerReason('button_stale');
  const followed = FOLLOW_UPS[action](run);
  if (!followed) return answerReason('button_stale');
  const { redact } = deps.policies.current().output;
  // A setting may hold one.
  if (hasSecretOfAnother({ origin: run.origin, request: followed }, again.userId, redact))
    return answerReason('run_has_secret', run.id);
  const dedupeKey = `${action}:${run.id}:${again.userId}`;
  const origin = originInRunThread(again, run, deps.clock.now(), dedupeKey);
  const request = withReason(followed, again.reason);
  if (again.reason === undefined && (await needsReason({ ...run, origin, request }, deps))) {
    const commandLine = shownCommandLine(request, redact);
    return formAgain(action, { id: run.id, commandLine });
  }
  return accept(origin, request);
}

/** Without the words of the first request: they were for another image. */
function nextRequest(
  { timeoutMs: _time, imagePullPolicy: _pull, label: _label, ...words }: RunRequest,
  image: string,
  as: LookAgain | undefined,
): RunRequest {
  const request = { ...words, image, command: [], argumentsOnly: false, env: [] };
  return as ? requestOf(request, as) : request;
}

/** The program of the pod that was looked at. It has the power of its original, and no profile. */
function onceMoreRequest({ request, plan }: Run): RunRequest | undefined {
  if (plan?.targetContainerName === undefined) return undefined;
  const { image: _image, runAs: _user, ...next } = nextRequest(request, '', undefined);
  return {
    ...next,
    target: { kind: 'pod', name: plan.podName },
    targetContainer: { kind: 'named', name: plan.targetContainerName },
    profile: 'auto',
    onceMore: { withoutEnv: [] },
  };
}

/** For the pod that differs from its siblings. */
function insideRequest(run: BatchRun): RunRequest | undefined {
  const { target } = run.request;
  const nextImage = imageForDifference(run);
  if (target.kind !== 'compare' || nextImage === undefined) return undefined;
  const single = { ...run.request, target: { kind: 'pod', name: target.name }, batch: { canary: false } } as const;
  return nextRequest(single, nextImage, undefined);
}

function requestOf({ runAs: _, ...request }: RunRequest, again: LookAgain): RunRequest {
  return again.kind === 'identity'
    ? { ...request, profile: 'restricted', runAs: again.runAs }
    : { ...request, profile: 'general', runAs: ROOT };
}
