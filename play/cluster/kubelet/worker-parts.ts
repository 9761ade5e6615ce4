import type { ContainerLog } from '../log/container-log.ts';
import type { Images } from '../programs/images.ts';
import type { Workload } from '../programs/recordings.ts';
import type { World } from '../world.ts';
import type { Timing } from './timing.ts';

export interface WorkerParts {
  readonly world: World;
  readonly images: Images;
  readonly timing: Timing;
  readonly makeLog: () => ContainerLog;
  /** The pod's status is no longer what the API shows. */
  readonly onChange: () => void;
}

/** What a pod of the local cluster has besides its spec: what its containers do, by their names. */
export type PodWorkloads = Readonly<Record<string, Workload>>;
