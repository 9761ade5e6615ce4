import { toKdebugError } from '../../core/errors.ts';
import { anchorMessage } from '../../core/report/run-messages.ts';
import { isSettled } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import type { FlowDeps } from '../deps.ts';
import { HeldRun } from '../held-run.ts';
import { quotasOfKnown } from '../inbox/accept.ts';
import { renderContextOf } from '../reply/schedule.ts';

/**
 * What is left to do for a run that this replica held and has lost. A store that was emptied gets it back, unless somebody was
 * quicker: then the session to go on with comes back. When another replica has brought it to its end, a word of ours may have
 * been on its way all the while and now stands over the last one: the anchor is said once more.
 */
export async function afterLoss(lost: Run, deps: FlowDeps): Promise<HeldRun | undefined> {
  const { store, owner, policies, log } = deps;
  try {
    const known = await store.read(lost.id);
    if (known) {
      await sayLastWord(known, deps);
      return undefined;
    }
    if (isSettled(lost)) return undefined;
    const kept = await store.create(lost, owner, quotasOfKnown(lost, policies.current()));
    if (kept.kind !== 'created') return undefined;
    log.warn('the store had lost a run, it was given back', { runId: lost.id, phase: lost.state });
    return new HeldRun({ run: lost, fence: kept.fence }, deps, { recovered: true });
  } catch (thrown) {
    log.error('a lost run could not be seen to', { runId: lost.id, reason: toKdebugError(thrown).code });
    return undefined;
  }
}

async function sayLastWord(run: Run, deps: FlowDeps): Promise<void> {
  const { anchor, anchorGone } = run.delivery;
  if (!isSettled(run) || !anchor || anchorGone) return;
  const message = anchorMessage(run, await renderContextOf(run, deps));
  await deps.thread.update(anchor, message, { run: run.id, kind: 'anchor', seq: 1 }, 'final');
}
