import type { AllowRule } from './api/authorizer.ts';
import type { Clock } from './clock.ts';

export interface LocalClusterOptions {
  /** 0 (default): any free port. */
  readonly port?: number;
  /**
   * The kubelet's relist period, and with it all its other times in proportion. Default 1,000 ms, as on a real node;
   * 0: everything at once (benchmarks).
   */
  readonly kubeletDelayMs?: number;
  /** Default: 10 MiB and 10 s, as the kubelet's. */
  readonly logRotation?: { readonly maxBytes?: number; readonly periodMs?: number };
  /** Slows every reading of a log down; default: as fast as it goes. */
  readonly logBytesPerSecond?: number;
  /** Between watch bookmarks; default 60 s. */
  readonly bookmarkMs?: number;
  /** Changes kept for watches that resume; older ones answer 410. Default 8,192. */
  readonly historyLength?: number;
  /** Requests kept in the log; default 10,000. */
  readonly requestLogLength?: number;
  /** Who may do what, besides `admin`, who may do everything. */
  readonly rules?: readonly AllowRule[];
  /** False: a runtime from before `status.containerStatuses[].user` (KEP-3619), as containerd 1.6 is. Default true. */
  readonly reportsUsers?: boolean;
  /** False: a server from before ephemeral containers. */
  readonly servesEphemeralContainers?: boolean;
  readonly clock?: Clock;
  /** 0 to 1; default random: where in its period the relist begins. */
  readonly relistPhase?: number;
}
