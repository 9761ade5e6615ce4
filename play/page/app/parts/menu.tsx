import { type KeyboardEvent, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';

export interface MenuItem {
  readonly id: string;
  readonly label: string;
  readonly detail?: string;
  readonly checked?: boolean;
  /** How much of something waits there, in red. */
  readonly count?: { readonly of: number; readonly what: string };
  /** Drawn before the label. */
  readonly mark?: ReactNode;
  readonly onPick: () => void;
}

interface Props {
  /** Of the menu; of its button too, unless that says more itself. */
  readonly label: string;
  readonly ownWords?: boolean;
  readonly className: string;
  readonly items: readonly MenuItem[];
  readonly children: ReactNode;
  readonly title?: string;
}

/** A button that opens a menu: arrows move, Enter picks, Escape closes and gives the focus back. */
export function Menu({ label, className, items, children, title, ownWords = false }: Props): ReactNode {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const close = (back = true): void => {
    setOpen(false);
    if (back) button.current?.focus();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className={className}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-label={ownWords ? undefined : label}
        title={title}
        onClick={() => setOpen(!open)}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown') return;
          event.preventDefault();
          event.stopPropagation();
          setOpen(true);
        }}
      >
        {children}
      </button>
      {open && button.current !== null && <Popup anchor={button.current} label={label} items={items} close={close} />}
    </>
  );
}

interface PopupProps {
  readonly anchor: HTMLElement;
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly close: (back?: boolean) => void;
}

const MARGIN = 8;

/** Drawn beside everything else, so that nothing clips it; within the window that it was opened from. */
function Popup({ anchor, label, items, close }: PopupProps): ReactNode {
  const menu = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = menu.current;
    if (element === null) return;
    place(element, anchor);
    element.querySelector<HTMLElement>('[aria-checked="true"], [role^="menuitem"]')?.focus();
    const outside = ({ target }: Event): void => {
      if (target instanceof Node && !element.contains(target) && !anchor.contains(target)) close(false);
    };
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, [anchor, close]);
  return createPortal(
    <div
      ref={menu}
      className="menu"
      role="menu"
      aria-label={label}
      tabIndex={-1}
      onKeyDown={(event) => onKey(event, close)}
    >
      {items.map(({ id, label: words, detail, checked, mark, count, onPick }) => (
        <button
          key={id}
          type="button"
          className="menu-item"
          {...(checked === undefined ? { role: 'menuitem' } : { role: 'menuitemradio', 'aria-checked': checked })}
          tabIndex={-1}
          onClick={() => {
            close();
            onPick();
          }}
        >
          {mark}
          <span className="menu-words">
            <span>{words}</span>
            {detail !== undefined && <small>{detail}</small>}
          </span>
          {count !== undefined && count.of > 0 && (
            <span className="count">
              {count.of}
              <span className="only-heard"> {count.what}</span>
            </span>
          )}
        </button>
      ))}
      {items.length === 0 && <p className="menu-empty">Nothing here</p>}
    </div>,
    anchor.closest('dialog') ?? document.body,
  );
}

/** Below its button or above, whichever has room; never beyond the window's edges. */
function place(menu: HTMLElement, anchor: HTMLElement): void {
  const { top, bottom, left, right } = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = menu;
  const below = bottom + height + MARGIN <= window.innerHeight || top < height;
  const x = left + width + MARGIN <= window.innerWidth ? left : right - width;
  menu.style.left = `${Math.max(MARGIN, x)}px`;
  menu.style.top = `${Math.max(MARGIN, below ? Math.min(bottom + 4, window.innerHeight - height - MARGIN) : top - height - 4)}px`;
}

const STEPS: Readonly<Record<string, (index: number, count: number) => number>> = {
  ArrowDown: (index, count) => (index + 1) % count,
  ArrowUp: (index, count) => (index - 1 + count) % count,
  Home: () => 0,
  End: (_index, count) => count - 1,
};

function onKey(event: KeyboardEvent<HTMLDivElement>, close: (back?: boolean) => void): void {
  // Portals send their events up through the component that opened them.
  event.stopPropagation();
  if (event.key === 'Escape' || event.key === 'Tab') {
    event.preventDefault();
    close();
    return;
  }
  const step = STEPS[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>('[role^="menuitem"]')];
  all[
    step(
      all.findIndex((one) => one.matches(':focus')),
      all.length,
    )
  ]?.focus();
}
