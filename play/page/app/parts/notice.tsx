import { type ReactNode, useEffect, useSyncExternalStore } from 'react';
import { usePlay } from '../context.ts';

const SHOWN_MS = 10_000;

/** An error at the bottom of the page, until somebody dismisses it or it grows old. */
export function Notice(): ReactNode {
  const { notice } = usePlay();
  const words = useSyncExternalStore(notice.subscribe, notice.get);
  useEffect(() => {
    if (words === undefined) return;
    const timer = setTimeout(() => notice.set(() => undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [words, notice]);
  return (
    <div className="notice-place" role="alert">
      {words !== undefined && (
        <p className="notice">
          {words}
          <button
            type="button"
            className="icon-button"
            aria-label="Dismiss"
            onClick={() => notice.set(() => undefined)}
          >
            ✕
          </button>
        </p>
      )}
    </div>
  );
}
