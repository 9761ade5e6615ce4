import { useEffect } from 'react';
import { usePlay } from '../context.ts';
import type { LogChoice } from '../state/session.ts';
import { newestDebug } from './newest-debug.ts';

const isSame = (one: LogChoice, other: LogChoice | undefined): boolean =>
  one.namespace === other?.namespace && one.pod === other.pod && one.container === other.container;

/** While the box is ticked, the newest debug container is the one whose log is shown. */
export function useFollowed(): void {
  const { world, session } = usePlay();
  useEffect(() => {
    const look = (): void => {
      const { follow, log } = session.get();
      const newest = follow ? newestDebug(world.get()) : undefined;
      if (newest !== undefined && !isSame(newest, log)) session.set((now) => ({ ...now, log: newest }));
    };
    look();
    const undo = [world.subscribe(look), session.subscribe(look)];
    return () => {
      for (const stop of undo) stop();
    };
  }, [world, session]);
}
