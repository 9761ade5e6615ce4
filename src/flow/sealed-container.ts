import { containerName } from '../core/container/build.ts';
import type { Plan } from '../core/container/plan.ts';
import type { Pod } from '../core/container/pod.ts';
import type { Run } from '../core/run/run.ts';
import { aboutContainer } from '../core/run/sealed-text.ts';
import type { FlowDeps } from './deps.ts';

type Held = Pod['spec']['ephemeralContainers'][number];

/** Whether a container of the pod is this run's by its name, its run id, and a text that only we can have sealed for it. */
export const isSealedFor = (
  { name, runId, ref }: Held,
  { id, plan: { podUid } }: Pick<Run, 'id'> & { readonly plan: Plan },
  { unseal }: Pick<FlowDeps, 'unseal'>,
): boolean =>
  name === containerName(id, podUid) &&
  runId === id &&
  ref !== undefined &&
  unseal(ref, aboutContainer(id, podUid)) !== undefined;
