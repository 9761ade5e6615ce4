import { isBatchRun } from '../batch/batch-run.ts';
import type { Run } from '../run/run.ts';
import { type Message, text } from './message.ts';

/** A few words with files that come after their result. */
export function fileMessage(run: Run): Message {
  const words = wordsOf(run);
  return { summary: words, tone: 'neutral', parts: [{ kind: 'paragraph', spans: [text(words)] }] };
}

function wordsOf(run: Run): string {
  if (isBatchRun(run)) return `The files of batch ${run.id}.`;
  return run.late ? `The whole log of run ${run.id}, which finished late.` : `The whole log of run ${run.id}.`;
}
