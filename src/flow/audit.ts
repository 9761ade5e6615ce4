import type { Run } from '../core/run/run.ts';
import type { FlowDeps } from './deps.ts';
import type { AuditEntry } from './ports/machine.ts';
import type { RefusedAtDoor } from './ports/slack.ts';

/** A run, or a request that never becomes one: it has no id. */
export type AuditSubject = Partial<Pick<Run, 'id'>> & Pick<Run, 'origin' | 'partOf'>;

/**
 * Keeps one step of a run for ever. @throws KdebugError audit_unavailable: what was to be recorded must not happen then.
 * `actorId` defaults to the requester.
 */
export async function record(
  deps: Pick<FlowDeps, 'audit' | 'clock'>,
  run: AuditSubject,
  step: AuditEntry['step'],
  facts: AuditEntry['facts'],
): Promise<void> {
  const { actorId, ...rest } = facts;
  await deps.audit.append({
    step,
    atMs: deps.clock.now(),
    runId: run.id ?? '',
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

/** Puts a run's end on record, in the log, the metrics and the audit log: at least once for every run, whoever saw its end. */
export async function conclude(run: Run, deps: FlowDeps): Promise<void> {
  const { log, termination, refusal, batch } = run;
  const outcome = run.outcome?.kind ?? (batch ? undefined : 'denied');
  const fields = { runId: run.id, phase: run.state, outcome, reason: refusal?.code };
  if (run.partOf === undefined) deps.log.info('run ended', fields);
  else deps.log.debug('a part of a batch ended', { ...fields, batch: run.partOf });
  // A batch counts by its pods.
  if (outcome) deps.metrics.runFinished(outcome, (run.finishedAtMs ?? 0) - run.origin.receivedAtMs);
  const facts = {
    outcome: outcome ?? run.state,
    code: refusal?.code,
    exitCode: termination?.exitCode,
    // The digest that really ran, where the plan could name only a tag.
    imageId: run.imageId,
    logSha256: log?.sha256,
    logBytes: log?.bytes,
  };
  await record(deps, run, 'outcome', facts).catch((thrown: unknown) => {
    // It has happened already: that it could not be recorded is all that is left to say.
    deps.log.error('an outcome could not be recorded', { runId: run.id, error: thrown });
  });
}
