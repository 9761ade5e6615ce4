import { useCallback } from 'react';
import type { Deed, DeedAnswer } from '../../contract.ts';
import { usePlay } from '../context.ts';

/** Runs an action; the notice at the bottom of the page shows its error. */
export function useDo(): (deed: Deed) => Promise<DeedAnswer> {
  const { server, notice } = usePlay();
  return useCallback(
    async (deed) => {
      const answer = await server.do(deed);
      if (!answer.ok) notice.set(() => answer.error);
      return answer;
    },
    [server, notice],
  );
}
