import { type ReactNode, useEffect, useRef } from 'react';
import type { Suggestion } from './complete.ts';

interface Props {
  readonly id: string;
  readonly items: readonly Suggestion[];
  readonly active: number;
  readonly onPick: (item: Suggestion) => void;
}

/** The list over the composer; the keyboard stays in the composer, which says which line is active. */
export function Popup({ id, items, active, onPick }: Props): ReactNode {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  return (
    <div ref={list} id={id} className="suggestions" role="listbox" aria-label="Completions">
      {items.map((item, index) => (
        // biome-ignore lint/a11y/useFocusableInteractive: aria-activedescendant of the composer points here
        // biome-ignore lint/a11y/useKeyWithClickEvents: the composer has the keys
        <div
          key={item.label}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === active}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onPick(item)}
        >
          <code>{item.label}</code>
          <span>{item.does}</span>
        </div>
      ))}
    </div>
  );
}
