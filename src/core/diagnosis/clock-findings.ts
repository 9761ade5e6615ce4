import type { Pod } from '../container/pod.ts';
import { formatDuration } from '../report/duration.ts';
import { CLOCK_SKEW } from './cluster-findings.ts';
import type { Finding } from './report.ts';

/** Our own container, and when kdebug asked for it by its own clock. */
export interface Launch {
  readonly containerName: string;
  readonly launchedAtMs: number;
}

/**
 * Whether the node's clock differs from kdebug's: the container cannot have started before it was asked for, nor ended after `nowMs`.
 * That is the least by which it differs; a smaller difference stays unseen. Undefined without the node's times.
 */
export function clockFindings(pod: Pod, launch: Launch | undefined, nowMs: number): readonly Finding[] | undefined {
  const ours = pod.status.ephemeralContainerStatuses.find(({ name }) => name === launch?.containerName)?.terminated;
  if (!launch || !ours) return undefined;
  const [behindMs, aheadMs] = [launch.launchedAtMs - Date.parse(ours.startedAt), Date.parse(ours.finishedAt) - nowMs];
  const differsMs = Math.max(behindMs, aheadMs);
  // A container that never started says 1970.
  if (!(Date.parse(ours.startedAt) > 0) || !(differsMs > CLOCK_SKEW * 1000)) return [];
  const text = `the node’s clock is at least ${formatDuration(differsMs)} ${aheadMs > behindMs ? 'ahead of' : 'behind'} kdebug’s`;
  return [{ code: 'clock_skew', value: Math.round(differsMs / 1000), threshold: CLOCK_SKEW, text }];
}
