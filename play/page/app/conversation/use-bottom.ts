import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';

/** As near to the end as counts as being there. */
const NEAR_PX = 60;

interface Ends {
  /** The newest message. */
  readonly last: string | undefined;
  /** Where reading begins: this message's top; absent: the end. */
  readonly from?: string | undefined;
  /** How often one has sent something here: who sends wants to see it, and what comes of it. */
  readonly sent: number;
}

/** Where the list is held while it and what is in it grow: at its end, where reading began, or where the reader went. */
type Hold = 'end' | 'from' | 'free';

/**
 * Keeps a list at its end while it grows, and while what is in it grows, unless the reader went up; then it says that there
 * is something new below.
 */
export function useBottom(list: RefObject<HTMLElement | null>, { last, from, sent }: Ends) {
  const hold = useRef<Hold>(from === undefined ? 'end' : 'from');
  const [start] = useState(from);
  const placed = useRef(0);
  const seen = useRef(last);
  const obeyed = useRef(sent);
  const [hasNewBelow, setNewBelow] = useState(false);

  const place = (): void => {
    const element = list.current;
    if (element === null || hold.current === 'free') return;
    const first = hold.current === 'from' ? element.querySelector(`[data-ts="${CSS.escape(start ?? '')}"]`) : null;
    const { top } = element.getBoundingClientRect();
    element.scrollTop = first ? element.scrollTop + first.getBoundingClientRect().top - top : element.scrollHeight;
    placed.current = element.scrollTop;
  };
  const goDown = (): void => {
    hold.current = 'end';
    setNewBelow(false);
    place();
  };
  useLayoutEffect(() => {
    if (sent !== obeyed.current) goDown();
    obeyed.current = sent;
  });
  useLayoutEffect(() => {
    const isNews = last !== undefined && last > (seen.current ?? '');
    seen.current = last;
    if (isNews && hold.current === 'from') hold.current = isNearEnd(list.current) ? 'end' : 'free';
    if (isNews && hold.current === 'free') setNewBelow(true);
    place();
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: it reads nothing but references
  useEffect(() => {
    const element = list.current;
    const content = element?.firstElementChild;
    if (element === null || !content) return;
    const grown = new ResizeObserver(place);
    grown.observe(content);
    grown.observe(element);
    return () => grown.disconnect();
  }, [list]);
  const onScroll = (): void => {
    const isOurs = Math.abs((list.current?.scrollTop ?? 0) - placed.current) < 2;
    if (isOurs && hold.current === 'from') return;
    hold.current = isNearEnd(list.current) ? 'end' : 'free';
    if (hold.current === 'end') setNewBelow(false);
  };
  return { hasNewBelow, goDown, onScroll };
}

const isNearEnd = (element: HTMLElement | null): boolean =>
  element !== null && element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
