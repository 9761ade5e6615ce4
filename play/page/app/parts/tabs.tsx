import { type KeyboardEvent, type ReactNode, useId } from 'react';
import { Scroller } from './scroller.tsx';

interface Props<T extends string> {
  readonly label: string;
  readonly chosen: T;
  readonly onChoose: (id: T) => void;
  readonly tabs: readonly { readonly id: T; readonly title: string }[];
  readonly children: ReactNode;
}

const titleOf = <T extends string>(tabs: Props<T>['tabs'], chosen: T): string =>
  tabs.find(({ id }) => id === chosen)?.title ?? '';

/** A row of tabs and the panel of the chosen one; arrow keys choose. */
export function Tabs<T extends string>({ label, chosen, onChoose, tabs, children }: Props<T>): ReactNode {
  const base = useId();
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex(({ id }) => id === chosen);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    onChoose(next.id);
    document.getElementById(`${base}-${next.id}`)?.focus();
  };
  return (
    <div className="tabs">
      <div className="tab-row" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map(({ id, title }) => (
          <button
            key={id}
            id={`${base}-${id}`}
            type="button"
            role="tab"
            className="tab"
            aria-selected={id === chosen}
            aria-controls={`${base}-panel`}
            tabIndex={id === chosen ? 0 : -1}
            onClick={() => onChoose(id)}
          >
            {title}
          </button>
        ))}
      </div>
      <Scroller id={`${base}-panel`} className="tab-panel" role="tabpanel" label={titleOf(tabs, chosen)}>
        {children}
      </Scroller>
    </div>
  );
}
