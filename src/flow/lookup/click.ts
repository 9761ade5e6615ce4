import { outliersMessage } from '../../core/report/batch/outliers-message.ts';
import { copyCommandMessage, detailsMessage } from '../../core/report/click-messages.ts';
import { isBatchRun } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import type { FlowDeps } from '../deps.ts';
import { originOf } from '../inbox/accept.ts';
import { runOfAnyCard } from '../inbox/find-run.ts';
import { answerReason, answerWith } from '../inbox/refusals.ts';
import { hasSecret } from '../inbox/same-again.ts';
import type { Answer, Click } from '../ports/slack.ts';
import { isHiddenFrom, showRun } from './show.ts';

export type Look = 'logs' | 'details' | 'copy-command' | 'show-outliers';

/** A button of a run that only shows something, to the clicker alone; private output only to the run's requester. */
export async function look(click: Click, what: Look, deps: FlowDeps): Promise<Answer> {
  const run = await runOfAnyCard({ ...click, runId: click.value }, deps);
  return run ? LOOKS[what](run, click, deps) : answerReason('button_stale');
}

const LOOKS: Readonly<Record<Look, (run: Run, click: Click, deps: FlowDeps) => Promise<Answer>>> = {
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
