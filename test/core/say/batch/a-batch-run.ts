import type { BatchEvent } from '../../../../src/core/batch/batch.ts';
import { batchPlanHash, newBatch } from '../../../../src/core/batch/new-batch.ts';
import { openBatch, recordOf } from '../../../../src/core/batch/open-batch.ts';
import { batchTransition } from '../../../../src/core/batch/transition.ts';
import type { RunRequest } from '../../../../src/core/request/command.ts';
import type { BatchRun } from '../../../../src/core/run/life-cycle.ts';
import type { Run } from '../../../../src/core/run/run.ts';
import { withBatch } from '../../../../src/core/run/transition.ts';
import { aPlan, aPod, aRequest, aRun, START_MS } from '../../../support/builders.ts';

export interface BatchRunParts {
  readonly size?: number;
  /** What becomes of it, from its first event on. */
  readonly events?: readonly BatchEvent[];
  readonly request?: Partial<RunRequest>;
  readonly pausedBy?: string;
  readonly run?: Partial<Run>;
}

/** An allowed run over `size` pods (`web-0`, `web-1` …), none of which has been started. */
export function aBatchRun({ size = 4, events = [], request, pausedBy, run = {} }: BatchRunParts = {}): BatchRun {
  const asked = aRequest({ target: { kind: 'selector', selector: 'app=web' }, ...request });
  const pods = Array.from({ length: size }, (_, index) => {
    const [podName, podUid, nodeName] = [`web-${index}`, `uid-${index}`, `node-${index % 2}`];
    return {
      pod: aPod({ metadata: { name: podName, uid: podUid }, spec: { nodeName } }),
      plans: [aPlan({ podName, podUid, nodeName })],
    };
  });
  const made = newBatch({
    pods,
    requested: asked.batch,
    nowMs: START_MS,
    ...(pausedBy !== undefined && { pausedBy }),
  });
  const open = openBatch(made, START_MS);
  for (const event of events) {
    if (batchTransition(open, event, START_MS) !== 'moved') throw new Error(`it cannot have ${event.kind} now`);
  }
  const plan = aPlan({ podName: 'web-0', podUid: 'uid-0', nodeName: 'node-0' });
  const whole = aRun({
    state: 'approved',
    request: asked,
    commandLine: '-l app=web --image=autodiagnose',
    decision: { kind: 'allow', rule: 'look' },
    planHash: batchPlanHash(made),
    approvedAtMs: START_MS,
    plan,
    batch: made,
    ...run,
  });
  const batch = recordOf(open);
  return { ...(events.length > 0 ? withBatch(whole, batch) : whole), plan, batch };
}

/** The pod was started and has ended so. */
export const ended = (index: number, exitCode: number): readonly BatchEvent[] => [
  { kind: 'launched', index },
  {
    kind: 'ended',
    index,
    result: { outcome: exitCode === 0 ? 'succeeded' : 'failed', exitCode, ...(exitCode !== 0 && { reason: 'Error' }) },
  },
];
