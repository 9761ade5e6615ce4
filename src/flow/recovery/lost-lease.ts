import { toKdebugError } from '../../core/errors.ts';
import { isSettled } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import { anchorMessage } from '../../core/say/run/run-messages.ts';
import { Trouble } from '../../lib/trouble.ts';
import { quotasOfKnown } from '../context/accept.ts';
import type { FlowDeps } from '../context/deps.ts';
import { HeldRun } from '../context/held-run.ts';
import { renderContextOf } from '../reply/schedule.ts';

/** Renewing fails every second while the store is away; the log says it once. */
export const leaseTrouble = (deps: Pick<FlowDeps, 'clock' | 'log'>): Trouble =>
  new Trouble(deps, { begins: 'could not renew leases, will retry', ends: 'leases renewed again' });

/**
 * Call after this replica lost a run. An emptied store gets the run back, and the caller continues with the result. If
 * another replica finished the run, a delayed update of ours may have overwritten its final card, so the card is
 * rendered again.
 */
export async function afterLoss(lost: Run, deps: FlowDeps): Promise<HeldRun | undefined> {
  const { store, owner, policies, log } = deps;
  try {
    const known = await store.read(lost.id);
    if (known) {
      await repeatLastCard(known, deps);
      return undefined;
    }
    if (isSettled(lost)) return undefined;
    const created = await store.create(lost, owner, quotasOfKnown(lost, policies.current()));
    if (created.kind !== 'created') return undefined;
    log.warn('run restored to store', { runId: lost.id, phase: lost.state });
    return new HeldRun({ run: lost, fence: created.fence }, deps, { recovered: true });
  } catch (thrown) {
    log.error('recovery of lost run failed', { runId: lost.id, reason: toKdebugError(thrown).code });
    return undefined;
  }
}

async function repeatLastCard(run: Run, deps: FlowDeps): Promise<void> {
  const { anchor, anchorGone } = run.delivery;
  if (!isSettled(run) || !anchor || anchorGone) return;
  const message = anchorMessage(run, await renderContextOf(run, deps));
  await deps.thread.update(anchor, message, { run: run.id, kind: 'anchor', seq: 1 }, 'final');
}
