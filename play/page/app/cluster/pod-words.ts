import type { PageContainer, PagePod } from '../../contract.ts';

export type Health = 'good' | 'busy' | 'bad' | 'done';

const GOOD_ENDS = new Set(['Completed']);

/** `Running`, `CrashLoopBackOff`, `exit 3` … */
export function stateWords({ state, reason, exitCode }: PageContainer): string {
  if (state === 'running') return 'Running';
  if (state === 'waiting') return reason ?? 'Waiting';
  const code = exitCode === undefined || exitCode === 0 ? '' : ` (${exitCode})`;
  return `${reason ?? 'Ended'}${code}`;
}

/** A pod's state as kubectl writes it in its table: its containers' trouble first, its phase else. Debug containers do not count. */
export function podHealth({ phase, deleting, containers }: PagePod): {
  readonly health: Health;
  readonly words: string;
} {
  if (deleting) return { health: 'busy', words: 'Terminating' };
  const ill = containers.find(
    ({ kind, state, reason }) => kind === 'container' && state !== 'running' && !GOOD_ENDS.has(reason ?? ''),
  );
  if (ill !== undefined) {
    const isStarting =
      ill.reason === undefined || ill.reason === 'ContainerCreating' || ill.reason === 'PodInitializing';
    return { health: isStarting ? 'busy' : 'bad', words: stateWords(ill) };
  }
  if (phase === 'Running') return { health: 'good', words: 'Running' };
  if (phase === 'Pending') return { health: 'busy', words: phase };
  return { health: phase === 'Succeeded' ? 'done' : 'bad', words: phase };
}

/** An image's last part: `web:2.7`. The digest is cut to what one can read. */
export const pageImage = (image: string): string =>
  (image.split('/').at(-1) ?? image).replace(/@sha256:([0-9a-f]{7})[0-9a-f]*/, '@$1');
