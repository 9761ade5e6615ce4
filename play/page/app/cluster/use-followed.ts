import { useEffect, useRef } from 'react';
import { usePlay } from '../context.ts';
import type { World } from '../state/world.ts';

const debugsOf = ({ pods }: World): readonly string[] =>
  pods.flatMap(({ namespace, name, uid, containers }) =>
    containers
      .filter(({ kind, state }) => kind === 'debug' && state !== 'waiting')
      .map((container) => JSON.stringify({ namespace, pod: name, container: container.name, uid })),
  );

/** While the box is ticked: a debug container that has just started becomes the one whose log is shown. */
export function useFollowed(): void {
  const { world, session } = usePlay();
  const known = useRef<ReadonlySet<string>>(undefined);
  useEffect(() => {
    const look = (): void => {
      const now = debugsOf(world.get());
      const before = known.current;
      known.current = new Set(now);
      const fresh = now.findLast((one) => before?.has(one) === false);
      if (fresh === undefined || !session.get().follow) return;
      const { uid: _uid, ...log } = JSON.parse(fresh) as {
        namespace: string;
        pod: string;
        container: string;
        uid: string;
      };
      session.set((kept) => ({ ...kept, log }));
    };
    look();
    return world.subscribe(look);
  }, [world, session]);
}
