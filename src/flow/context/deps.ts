import type { Clock } from '../../lib/clock.ts';
import type { Turns } from '../../lib/turns.ts';
import type { Clusters } from '../ports/cluster.ts';
import type { Directory } from '../ports/directory.ts';
import type { AuditLog, Ids, Log, Manifests, Metrics, PolicySource, Spools } from '../ports/machine.ts';
import type { Thread, TokenState } from '../ports/slack.ts';
import type { RunStore } from '../ports/store.ts';

/** Everything that the flow needs from outside; built by compose.ts, or by a test. */
export interface FlowDeps {
  readonly clusters: Clusters;
  readonly store: RunStore;
  readonly thread: Thread;
  readonly token: TokenState;
  readonly directory: Directory;
  readonly audit: AuditLog;
  readonly spools: Spools;
  /** Of the log filter: one round for all logs that are read, of runs and of lookups. */
  readonly turns: Turns;
  readonly policies: PolicySource;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly manifests: Manifests;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The pod that kdebug runs in; undefined outside a cluster. No alert starts anything there. */
  readonly ownPod?: { readonly namespace: string; readonly name: string } | undefined;
  /** Seals a small text with the bot's key: it opens only with the same key and the same `about`. */
  readonly seal: (plain: string, about: string) => string;
  /** Undefined: sealed with another key or `about`, or changed since. */
  readonly unseal: (sealed: string, about: string) => string | undefined;
  /** 0 ≤ x < 1, for jitter between replicas. Absent: no jitter. */
  readonly random?: () => number;
  readonly owner: string;
}
