import type { ActionName, FormName, ShortcutName } from '../../core/actions.ts';
import { isBatchRun } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import { copyCommandMessage, detailsMessage } from '../../core/say/answers/click-messages.ts';
import { outliersMessage } from '../../core/say/batch/outliers-message.ts';
import { podInText } from '../../core/say/pod-in-text.ts';
import type { Approvals, DecisionAction } from '../approval/votes.ts';
import { type AcceptRequest, type LookupLimiter, originOf } from '../context/accept.ts';
import type { FlowDeps } from '../context/deps.ts';
import { runOfAnyCard } from '../context/find-run.ts';
import { answerReason, answerWith } from '../context/refusals.ts';
import { openRequestForm } from '../form/request-form.ts';
import { submitChannel } from '../home/pick-channel.ts';
import { isHiddenFrom, showRun } from '../lookup/show.ts';
import type { Answer, Click, Shortcut, Submission, SubmitAnswer } from '../ports/slack.ts';
import { hasSecret } from '../run/equal-run.ts';
import type { JobInbox } from './apply-job.ts';
import type { BatchCommands } from './batch-commands.ts';
import { clickAgain, submitAgain } from './clicks.ts';
import type { Stops } from './stop-request.ts';

export interface InboxParts {
  readonly deps: FlowDeps;
  readonly accept: AcceptRequest;
  readonly approvals: Approvals;
  readonly batches: BatchCommands;
  readonly jobs: JobInbox;
  readonly lookups: LookupLimiter;
  readonly stops: Stops;
  readonly previews: LookupLimiter;
  readonly submitRequest: (submission: Submission) => Promise<SubmitAnswer>;
}

export type ClickHandlers = Readonly<Record<ActionName, (parts: InboxParts, click: Click) => Promise<Answer>>>;

export type SubmitHandlers = Readonly<
  Record<FormName, (parts: InboxParts, submission: Submission) => Promise<SubmitAnswer>>
>;

export type ShortcutHandlers = Readonly<
  Record<ShortcutName, (parts: InboxParts, shortcut: Shortcut) => Promise<Answer>>
>;

const decide =
  (action: DecisionAction) =>
  ({ approvals }: InboxParts, click: Click): Promise<Answer> =>
    approvals.click(click, action);

const showBounded =
  (what: ShowAction) =>
  async ({ deps, lookups }: InboxParts, click: Click): Promise<Answer> => {
    const limited = lookups.refusal(click.userId, what);
    return limited ? answerWith(limited) : show(click, what, deps);
  };

export const ON_CLICK: ClickHandlers = {
  approve: decide('approve'),
  'approve-grant': decide('approve-grant'),
  reject: decide('reject'),
  'end-grant': decide('end-grant'),
  cancel: ({ batches }, click) => batches.clickCancel(click),
  'look-again': clickAgain('look-again'),
  'next-image': clickAgain('next-image'),
  compare: clickAgain('compare'),
  pause: ({ batches }, click) => batches.clickChange(click, 'pause'),
  resume: ({ batches }, click) => batches.clickChange(click, 'resume'),
  continue: ({ batches }, click) => batches.clickChange(click, 'continue'),
  resize: ({ batches }, click) => batches.clickResize(click),
  'rerun-failed': ({ batches }, click) => batches.rerunFailed({ ...click, runId: click.value }),
  rerun: clickAgain('rerun'),
  'run-anyway': clickAgain('run-anyway'),
  'ask-for-it': clickAgain('ask-for-it'),
  logs: showBounded('logs'),
  details: showBounded('details'),
  'copy-command': showBounded('copy-command'),
  'show-outliers': showBounded('show-outliers'),
  stop: async ({ stops, lookups }, click) => {
    const limited = lookups.refusal(click.userId, 'stop');
    return limited ? answerWith(limited) : stops.click(click);
  },
};

export const ON_SUBMIT: SubmitHandlers = {
  debug: ({ submitRequest }, submission) => submitRequest(submission),
  'vote-reason': ({ approvals }, submission) => approvals.submit(submission),
  'again-reason': submitAgain,
  apply: ({ jobs }, submission) => jobs.submit(submission),
  'resize-batch': ({ batches }, submission) => batches.submitResize(submission),
  'pick-channel': (parts, submission) => submitChannel(submission, parts),
};

export const ON_SHORTCUT: ShortcutHandlers = {
  'debug-pod': async (parts, shortcut) => openRequestForm(shortcut, podInText(shortcut.text), parts),
  'apply-job': async ({ jobs, lookups }, shortcut) => {
    const limited = lookups.refusal(shortcut.userId, 'apply');
    return limited ? answerWith(limited) : jobs.shortcut(shortcut);
  },
};

export type ShowAction = 'logs' | 'details' | 'copy-command' | 'show-outliers';

/** A button of a run that only shows something, to the clicker alone; private output only to the run's requester. */
async function show(click: Click, what: ShowAction, deps: FlowDeps): Promise<Answer> {
  const found = await runOfAnyCard({ ...click, runId: click.value }, deps);
  return 'answer' in found ? found.answer : SHOW[what](found.run, click, deps);
}

const SHOW: Readonly<Record<ShowAction, (run: Run, click: Click, deps: FlowDeps) => Promise<Answer>>> = {
  logs: async (run, click, deps) => ({
    kind: 'page',
    title: `Log of ${run.id}`,
    message: await showRun(run, { origin: originOfClick(click, deps), kind: 'logs', deps }),
  }),
  details: async (run, click, deps) => ({
    kind: 'page',
    title: `Run ${run.id}`,
    message: detailsMessage(run, await showRun(run, { origin: originOfClick(click, deps), kind: 'show', deps })),
  }),
  'copy-command': async (run, _, { policies }) =>
    answerWith(copyCommandMessage(run, hasSecret(run, policies.current().output.redact))),
  'show-outliers': async (run, { userId }, deps) =>
    isBatchRun(run)
      ? { kind: 'page', title: 'Outliers', message: outliersMessage(run, await isHiddenFrom(run, userId, deps)) }
      : answerReason('button_stale'),
};

const originOfClick = (click: Click, { clock }: FlowDeps) =>
  originOf({ ...click, receivedAtMs: clock.now() }, 'button');
