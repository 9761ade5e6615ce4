import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';

/** As near to the end as counts as being there. */
const NEAR_PX = 60;

/**
 * Keeps a list at its end while it grows, and while what is in it grows, unless the reader went up; then it says that there
 * is something new below.
 */
export function useBottom(list: RefObject<HTMLElement | null>, last: string | undefined) {
  const atEnd = useRef(true);
  const [hasNewBelow, setNewBelow] = useState(false);
  const seen = useRef(last);

  const goDown = (): void => {
    const element = list.current;
    if (element === null) return;
    atEnd.current = true;
    element.scrollTop = element.scrollHeight;
    setNewBelow(false);
  };
  useLayoutEffect(() => {
    if (atEnd.current) goDown();
    else if (last !== undefined && last > (seen.current ?? '')) setNewBelow(true);
    seen.current = last;
  });
  useEffect(() => {
    const element = list.current;
    const content = element?.firstElementChild;
    if (element === null || !content) return;
    const grown = new ResizeObserver(() => {
      if (atEnd.current) element.scrollTop = element.scrollHeight;
    });
    grown.observe(content);
    grown.observe(element);
    return () => grown.disconnect();
  }, [list]);
  const onScroll = (): void => {
    const element = list.current;
    if (element === null) return;
    atEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
    if (atEnd.current) setNewBelow(false);
  };
  return { hasNewBelow, goDown, onScroll };
}
