import { countPods, matchedOf, statusOf } from '../../batch/pod-state.ts';
import type { BatchRun } from '../../run/life-cycle.ts';
import { isFinal } from '../../run/life-cycle.ts';
import { code, type Message, type Span, strong, text } from '../message.ts';
import { linksPart, type RunLinks } from '../run-for-one.ts';
import { STATUS_TEXT } from './batch-facts.ts';
import { type BatchRenderContext, batchMessage } from './batch-message.ts';

/** The dashboard for one person, with links instead of buttons; the buttons are on the dashboard in the channel. */
export function batchForOne(run: BatchRun, context: BatchRenderContext & { readonly links: RunLinks }): Message {
  const { parts, ...message } = batchMessage(run, context);
  const change: readonly Span[] = isFinal(run.state)
    ? [code(`/kdebug export ${run.id}`), text(' exports it as YAML')]
    : [code(`/kdebug batch ${run.id} pause | resume | cancel | --parallelism=P --replicas=N`), text(' changes it')];
  const shown = parts.filter(({ kind }) => kind !== 'actions');
  return { ...message, parts: [...shown, ...linksPart(run, context), { kind: 'note', spans: change }] };
}

/** A batch's status in a few words: `Running, 12 of 40 pods succeeded`. */
export function batchWords({ state, batch }: BatchRun): string {
  if (state !== 'approved' && state !== 'running' && state !== 'finished') return state;
  const counts = countPods(batch);
  const { words } = STATUS_TEXT[statusOf(batch, counts)];
  return `${words}, ${counts.succeeded} of ${matchedOf(counts) - counts.skipped} pods succeeded`;
}

const CHANGED = {
  pause: 'is paused: no more pods start until somebody resumes it',
  resume: 'continues',
  continue: 'continues with the other pods',
  cancel: 'is cancelled: no more pods start; containers already running will finish',
  scale: 'has its new size',
} as const;

/** The answer to a typed change. A click needs no answer: its dashboard shows the change. */
export function changedMessage(id: string, change: keyof typeof CHANGED): Message {
  const sentence = `Batch ${id} ${CHANGED[change]}.`;
  return { summary: sentence, tone: 'success', parts: [{ kind: 'paragraph', spans: [strong(sentence)] }] };
}
