import { createElement, type HTMLAttributes, type ReactNode, type Ref } from 'react';

interface Props extends HTMLAttributes<HTMLElement> {
  readonly as?: 'div' | 'pre';
  /** What is in it, for a screen reader. */
  readonly label: string;
  readonly ref?: Ref<HTMLElement>;
}

/** Something that scrolls: reachable by keyboard, and named. */
export function Scroller({ as = 'div', label, ...rest }: Props): ReactNode {
  return createElement(as, { role: 'region', 'aria-label': label, tabIndex: 0, ...rest });
}
