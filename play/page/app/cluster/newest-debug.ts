import type { LogChoice } from '../state/session.ts';
import type { World } from '../state/world.ts';

/** Of all debug containers the one that started last; of two in one second, the later in the list. */
export function newestDebug({ pods }: Pick<World, 'pods'>): LogChoice | undefined {
  let newest: LogChoice | undefined;
  let latest = Number.NEGATIVE_INFINITY;
  for (const { namespace, name: pod, containers } of pods) {
    for (const { kind, name: container, startedAtMs } of containers) {
      if (kind !== 'debug' || startedAtMs === undefined || startedAtMs < latest) continue;
      latest = startedAtMs;
      newest = { namespace, pod, container };
    }
  }
  return newest;
}
