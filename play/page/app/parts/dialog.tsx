import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from 'react';

const FOCUSABLE = 'button, input, select, textarea, a[href], [tabindex="0"]';

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly footer?: ReactNode;
  readonly wide?: boolean;
  /** A question: focus begins at its answers. */
  readonly alert?: boolean;
}

/** A modal window: the rest is out of reach until it is closed, Escape closes it, and focus returns to where it was. */
export function Dialog({ title, onClose, children, footer, wide = false, alert = false }: Props): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    dialog.current
      ?.querySelector<HTMLElement>('[data-first-focus], .dialog-body :is(input, select, textarea)')
      ?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      className={wide ? 'dialog dialog-wide' : 'dialog'}
      role={alert ? 'alertdialog' : undefined}
      aria-labelledby={titleId}
      onKeyDown={keepFocus}
      onCancel={(event) => {
        event.preventDefault();
        event.stopPropagation();
        onClose();
      }}
    >
      <header className="dialog-head">
        <h2 id={titleId}>{title}</h2>
        <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      <div className="dialog-body">{children}</div>
      {footer !== undefined && <footer className="dialog-foot">{footer}</footer>}
    </dialog>
  );
}

/** Tab goes round within the window, where a browser would leave for its own buttons. */
function keepFocus(event: KeyboardEvent<HTMLDialogElement>): void {
  event.stopPropagation();
  if (event.key !== 'Tab') return;
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(
    (one) => one.offsetParent !== null && !one.matches(':disabled'),
  );
  const [first, last] = [all[0], all.at(-1)];
  const goes = event.shiftKey ? [first, last] : [last, first];
  if (document.activeElement !== goes[0]) return;
  event.preventDefault();
  goes[1]?.focus();
}
