import type { Plan } from '../../core/container/plan.ts';
import type { Run } from '../../core/run/run.ts';
import { wholeFiles } from '../../core/run/shared-files.ts';
import type { AuditEntry } from '../ports/machine.ts';
import type { RefusedAtDoor } from '../ports/slack.ts';
import type { FlowDeps } from './deps.ts';

/** A run, or a request that never becomes one: it has no id. */
export type AuditSubject = Partial<Pick<Run, 'id'>> & Pick<Run, 'origin' | 'partOf'>;

/**
 * Records one step of a run. @throws KdebugError audit_unavailable: then the step must not happen.
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

interface PatchedContainer {
  readonly name: string | undefined;
  readonly image: string;
}

/** The facts that each `patch` records about the container that it adds. */
export const patchFacts = (
  { cluster, namespace, podName, podUid }: Pick<Plan, 'cluster' | 'namespace' | 'podName' | 'podUid'>,
  { name, image }: PatchedContainer,
): AuditEntry['facts'] => ({ cluster, pod: `${namespace}/${podName}`, podUid, container: name, image });

/** `count`: how many refusals one record stands for, the last with the code `last`. */
interface RefusalFacts {
  readonly runId?: string;
  readonly last?: string;
  readonly count?: number;
}

/** Records a refusal without a known run. `runId` is the one that the person named. @throws as `record` */
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

/** `capture.pcap:SHA256`, one word for each file that was brought back whole. */
const filesFact = (run: Run): string | undefined =>
  wholeFiles(run)
    .map(({ name, sha256 }) => `${name}:${sha256}`)
    .join(' ') || undefined;

/** Records a run's end in the log and the audit log, at least once, by whichever replica ends it. */
export async function conclude(run: Run, deps: FlowDeps): Promise<void> {
  const { log, termination, refusal, batch } = run;
  const outcome = run.outcome?.kind ?? (batch ? undefined : 'denied');
  const fields = { runId: run.id, phase: run.state, outcome, reason: refusal?.code };
  if (run.partOf === undefined) deps.log.info('run ended', fields);
  else deps.log.debug('pod of a batch ended', { ...fields, batch: run.partOf });
  const facts = {
    outcome: outcome ?? run.state,
    code: refusal?.code,
    exitCode: termination?.exitCode,
    // The digest that really ran, where the plan could name only a tag.
    imageId: run.imageId,
    logSha256: log?.sha256,
    logBytes: log?.bytes,
    files: filesFact(run),
  };
  await record(deps, run, 'outcome', facts).catch((thrown: unknown) => {
    // The step has already happened, so it is too late to refuse it.
    deps.log.error('could not record outcome in audit log', { runId: run.id, error: thrown });
  });
}
