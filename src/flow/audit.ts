import type { Run } from '../core/run/run.ts';
import type { FlowDeps } from './deps.ts';
import type { AuditEntry } from './ports/machine.ts';
import type { RefusedAtDoor } from './ports/slack.ts';

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

/** `count`: how many refusals one record stands for, the last with the code `last`. */
interface RefusalFacts {
  readonly runId?: string;
  readonly last?: string;
  readonly count?: number;
}

/** Keeps for ever who was refused where no run is known. `runId` is the one that they named. @throws as `record` */
export async function recordRefusal(
  { audit, clock }: Pick<FlowDeps, 'audit' | 'clock'>,
  { userId, channelId, runId = '', teamId, handler, code, last, count }: RefusedAtDoor & RefusalFacts,
): Promise<void> {
  await audit.append({
    step: 'refusal',
    atMs: clock.now(),
    runId,
    channelId,
    actorId: userId,
    facts: { code, handler, team: teamId, last, count },
  });
}
