import type { Run } from '../core/run/run.ts';
import type { FlowDeps } from './deps.ts';
import type { AuditEntry } from './ports/machine.ts';

/**
 * Keeps one step of a run for ever. @throws KdebugError audit_unavailable: what was to be recorded must not happen then.
 * `actorId` defaults to the requester.
 */
export async function record(
  deps: Pick<FlowDeps, 'audit' | 'clock'>,
  run: Run,
  step: AuditEntry['step'],
  facts: AuditEntry['facts'],
): Promise<void> {
  const { actorId, ...rest } = facts;
  await deps.audit.append({
    step,
    atMs: deps.clock.now(),
    runId: run.id,
    channelId: run.origin.channelId,
    actorId: typeof actorId === 'string' ? actorId : run.origin.requesterId,
    facts: run.partOf === undefined ? rest : { ...rest, batch: run.partOf },
  });
}
